"""`manage.py scenarios PATH…`: play conformance scenarios and say what does not hold."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from convengine.codec import dumps
from convengine.scenarios import database
from convengine.scenarios.loading import files
from convengine.scenarios.runner import FAILED, run
from convengine.scenarios.telling import as_json, line, totals


class Command(BaseCommand):
    """Prints a line a scenario and the totals; the exit status is 0 only when none failed.

    Everything happens in a new database in a temporary folder: the installation's own is not looked at.
    """

    help = "Play scenario files (docs/scenarios.md) in a database made for them, and say what does not hold."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which files, and how to tell."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="A file, or a folder of *.yaml files.")
        parser.add_argument("--only", action="append", default=[], metavar="ID", help="Only this one; repeatable.")
        parser.add_argument("--json", action="store_true", help="One JSON document instead of lines.")
        parser.add_argument("--replay", action="store_true", help="Run each turn again and want the same events.")

    def handle(self, *args: Any, paths: list[Path], only: list[str], json: bool, replay: bool, **options: Any) -> None:
        """Play and tell."""
        reports = []
        chosen = _chosen(paths, only)
        with database.scratch():
            for file in chosen:
                reports.append(run(file, replay=replay))
                if not json:
                    self._say(line(reports[-1]))
        self._say(dumps(as_json(reports)) if json else totals(reports))
        if any(report.outcome == FAILED for report in reports):
            sys.exit(1)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _chosen(paths: list[Path], only: list[str]) -> list[Path]:
    """The files to play. Raises CommandError for a path or an id that leads nowhere."""
    for path in paths:
        if not path.exists():
            raise CommandError(f"There is no {path}.")
    found = files(paths)
    unknown = sorted(set(only) - {file.stem for file in found})
    if unknown:
        raise CommandError(f"There is no scenario {', '.join(unknown)} in {', '.join(map(str, paths))}.")
    chosen = [file for file in found if not only or file.stem in only]
    if not chosen:
        raise CommandError(f"There is no scenario in {', '.join(map(str, paths))}.")
    return chosen
