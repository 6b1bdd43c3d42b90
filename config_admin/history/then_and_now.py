"""A row as it was in a release beside the present one, and the changes of releases between two, for readers of past
turns.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.contrib.auth import get_permission_codename
from django.core.exceptions import ValidationError

from config_admin.editing.configuration_diff import ChangedRow, first_rows
from config_admin.editing.links import release_url, row_url
from config_admin.editing.row_diff import changes, list_columns, text_of
from config_admin.releases.diff import changes_of
from config_admin.releases.head import newest
from config_admin.releases.models import CeRelease
from config_admin.releases.queries import row_at
from config_admin.releases.renamed_intents import find_renamed_intent
from config_admin.releases.tree import Content
from config_admin.validation.columns import Reference, list_column_specs
from config_admin.validation.labels import row_name
from config_admin.validation.secret_columns import mask_row
from config_admin.validation.stored_columns import control_plane
from convengine.engine.text.difference import Difference
from convengine.engine.turn.labels import code_label
from convengine.engine.turn.rows import Intent

#: How many rows of a release are shown in detail, and how many releases per page.
ROWS, RELEASES = 10, 20


class Column(NamedTuple):
    """One column, then and now."""

    label: str
    then: str
    now: str
    #: The difference; None if there is none, or the row is missing on one side.
    change: Difference | None


class ThenAndNow(NamedTuple):
    """A row in a release and in the newest one."""

    name: str
    then_version: int
    now_version: int
    in_then: bool
    in_now: bool
    columns: Sequence[Column]
    #: Its edit page, if it still exists, and its history.
    url: str
    history_url: str

    @property
    def differs(self) -> bool:
        """True unless it is unchanged."""
        return self.in_then != self.in_now or any(column.change for column in self.columns)


class Between(NamedTuple):
    """One release between two turns."""

    release: CeRelease
    url: str
    rows: Sequence[ChangedRow]
    #: How many rows are not shown.
    more: int


def right_to_read(table: str) -> str:
    """The right to read a row of a table. Raises KeyError for a table that is not configuration."""
    opts = control_plane()[table]._meta
    return f"{opts.app_label}.{get_permission_codename('view', opts)}"


def then_and_now(table: str, pk: str, config_version: int) -> ThenAndNow | None:
    """A row in a release beside the newest one. Returns None if neither has it, or the key is invalid.

    Raises KeyError for an unknown table, NoSuchRelease.
    """
    last, pk_now = newest(), pk
    try:
        then, now = row_at(config_version, table, pk), row_at(last, table, pk)
        if now is None and table == Intent.table and (renamed := find_renamed_intent(pk)):
            pk_now = renamed.code
            now = row_at(last, table, pk_now)
    except (ValidationError, ValueError):
        return None
    if then is None and now is None:
        return None
    differing = {difference.path[0]: difference for difference in changes(table, then, now)} if then and now else {}
    columns = [
        Column(label, _describe_value(table, name, then), _describe_value(table, name, now), differing.get(name))
        for name, label in list_columns(table).items()
    ]
    return ThenAndNow(
        row_name(table, pk),
        config_version,
        last,
        then is not None,
        now is not None,
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


def between(since: int, until: int, behind: int | None = None) -> tuple[list[Between], int | None]:
    """The releases after `since` up to `until`, newest first, with their changes; and where the next page begins.

    `behind`: only releases before that one.
    """
    wanted = CeRelease.objects.filter(pk__gt=since, pk__lte=until if behind is None else min(until, behind - 1))
    releases = list(wanted.order_by("-pk").defer("manifest")[: RELEASES + 1])
    return list(_build_changes(releases[:RELEASES])), releases[RELEASES - 1].pk if len(releases) > RELEASES else None


def _build_changes(releases: Sequence[CeRelease]) -> Iterator[Between]:
    for release in releases:
        changed = changes_of(release)
        rows = first_rows(changed, ROWS)
        yield Between(release, release_url(release.pk), rows, sum(map(len, changed.values())) - len(rows))
