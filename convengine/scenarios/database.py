"""The database of scenarios: one that may be emptied, never the installation's; and the world that is put into it."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.apps import apps
from django.core.management import call_command
from django.db import connection, connections, transaction

from convengine.engine.turn.payload import TextPayload, to_document
from convengine.scenarios import tables
from convengine.scenarios.scenario import MAIN, Edge, Edit, Scenario, Start
from convengine.server.deployment import environment
from convengine.server.sessions.models import CeConversation, CeConversationHistory

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
    given = connections.settings
    with TemporaryDirectory(prefix="ce-scenarios-") as folder:
        url = f"sqlite:///{Path(folder) / 'scenarios.sqlite3'}"
        connections.close_all()
        connections.settings = connections.configure_settings({"default": environment.database(url, "")})
        del connections["default"]
        try:
            call_command("migrate", verbosity=0, interactive=False)
            with allow_emptying():
                yield
        finally:
            connections.close_all()
            connections.settings = given
            del connections["default"]


def empty_database() -> None:
    """Remove every row of the product, including those that an installation ships. Raises NotDisposable (R94)."""
    if str(connection.settings_dict["NAME"]) not in _disposable:
        raise NotDisposable("Scenarios empty the database that they run in; this one was not given to them.")
    models = apps.get_models(include_auto_created=True)
    tables = [name for model in models if (name := model._meta.db_table).startswith(_PREFIX)]
    with transaction.atomic(), connection.cursor() as cursor:
        # Truncating costs the same for a table without rows.
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in tables))  # noqa: S608
        names = [connection.ops.quote_name(name) for (name,) in cursor.fetchall()]
        # PostgreSQL removes sealed rows only with the whole table, and truncates no table with a deferred check.
        at_once = ["SET CONSTRAINTS ALL IMMEDIATE", f"TRUNCATE {', '.join(names)} CASCADE"]
        each = [f"DELETE FROM {name}" for name in names]  # noqa: S608
        for statement in at_once if names and connection.vendor == "postgresql" else each:
            cursor.execute(statement)


def build_world(scenario: Scenario) -> dict[str, uuid.UUID]:
    """Store the world. Returns a new id for each conversation of the turns. Raises ScenarioFileError."""
    ids = {name: uuid.uuid4() for name in (MAIN, *(turn.conversation for turn in scenario.turns))}
    # One transaction, so that everything is in one release.
    with transaction.atomic():
        for table, rows in scenario.tables.items():
            tables.insert(table, rows)
        tables.insert("ce_state_graph", [_edge_row(edge) for edge in scenario.edges])
        if scenario.start:
            _store_conversation(ids[MAIN], scenario.start)
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


def _edge_row(edge: Edge) -> tables.Row:
    intent = {"intent_code": edge.intent} if edge.intent else {}
    return {"from_state": edge.start, "to_state": edge.end, **intent}


def _store_conversation(key: uuid.UUID, start: Start) -> None:
    turns = len(start.history)
    row = CeConversation.objects.create(
        conversation_id=key, remote_jid=str(key), last_turn_no=turns, turn_count=turns, version=turns, **start.row
    )
    for number, (user, assistant) in enumerate(start.history, start=1):
        CeConversationHistory.objects.create(
            conversation=row,
            turn_no=number,
            user_input=user,
            assistant_output=to_document(TextPayload(assistant)),
            config_version=0,
            intent_code=row.intent_code,
            state_code=row.state_code,
        )
