"""Print the report of a period, or count all stored turns again."""

from collections import deque
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from django.core.management.base import CommandError, CommandParser

from audit.record.days import choose_days
from audit.reports.job import count_again
from audit.reports.measures import MEASURES, read_values
from audit.reports.report import Period, ReportSelection, build_report, list_groups
from audit.reports.topics import DIMENSIONS
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import database_time
from convengine.server.deployment.exact_command import ExactCommand

#: The lines of its label, then those of each of its numbers.
Column = Sequence[Sequence[str]]
#: A longer label has several lines.
_LABEL_WIDTH = 13


class Command(ExactCommand):
    help = "Print the numbers of a period by hour, day or month: turns, conversations, not understood and others."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=7, help="how many days, today included (default: 7)")
        parser.add_argument("--intent", default="", help="only turns with this intent")
        parser.add_argument("--channel", default="", help="only turns on this channel")
        parser.add_argument("--release", type=int, help="only turns on this release")
        parser.add_argument("--by", choices=sorted(DIMENSIONS), help="a line for each of these, not for each day")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument(
            "--count-again",
            action="store_true",
            help="first count the turns that are stored once more; this never lowers a number",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= 3660:
            raise CommandError(f"--days is {options['days']}. Enter a number from 1 to 3660.")
        if options["count_again"]:
            deque(count_again(), maxlen=0)
        selection = ReportSelection(
            *choose_days(options["days"], database_time()),
            channel=options["channel"],
            intent=code(options["intent"]),
            release=options["release"],
        )
        report = build_report(selection, has_durations=True)
        first, lines = "since", [(period.since.isoformat(), read_values(period.totals)) for period in report.periods]
        if options["by"]:
            dimension = DIMENSIONS[options["by"]]
            groups = list_groups(selection, dimension, has_durations=True)
            first, lines = (
                dimension.name,
                [(group.name, read_values(group.totals, dimension.measures)) for group in groups],
            )
        if options["json"]:
            values = [{first: name, **numbers} for name, numbers in lines]
            key = "groups" if options["by"] else "periods"
            self.stdout.write(dumps({"total": read_values(report.totals), key: values}))
            return
        names = [name for name, _ in lines] if options["by"] else _name_periods(report.periods)
        numbers = [*(values for _, values in lines), read_values(report.totals)]
        rows = [
            (name, list(map(_format, values.values()))) for name, values in zip([*names, "Total"], numbers, strict=True)
        ]
        labels = [measure.label for measure in MEASURES.values()]
        self.stdout.write("\n".join(lay_out(first.capitalize(), labels, rows, get_terminal_size().columns)))


def lay_out(first: str, labels: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]], width: int) -> Iterator[str]:
    """The lines of a table. Columns that the width does not hold follow below, again with the names of the rows."""
    name_width = min(max(len(name) for name in (first, *(name for name, _ in rows))), max(width // 3, 8))
    head = [wrap(text, size) for text, size in ((first, name_width), *((label, _LABEL_WIDTH) for label in labels))]
    body = [[wrap(name, name_width), *([value] for value in values)] for name, values in rows]
    names, *columns = zip(head, *body, strict=True)
    for part in _split_columns(columns, width - name_width):
        widths = [-name_width, *map(_find_width, part)]
        for number, cells in enumerate(zip(names, *part, strict=True)):
            yield from _lay_out_row(cells, widths, is_head=number == 0)
        yield ""


def _split_columns(columns: Sequence[Column], width: int) -> Iterator[list[Column]]:
    """Groups of neighbours that are together no wider; each has at least one."""
    part: list[Column] = []
    for column in columns:
        if part and sum(map(_find_width, [*part, column])) > width:
            yield part
            part = []
        part.append(column)
    yield part


def _find_width(column: Column) -> int:
    """The width of its longest line, and of the gap before it."""
    return 2 + max(len(line) for cell in column for line in cell)


def _lay_out_row(cells: Sequence[Sequence[str]], widths: Sequence[int], *, is_head: bool) -> Iterator[str]:
    """The lines of one row: labels at its lower edge, numbers beside the first line of the name."""
    step = -1 if is_head else 1
    lines = list(zip_longest(*(cell[::step] for cell in cells), fillvalue=""))
    for line in lines[::step]:
        padded = (text.ljust(-size) if size < 0 else text.rjust(size) for text, size in zip(line, widths, strict=True))
        yield "".join(padded).rstrip()


def _name_periods(periods: Sequence[Period]) -> list[str]:
    # Just after midnight, the only hour of today begins as a day does.
    has_hours = periods[0].until - periods[0].since <= timedelta(hours=1)
    return [f"{period.since:{'%Y-%m-%d %H:%M' if has_hours else '%Y-%m-%d'}}" for period in periods]


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
