"""`manage.py config_diff A B`: what differs between two releases, two files, or one of each."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.comparing import compared
from config_admin.transfer.document import FileRefused
from config_admin.transfer.telling import diff_as_json, diff_in_words
from convengine.codec import dumps


class Command(BaseCommand):
    """Only tables that both sides have are compared: a file may be one of some tables."""

    help = "Show the rows in which two configurations differ: numbers of releases, or files."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which two."""
        parser.add_argument("before", metavar="A", help="The number of a release, or a file.")
        parser.add_argument("after", metavar="B", help="The number of a release, or a file.")
        parser.add_argument("--json", action="store_true", help="One JSON document instead of lines.")

    def handle(self, *args: Any, before: str, after: str, json: bool, **options: Any) -> None:
        """Compare and tell. Raises CommandError for what is neither a release nor a readable file."""
        try:
            found = compared(*(int(side) if side.isdecimal() else Path(side) for side in (before, after)))
        except (NoSuchRelease, FileRefused) as error:
            raise CommandError(str(error)) from None
        for line in [dumps(diff_as_json(found))] if json else diff_in_words(found):
            self.stdout.write(line)
