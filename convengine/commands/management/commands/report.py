"""Print the report of a period, or count all stored turns again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from audit.record.last_days import choose_days
from audit.reports.measures import MEASURES, read_values
from audit.reports.recount import count_again
from audit.reports.report import Selection, build_report, list_groups
from audit.reports.topics import DIMENSIONS
from convengine.engine.text.compare import code
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import database_time
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    help = "Print the numbers of a period by hour, day or month: turns, conversations, not understood and others."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
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
        parser.add_argument(
            "--processes", type=int, default=1, metavar="N", help="count again in so many processes (PostgreSQL)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the report."""
        if not 1 <= options["days"] <= 3660:
            raise CommandError(f"--days is {options['days']}. Enter a number from 1 to 3660.")
        if options["count_again"]:
            if options["processes"] > 1 and connection.vendor != "postgresql":
                raise CommandError("--processes needs PostgreSQL: other databases have one writer. Leave it out.")
            for _ in count_again(max(options["processes"], 1)):
                pass
        selection = Selection(
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
        widths = [max(len(measure.label), 8) for measure in MEASURES.values()]
        names = (measure.label.rjust(width) for measure, width in zip(MEASURES.values(), widths, strict=True))
        self.stdout.write(f"{first.capitalize():27} {' '.join(names)}")
        for name, numbers in (*lines, ("Total", read_values(report.totals))):
            columns = zip(numbers.values(), widths, strict=True)
            self.stdout.write(f"{name:27} {' '.join(_format(value).rjust(width) for value, width in columns)}")


def _format(value: float | None) -> str:
    return "-" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
