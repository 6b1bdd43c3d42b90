"""The uses of a row for its page: grouped, with links, limited."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from config_admin.editing.links import row_url, workspace_url
from config_admin.validation.labels import row_name, table_label
from config_admin.validation.uses import list_uses
from convengine.engine.rules.row_names import name_row
from convengine.engine.turn import rows
from convengine.engine.turn.rows import Row
from convengine.engine.turn.snapshot import Snapshot

#: How many rows of one kind a page lists.
SHOWN = 20


class RowLink(NamedTuple):
    """A row: its address and its name."""

    url: str
    name: str
    #: Its purpose, in a few words.
    about: str
    enabled: bool


class UsageGroup(NamedTuple):
    """Rows of one table that use the row in the same way."""

    how: str
    kind: str
    links: Sequence[RowLink]
    more: int


def group_usages(snapshot: Snapshot, row: Row) -> list[UsageGroup]:
    """The groups, in the order of the kinds of use."""
    groups = groupby(list_uses(snapshot, row), key=lambda use: (use.how, use.row.table))
    listed = [(how, table, [use.row for use in members]) for (how, table), members in groups]
    return [
        UsageGroup(how, table_label(table), [link_of(row) for row in members[:SHOWN]], max(len(members) - SHOWN, 0))
        for how, table, members in listed
    ]


def link_of(row: Row) -> RowLink:
    """The link of a row; an intent links to its workspace."""
    if isinstance(row, rows.Intent):
        return RowLink(workspace_url(row.intent_code), row_name(row.table, row.pk), row.name, row.enabled)
    return RowLink(row_url(row.table, row.pk), row_name(row.table, row.pk), name_row(row.table, row), row.enabled)
