"""`manage.py scenarios PATH…`: play conformance scenarios and report failures."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from convengine.engine.turn.codec import dumps
from convengine.scenarios import database
from convengine.scenarios.loading import files
from convengine.scenarios.report_format import as_json, format_line, format_totals
from convengine.scenarios.runner import FAILED, run


class Command(BaseCommand):
    """Prints one line per scenario and the totals; the exit status is 0 only when none failed.

    Uses a new database in a temporary folder, never the installation's own.
    """

    help = "Run scenario files (docs/scenarios.md) in a temporary database and report failed expectations."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="A file, or a folder of *.yaml files.")
        parser.add_argument("--only", action="append", default=[], metavar="ID", help="Only this scenario. Repeatable.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
        parser.add_argument("--replay", action="store_true", help="Replay each turn and expect the same events.")

    def handle(self, *args: Any, paths: list[Path], only: list[str], json: bool, replay: bool, **options: Any) -> None:
        reports = []
        chosen = _choose_files(paths, only)
        with database.use_scratch_database():
            for file in chosen:
                reports.append(run(file, replay=replay))
                if not json:
                    self._say(format_line(reports[-1]))
        self._say(dumps(as_json(reports)) if json else format_totals(reports))
        if any(report.outcome == FAILED for report in reports):
            sys.exit(1)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _choose_files(paths: list[Path], only: list[str]) -> list[Path]:
    """The files to play. Raises CommandError for an unknown path or id."""
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path} does not exist.")
    available = files(paths)
    unknown = sorted(set(only) - {file.stem for file in available})
    if unknown:
        raise CommandError(f"The scenario {', '.join(unknown)} does not exist in {', '.join(map(str, paths))}.")
    chosen = [file for file in available if not only or file.stem in only]
    if not chosen:
        raise CommandError(f"{', '.join(map(str, paths))} contains no scenario.")
    return chosen
