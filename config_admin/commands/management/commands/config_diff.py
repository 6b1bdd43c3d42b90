"""`manage.py config_diff A B`: compare two releases, two files, or one of each."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.compare_files import compare_sides
from config_admin.transfer.document import FileRefused
from config_admin.transfer.import_report import describe_differences, serialize_differences
from convengine.engine.turn.codec import dumps
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Compares only tables that both sides have, because a file may have some tables only."""

    help = "Show the rows that are different in two configurations (release numbers or files)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("before", metavar="A", help="A release number or a file.")
        parser.add_argument("after", metavar="B", help="A release number or a file.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")

    def handle(self, *args: Any, before: str, after: str, json: bool, **options: Any) -> None:
        """Compare and print. Raises CommandError for what is neither a release nor a readable file."""
        try:
            differences = compare_sides(*(int(side) if side.isdecimal() else Path(side) for side in (before, after)))
        except (NoSuchRelease, FileRefused) as error:
            raise CommandError(str(error)) from None
        for line in [dumps(serialize_differences(differences))] if json else describe_differences(differences):
            self.stdout.write(line)
