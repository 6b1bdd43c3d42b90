"""Bars as SVG, drawn on the server, and the releases on their time lines; the page has the same numbers as a table."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import NamedTuple

from audit.reports.effect import effect_url
from audit.reports.report import Period
from convengine.server.interfaces.release_history import ReleaseNote, release_history

#: The picture in its own units; pages scale it.
WIDTH, HEIGHT = 960, 240
_LEFT, _BOTTOM, _TOP = 52, 28, 24
#: How many names fit below the bars.
_NAMES = 12


class Bar(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    marked_y: float
    marked_height: float
    #: What a pointer shows.
    title: str


class ChartLabel(NamedTuple):
    """A text beside the bars."""

    x: float
    y: float
    text: str


class ChartMark(NamedTuple):
    """Something that happened in the time of a bar."""

    x: float
    text: str
    title: str
    #: Where the text ends or begins.
    anchor: str


@dataclass(frozen=True)
class BarChart:
    """What the template draws."""

    bars: Sequence[Bar]
    names: Sequence[ChartLabel]
    #: The lines of the scale.
    lines: Sequence[ChartLabel]
    width: int = WIDTH
    height: int = HEIGHT
    scale_end: int = _LEFT
    marks: Sequence[ChartMark] = ()


def draw_bars(
    values: Sequence[tuple[str, str, float, float]], marks: Sequence[tuple[str, str] | None] = ()
) -> BarChart:
    """Bars of (name, title, number, how much of it is marked), and above them marks of (text, title)."""
    top = _round_up(max((number for _, _, number, _ in values), default=0))
    step = (WIDTH - _LEFT) / max(len(values), 1)
    scale = (HEIGHT - _TOP - _BOTTOM) / top
    base = HEIGHT - _BOTTOM
    bars = [
        Bar(
            round(_LEFT + index * step + step * 0.1, 1),
            round(base - number * scale, 1),
            round(step * 0.8, 1),
            round(number * scale, 1),
            round(base - marked * scale, 1),
            round(marked * scale, 1),
            title,
        )
        for index, (_, title, number, marked) in enumerate(values)
    ]
    every = -(-len(values) // _NAMES) or 1
    names = [
        ChartLabel(round(_LEFT + (index + 0.5) * step, 1), HEIGHT - 8, name)
        for index, (name, *_) in enumerate(values)
        if index % every == 0
    ]
    lines = [ChartLabel(_LEFT, round(base - top * part * scale, 1), f"{top * part:g}") for part in (0, 0.5, 1)]
    placed = [
        ChartMark(round(_LEFT + (index + 0.5) * step, 1), *mark, "start" if index * 2 < len(values) else "end")
        for index, mark in enumerate(marks)
        if mark
    ]
    return BarChart(bars, names, lines, marks=placed)


def _round_up(number: float) -> float:
    """The next number whose half is round, too: 2, 4, 10, 20, 40, 100 and so on; below, 1, 0.4, 0.2 and so on."""
    if number <= 0:
        return 2
    power: float = 10.0 ** floor(log10(number))
    return next(size for size in (power, 2 * power, 4 * power, 10 * power) if size >= number)


#: How many of the newest releases of a report are marked.
_MOST_MARKED = 200


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
    for note in release_history().list_releases_of_period(starts[0], periods[-1].until, _MOST_MARKED):
        notes[bisect_right(starts, note.at) - 1].append(note)
    return [_build_mark(of_period) if of_period else None for of_period in notes]


def _build_mark(notes: Sequence[ReleaseNote]) -> ReleaseMark:
    """The mark of the releases of one period, oldest first."""
    first, last = notes[0].number, notes[-1].number
    title = "; ".join(f"Release {note.number} by {note.author or '-'}: {note.reason or 'no reason'}" for note in notes)
    if first == last:
        return ReleaseMark(f"R{last}", f"Release {last}", title, effect_url(last))
    return ReleaseMark(f"R{first}–{last}", f"Releases {first} to {last}", title, effect_url(last))
