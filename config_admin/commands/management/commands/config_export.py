"""`manage.py config_export [FILE]`: the configuration as one file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config_admin.releases.queries import NoSuchRelease
from config_admin.transfer.files import FORMATS, JSON, XLSX, YAML, export_configuration, get_format
from config_admin.transfer.installation import export_sections
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Writes the same bytes for the same rows, so that files can be compared."""

    help = "Export the current configuration, or that of a release, to one file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            metavar="FILE",
            help="The file to write. Without it, the configuration is printed.",
        )
        parser.add_argument("--format", choices=FORMATS, help="Default: by the extension of FILE, else yaml.")
        parser.add_argument(
            "--release", type=int, metavar="N", help="The release to export. The current one if absent."
        )
        parser.add_argument(
            "--no-base",
            action="store_true",
            help="Leave out the release, so that the same rows always give the same bytes.",
        )
        parser.add_argument(
            "--table",
            action="append",
            default=[],
            choices=list(ROW_TYPE_OF),
            metavar="T",
            help="Only this table. Repeatable.",
        )
        parser.add_argument(
            "--installation",
            action="store_true",
            help="With webhooks, keys, groups, documents and more, for `convengine apply`. Without their secrets.",
        )

    def handle(self, *args: Any, file: Path | None, release: int | None, table: list[str], **options: Any) -> None:
        """Write. Raises CommandError for an unknown release, or when the file cannot be written."""
        try:
            form = options["format"] or get_format(file)
            if form == XLSX and not file:
                raise CommandError("A workbook cannot be printed. Name a FILE.")
            if options["installation"] and form not in (YAML, JSON):
                raise CommandError("Only a YAML or JSON file has webhooks, keys, groups, documents and more.")
            sections = export_sections() if options["installation"] else {}
            with_base = not options["no_base"]
            data = export_configuration(release, tables=table, form=form, with_base=with_base, sections=sections)
            if file:
                file.write_bytes(data)
            else:
                self.stdout.write(data.decode(), ending="")
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}.") from None
        except (NoSuchRelease, ValueError) as error:
            raise CommandError(str(error)) from None
