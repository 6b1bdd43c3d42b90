"""`manage.py config_export [FILE]`: the configuration as one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.files import FORMS, XLSX, bundle_of, form_of
from convengine.domain.rows import ROW_TYPE_OF


class Command(BaseCommand):
    """Writes the same bytes for the same rows, so that files can be compared, reviewed and kept."""

    help = "Write the configuration in force, or that of a release, as one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to write, and where."""
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE", help="Where to; without, it is printed.")
        parser.add_argument("--format", choices=FORMS, help="Default: by the name of FILE, else yaml.")
        parser.add_argument("--release", type=int, metavar="N", help="Of this release; default: what is in force.")
        parser.add_argument(
            "--table",
            action="append",
            default=[],
            choices=list(ROW_TYPE_OF),
            metavar="T",
            help="Only this; repeatable.",
        )

    def handle(self, *args: Any, file: Path | None, release: int | None, table: list[str], **options: Any) -> None:
        """Write. Raises CommandError when there is no such release, or the file cannot be written."""
        try:
            form = options["format"] or form_of(file)
            if form == XLSX and not file:
                raise CommandError("A workbook is no text to be printed; name a FILE.")
            data = bundle_of(release, tables=table, form=form)
            if file:
                file.write_bytes(data)
            else:
                self.stdout.write(data.decode(), ending="")
        except (NoSuchRelease, OSError, ValueError) as error:
            raise CommandError(str(error)) from None
