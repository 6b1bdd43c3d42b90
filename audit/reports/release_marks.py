"""Releases on the time lines of the reports: in which hour or day people made which."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from audit.reports.effect import effect_url
from audit.reports.report import Period
from convengine.server.interfaces.release_history import ReleaseNote, release_history

#: How many of the newest releases of a report are marked.
MOST = 200


class ReleaseMark(NamedTuple):
    """The releases of an hour or a day."""

    #: In the chart, such as `R12` or `R12–16`.
    short: str
    #: In the table, such as `Release 12` or `Releases 12 to 16`.
    name: str
    #: Who made them and why.
    title: str
    #: The effect of the last one.
    url: str


def mark_releases(periods: Sequence[Period]) -> list[ReleaseMark | None]:
    """The mark of each period, with None for a period without releases. One query."""
    if not periods:
        return []
    starts = [period.since for period in periods]
    notes: list[list[ReleaseNote]] = [[] for _ in periods]
    for note in release_history().list_releases_of_period(starts[0], periods[-1].until, MOST):
        notes[bisect_right(starts, note.at) - 1].append(note)
    return [_build_mark(of_period) if of_period else None for of_period in notes]


def _build_mark(notes: Sequence[ReleaseNote]) -> ReleaseMark:
    """The mark of the releases of one period, oldest first."""
    first, last = notes[0].number, notes[-1].number
    title = "; ".join(f"Release {note.number} by {note.author or '-'}: {note.reason or 'no reason'}" for note in notes)
    if first == last:
        return ReleaseMark(f"R{last}", f"Release {last}", title, effect_url(last))
    return ReleaseMark(f"R{first}–{last}", f"Releases {first} to {last}", title, effect_url(last))
