"""The database of scenarios: one that may be emptied, never the installation's; and the world that is put into it."""

import uuid
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections, transaction

from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.payload import TextPayload, to_document
from convengine.play import tables
from convengine.play.configurations import ConfigurationSource, Rows
from convengine.play.scenario import BEGINNING, MAIN, Edit, Scenario, Start, ThreadName
from convengine.server.deployment import environment
from convengine.server.interfaces.configuration import configuration_files
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeThread

_PREFIX = "ce_"
#: The names of databases that may be emptied.
_disposable: set[str] = set()


class NotDisposable(RuntimeError):
    """This database was not given to scenarios."""


@contextmanager
def allow_emptying() -> Iterator[None]:
    """Allow scenarios to empty the current database: a test's, or one made for them."""
    name = str(connection.settings_dict["NAME"])
    _disposable.add(name)
    try:
        yield
    finally:
        _disposable.discard(name)


@contextmanager
def use_scratch_database() -> Iterator[None]:
    """Use a new SQLite database in a temporary folder instead of the installation's.

    Always SQLite: it needs no rights on a server, and cannot be mistaken for another.
    """
    with make_scratch_database() as url, use_database(url), allow_emptying():
        yield


@contextmanager
def make_scratch_database() -> Iterator[str]:
    """A new SQLite database with the rows of a new installation, for `use_database`; its address."""
    with TemporaryDirectory(prefix="ce-scenarios-") as folder:
        url = f"sqlite:///{Path(folder) / 'scenarios.sqlite3'}"
        with use_database(url):
            call_command("migrate", verbosity=0, interactive=False)
            # Each tested configuration is loaded into the rows of the new database.
            _shipped[_database_name()] = configuration_files().read_rows()
        yield url


@contextmanager
def use_database(url: str) -> Iterator[None]:
    """Use the database of an address instead of the current one while the block runs."""
    given, current = connections.settings, connections["default"]
    connections.settings = connections.configure_settings({"default": environment.database(url, "")})
    del connections["default"]
    try:
        yield
    finally:
        connections.close_all()
        connections.settings = given
        connections["default"] = current


#: The configuration that a database holds, and the rows of a new installation, by the database's name.
_loaded: dict[str, Hashable] = {}
_shipped: dict[str, Rows] = {}


def _database_name() -> str:
    return str(connection.settings_dict["NAME"])


def load_configuration(source: ConfigurationSource) -> None:
    """Empty the database and load a configuration; one that is loaded already stays.

    Raises ScenarioFileError, and NotDisposable.
    """
    name = _database_name()
    if _loaded.get(name) == source.key:
        empty_database(keep=configuration_files().tables)
        return
    empty_database()
    for table, rows in ({} if source.is_whole else _shipped.get(name, {})).items():
        tables.insert(table, rows)
    source.load()
    _loaded[name] = source.key


def empty_database(*, keep: Collection[str] = ()) -> None:
    """Remove every row of the product, including those that an installation ships; the tables of `keep` stay.

    Raises NotDisposable for a database that was not given to scenarios.
    """
    if _database_name() not in _disposable:
        raise NotDisposable("Scenarios empty the database that they run in; this one was not given to them.")
    if not keep:
        _loaded.pop(_database_name(), None)
    models = apps.get_models(include_auto_created=True)
    tables = [
        name
        for model in models
        if model._meta.managed and (name := model._meta.db_table).startswith(_PREFIX) and name not in keep
    ]
    with transaction.atomic(), connection.cursor() as cursor:
        # Truncating costs the same for a table without rows.
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables))  # noqa: S608
        names = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
        # PostgreSQL removes sealed rows only with the whole table, and truncates no table with a deferred check.
        at_once = ["SET CONSTRAINTS ALL IMMEDIATE", f"TRUNCATE {', '.join(names)} CASCADE"]
        each = [f"DELETE FROM {name}" for name in names]  # noqa: S608
        for statement in at_once if names and connection.vendor == "postgresql" else each:
            cursor.execute(statement)


def prepare_database(scenario: Scenario, source: ConfigurationSource | None) -> None:
    """Empty the database, and load the configuration that the scenario adds to; None for a scenario without one.

    Raises ScenarioFileError, and NotDisposable.
    """
    if source is None:
        empty_database()
        return
    load_configuration(source)
    if scenario.tables or scenario.edges or any(turn.before for turn in scenario.turns):
        # The next scenario needs the configuration as it is in its source.
        _loaded.pop(_database_name(), None)


def build_world(scenario: Scenario) -> dict[str, uuid.UUID]:
    """Store the world of a scenario.

    Returns a new id for each conversation of its turns, and for `MAIN`. Raises ScenarioFileError.
    """
    ids = {name: uuid.uuid4() for name in (MAIN, *(turn.conversation for turn in scenario.turns))}
    # One transaction, so that everything is in one release.
    with transaction.atomic():
        for table, rows in scenario.tables.items():
            tables.insert(table, rows)
        edges = [
            {"from_state": edge.start, "to_state": edge.end, **({"intent_code": edge.intent} if edge.intent else {})}
            for edge in scenario.edges
        ]
        tables.insert("ce_state_graph", edges)
        if scenario.start:
            _store_conversation(ids[MAIN], scenario.start, scenario.turns[0].thread)
    return ids


def apply_edits(edits: Sequence[Edit]) -> None:
    """Change rows as in the admin. Raises ScenarioFileError."""
    for edit in edits:
        if edit.kind == "insert":
            tables.insert(edit.table, [edit.values])
        elif edit.kind == "update":
            tables.update(edit.table, edit.where, edit.values)
        else:
            tables.delete(edit.table, edit.where)


def _store_conversation(key: uuid.UUID, start: Start, thread: ThreadName | None) -> None:
    """The row that the first turn starts from, of its thread if it has one, and the turns before it.

    Raises ScenarioFileError when the database refuses it.
    """
    newest = start.row.get("last_turn_no", len(start.history))
    columns = {
        "remote_jid": str(key),
        **(asdict(thread) if thread else {}),
        "last_turn_no": newest,
        "turn_count": newest,
        "version": newest,
        **start.row,
        **{column: BEGINNING + since for column, since in start.times.items()},
    }
    with tables.explain_errors("conversation"), transaction.atomic():
        row = CeConversation.objects.create(conversation_id=key, **columns)
    if thread:
        CeThread.objects.create(**asdict(thread))
    turns = [
        CeConversationHistory(turn_no=newest - len(start.history) + number, user_input=user, assistant_output=answer)
        for number, (user, text) in enumerate(start.history, start=1)
        for answer in (to_document(TextPayload(text)),)
    ]
    if start.previous_turn and not turns:
        # A turn of an earlier epoch leaves its params, and is no part of the history.
        turns = [CeConversationHistory(turn_no=newest, status=TurnStatus.BLOCKED.value)]
    if turns:
        turns[-1].facts = dict(start.previous_turn)
    for turn in turns:
        turn.conversation, turn.config_version, turn.context_epoch = row, 0, row.context_epoch
        turn.intent_code, turn.state_code = row.intent_code, row.state_code
        turn.save(force_insert=True)
