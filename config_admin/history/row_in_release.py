"""A row as a release has it: who made this version, when and why, and what became of it, for readers of past turns."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth import get_permission_codename
from django.core.exceptions import ValidationError

from config_admin.editing.links import release_url, row_url
from config_admin.editing.row_diff import changes, list_columns, text_of
from config_admin.releases.head import newest
from config_admin.releases.queries import row_at
from config_admin.releases.renamed_intents import find_renamed_intent
from config_admin.releases.row_history import RowKey, find_last_versions, read_versions
from config_admin.releases.tree import Content
from config_admin.validation.columns import Reference, list_column_specs
from config_admin.validation.labels import row_name
from config_admin.validation.secret_columns import mask_row
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.difference import Difference
from convengine.engine.turn.labels import code_label
from convengine.engine.turn.rows import Intent
from convengine.server.interfaces.release_history import RowOrigin, RowVersion


class ComparedColumn(NamedTuple):
    label: str
    then: str
    now: str
    #: The difference; None if there is none, or the row is missing on one side.
    change: Difference | None


class ThenAndNow(NamedTuple):
    name: str
    then_version: int
    now_version: int
    in_then: bool
    in_now: bool
    #: None for a row without a history.
    origin: RowOrigin | None
    columns: Sequence[ComparedColumn]
    #: Its edit page, if it still exists, and its history.
    url: str
    history_url: str

    @property
    def differs(self) -> bool:
        """True unless it is unchanged."""
        return self.in_then != self.in_now or any(column.change for column in self.columns)


def right_to_read(table: str) -> str:
    """The right to read a row of a table. Raises KeyError for a table that is not configuration."""
    opts = control_plane()[table]._meta
    return f"{opts.app_label}.{get_permission_codename('view', opts)}"


def find_row_origins(rows: Collection[RowKey], config_version: int) -> dict[RowKey, RowOrigin]:
    """The origin of rows (table, key) as a release has them; rows without a history are left out.

    Two queries, and one for each table in which a row changed since.
    """
    made, last = find_last_versions(rows, config_version), find_last_versions(rows)
    since = {row: last[row] for row in made if last[row] != made[row] and not last[row].is_deleted}
    contents = read_versions([*since.values(), *(made[row] for row in since)])
    return {row: _build_origin(version, last[row], contents) for row, version in made.items()}


def _build_origin(made: RowVersion, last: RowVersion, contents: Mapping[RowVersion, Content]) -> RowOrigin:
    changed = changes(made.table, contents[made], contents[last]) if last in contents else []
    return RowOrigin(made, release_url(made.config_version), last.is_deleted and last != made, changed)


def then_and_now(table: str, pk: str, config_version: int) -> ThenAndNow | None:
    """A row in a release beside the newest one. Returns None if neither has it, or the key is invalid.

    Raises KeyError for an unknown table, NoSuchRelease.
    """
    last = newest()
    try:
        then = row_at(config_version, table, pk)
        pk_now, now = pk, row_at(last, table, pk)
        if now is None and table == Intent.table and (renamed := find_renamed_intent(pk)):
            pk_now, now = renamed.code, row_at(last, table, renamed.code)
    except (ValidationError, ValueError):
        return None
    if then is None and now is None:
        return None
    differing = {difference.path[0]: difference for difference in changes(table, then, now)} if then and now else {}
    columns = [
        ComparedColumn(
            label, _describe_value(table, name, then), _describe_value(table, name, now), differing.get(name)
        )
        for name, label in list_columns(table).items()
    ]
    return ThenAndNow(
        row_name(table, pk),
        config_version,
        last,
        then is not None,
        now is not None,
        find_row_origins([(table, pk)], config_version).get((table, pk)),
        columns,
        row_url(table, pk_now) if now is not None else "",
        row_url(table, pk_now, "history"),
    )


def describe_columns(table: str, content: Content) -> list[tuple[str, str]]:
    """Label and text of each column of a row that has a value."""
    texts = ((label, _describe_value(table, name, content)) for name, label in list_columns(table).items())
    return [(label, text) for label, text in texts if text]


def _describe_value(table: str, name: str, content: Content | None) -> str:
    """The text of a column: a secret as `***`, a word of a vocabulary by its label, codes of the engine in words."""
    text = text_of(content and mask_row(table, content), name)
    spec = list_column_specs(table)[name]
    if spec.vocabulary:
        word = spec.vocabulary.read(text)
        return word.label if word else text
    return code_label(text) if text and spec.reference in (Reference.INTENT, Reference.STATE) else text
