"""`manage.py apply FILE`: let the installation become what one file says; with `--plan` print what would change."""

import os
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import CommandError
from django.db import transaction

from config_admin.commands.authors import read_author
from config_admin.commands.file_command import FileCommand
from config_admin.releases.changes import name_author
from config_admin.transfer.apply_import import ImportFailed, ImportRefused, import_document
from config_admin.transfer.document import Document, FileRefused
from config_admin.transfer.files import read_file
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.transfer.import_report import NO_DIFFERENCES, describe_plan
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.rights import IMPORT

if TYPE_CHECKING:
    from config_admin.transfer.installation import SectionPlan


class Command(FileCommand):
    """Everything is applied, or nothing."""

    help = (
        "Apply a file: rows, webhooks, keys, documents and more. A section that the file has becomes what it says. "
        "`convengine export FILE --installation` writes such a file."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--plan",
            action="store_true",
            help="Print what would change. The exit status is 2 if something would, 0 if nothing, 1 after an error.",
        )
        parser.add_argument(
            "--secrets",
            type=Path,
            metavar="FILE",
            help="The file for the secrets of new keys and webhooks. It must not exist.",
        )

    def handle(self, *args: Any, file: Path, plan: bool, secrets: Path | None, **options: Any) -> None:
        """Judge, print, and apply. Raises CommandError for what is refused."""
        author, reason = read_author(options["author"], IMPORT), options["reason"] or f"Apply {file.name}"
        try:
            document = read_file(file)
        except FileRefused as error:
            raise CommandError(str(error)) from None
        sections = _plan_sections(document)
        rows = replace(document, notes=[note for note in document.notes if note.where not in document.sections])
        is_change = self._judge(plan_import(rows), sections)
        if plan:
            self.exit_from_preview(would_change=is_change)
        keys = [change for section in sections if section.title == "keys" for change in section.changes]
        new = [str(change).removeprefix("+ ") for change in keys if change.before is None]
        if new and secrets is None:
            raise CommandError(f"New keys: {', '.join(new)}. Name a file for their secrets: --secrets FILE.")
        with _explain_refusals(secrets), transaction.atomic():
            import_document(rows, author=author, reason=reason)
            made = {section.title: section.apply(name_author(author)) for section in sections}
            _write_secrets(secrets, made)
        self.stdout.write("Applied." if is_change else "Nothing was changed.")

    def _judge(self, rows: ImportPlan, sections: "Sequence[SectionPlan]") -> bool:
        """Print the changes, and say whether there are any. Raises CommandError for entries with errors."""
        changed = [line for section in sections for line in section.describe()]
        # Where entries differ, it would mislead to say that rows do not.
        of_rows = [line for line in describe_plan(rows) if line != NO_DIFFERENCES or not changed]
        self.stdout.write("\n".join([*of_rows, *changed]))
        problems = [problem for section in sections for problem in section.problems]
        if problems or rows.is_refused:
            raise CommandError("\n".join(["Nothing was changed. Correct the entries first.", *problems]))
        return bool(rows.differences) or any(section.changes for section in sections)


def _plan_sections(document: Document) -> "list[SectionPlan]":
    if not document.sections:
        return []
    # The forms of its entries are those of the admin, which takes as long to load as all other work of most files.
    from config_admin.transfer.installation import SectionPlan

    return [SectionPlan(title, entries, document.mode) for title, entries in document.sections.items()]


@contextmanager
def _explain_refusals(secrets: Path | None) -> Iterator[None]:
    """Raises CommandError where something cannot be applied."""
    try:
        yield
    except (ImportFailed, ImportRefused) as error:
        raise CommandError(str(error)) from None
    except DraftRequired:
        raise CommandError("Changes of rows are reviewed here. Import them into a draft first.") from None
    except OSError as error:
        raise CommandError(f"{secrets} cannot be written: {error.strerror}. Nothing was changed.") from None


def _write_secrets(file: Path | None, made: Mapping[str, Mapping[str, str]]) -> None:
    """Only its owner may read it. Raises OSError, also for a file that exists."""
    new = {title: secrets for title, secrets in made.items() if secrets}
    if file and new:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            stream.write(dumps(new) + "\n")
