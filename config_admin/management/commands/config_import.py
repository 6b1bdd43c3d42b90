"""`manage.py config_import FILE`: what a file would change and what is wrong with it; with `--apply` it is imported."""

import sys
from argparse import ArgumentParser
from getpass import getuser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config_admin.transfer.applying import ImportFailed, ImportRefused, bring
from config_admin.transfer.document import FileRefused, Mode
from config_admin.transfer.files import read_file
from config_admin.transfer.planning import Plan, plan
from config_admin.transfer.telling import in_words, plan_as_json
from convengine.codec import dumps


class Command(BaseCommand):
    """The exit status is 0 when the file was imported, or could be; 1 when rows are refused."""

    help = "Show what importing a file of configuration would change; with --apply import it as one release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which file, and whether to do it."""
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--apply", action="store_true", help="Import it: all of it as one release, or nothing.")
        parser.add_argument("--rest", action="store_true", help="Leave rows with errors out and import the rest.")
        parser.add_argument(
            "--mode", choices=[mode.value for mode in Mode], help="How rows find their places; default: by the format."
        )
        parser.add_argument("--blank-as-any", action="store_true", help="A blank intent or state of a row means ANY.")
        parser.add_argument("--reason", default="", help="Stands with the release; default: the file's name.")
        parser.add_argument("--author", default="", help="Stands with the release; default: the system's user.")
        parser.add_argument("--json", action="store_true", help="One JSON document instead of lines.")

    def handle(self, *args: Any, file: Path, apply: bool, rest: bool, json: bool, **options: Any) -> None:
        """Judge, tell, and import. Raises CommandError for a file that cannot be read."""
        try:
            document = read_file(file, mode=options["mode"], blank_as_any=options["blank_as_any"])
        except FileRefused as error:
            raise CommandError(str(error)) from None
        release = None
        try:
            if apply:
                author, reason = options["author"] or getuser(), options["reason"] or f"Import of {file.name}"
                done = bring(document, author=author, reason=reason, rest=rest, progress=self._progress(json))
                found, release = done.plan, done.release
            else:
                found = plan(document, rest=rest, progress=self._progress(json))
        except ImportRefused as error:
            found = error.plan
        except ImportFailed as error:
            raise CommandError(str(error)) from None
        number = release.config_version if release else None
        self._tell(found, applied=apply and not found.refused, release=number, json=json)
        if found.refused:
            sys.exit(1)

    def _tell(self, found: Plan, *, applied: bool, release: int | None, json: bool) -> None:
        if json:
            self.stdout.write(dumps({**plan_as_json(found), "applied": applied, "release": release}))
            return
        for line in in_words(found):
            self.stdout.write(line)
        if found.refused:
            self.stdout.write("Refused: nothing was changed. Mend the rows above, or leave them out with --rest.")
        elif not applied:
            self.stdout.write("Nothing was changed; --apply imports this.")
        else:
            self.stdout.write(f"Imported as release {release}." if release else "The configuration was so already.")

    def _progress(self, quiet: bool) -> Any:
        def tell(stage: str, done: int, of: int) -> None:
            if not quiet and self.stderr.isatty():
                self.stderr.write(f"\r{stage} {done} of {of} rows", ending="\n" if done == of else "")
                self.stderr.flush()

        return tell
