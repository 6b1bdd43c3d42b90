"""What uses a row, as its page shows it: grouped by how, with links, as many as one can read."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from config_admin.admin.comparison.differences import name_of
from config_admin.admin.links import row_name, row_url
from config_admin.admin.saving.returning import workspace_url
from config_admin.validation.uses import uses
from convengine.domain import rows
from convengine.domain.rows import Row
from convengine.domain.snapshot import Snapshot
from convengine.record_columns import shortened

#: How many rows of one kind a page lists.
SHOWN = 20
#: What tells a row from others of its table, beside its number; the first that says something.
_TELLING = (
    *("description", "tool_code", "action_key", "name", "config_key", "match_pattern", "pattern", "exact_text"),
    *("message", "derivation_hint", "to_state", "input_param_name", "match_value", "system_prompt", "state_code"),
)


class Link(NamedTuple):
    """A row: where it is, and how it is called."""

    url: str
    name: str
    #: What it is for, in a few words.
    about: str
    enabled: bool


class Group(NamedTuple):
    """Rows of one table that use the row in one way."""

    how: str
    kind: str
    links: Sequence[Link]
    more: int


def where_used(snapshot: Snapshot, row: Row) -> list[Group]:
    """The groups, in the order in which the ways of use are told."""
    found = groupby(uses(snapshot, row), key=lambda use: (use.how, use.row.table))
    return [_group(how, table, [use.row for use in members]) for (how, table), members in found]


def link_of(row: Row) -> Link:
    """A row, as lists of links name it; an intent leads to its workspace."""
    url = workspace_url(row.intent_code) if isinstance(row, rows.Intent) else row_url(row.table, row.pk)
    return Link(url, row_name(row.table, row.pk), _about(row), row.enabled)


def _group(how: str, table: str, members: list[Row]) -> Group:
    links = [link_of(row) for row in members[:SHOWN]]
    return Group(how, name_of(table), links, max(len(members) - SHOWN, 0))


def about(content: Mapping[str, Any]) -> str:
    """What a row is for, in a few words of its own."""
    return shortened(next((text for name in _TELLING if isinstance(text := content.get(name), str) and text), ""), 60)


def _about(row: Row) -> str:
    return row.name if isinstance(row, rows.Intent) else about(vars(row))
