"""`manage.py config_import FILE`: show what a file would change and what is wrong; with `--apply` import it."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from config_admin.commands.authors import read_author, require_rights
from config_admin.commands.file_command import FileCommand
from config_admin.drafts.named_draft import get_needed_right, open_named_draft
from config_admin.releases.models import CeRelease
from config_admin.transfer.apply_import import ImportFailed, ImportResult, run_import
from config_admin.transfer.document import BaseRelease, FileRefused, ImportMode
from config_admin.transfer.files import READING_OPTIONS, read_file, update_base
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.transfer.import_report import describe_plan, serialize_result
from convengine.engine.errors import DraftRequired
from convengine.engine.turn.codec import dumps
from convengine.server.admin_site.rights import IMPORT


class Command(FileCommand):
    """The exit status is 0 when the file was or could be imported; 1 when rows are refused.

    With `--exit-code`, a preview of a file that would change something ends with 2.
    """

    help = "Preview the import of a configuration file. With --apply, import it as one release."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--apply",
            action="store_true",
            help="Import the file as one release. If a row has errors, nothing is imported.",
        )
        parser.add_argument(
            "--exit-code",
            action="store_true",
            help="Without --apply: end with 2 if the file would change something, with 0 if nothing.",
        )
        parser.add_argument("--rest", action="store_true", help="Leave rows with errors out and import the rest.")
        parser.add_argument(
            "--mode",
            choices=[mode.value for mode in ImportMode],
            help="How rows are matched. Default: depends on the format.",
        )
        parser.add_argument("--blank-as-any", action="store_true", help="Read an empty intent or state as ANY.")
        parser.add_argument(
            "--undouble-backslashes",
            action="store_true",
            help=r"Read two backslashes in a regular expression as one: \\b becomes \b.",
        )
        moved = parser.add_mutually_exclusive_group()
        moved.add_argument(
            "--merge",
            action="store_true",
            help="Merge the changes of the file with those made here since its base release, field by field.",
        )
        moved.add_argument(
            "--overwrite",
            action="store_true",
            help="Undo changes made here since the base of the file, or all differences if its base is unknown.",
        )
        parser.add_argument(
            "--update-base",
            action="store_true",
            help="After the import, write the new release into the file as its base. After a merge only if the file "
            "has all that was changed here.",
        )
        parser.add_argument(
            "--draft",
            default="",
            metavar="TITLE",
            help="Import into the open draft of this title, which is made if needed.",
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")

    def handle(self, *args: Any, file: Path, apply: bool, rest: bool, json: bool, **options: Any) -> None:
        """Judge, print, and import. Raises CommandError for a file that cannot be read."""
        try:
            document = read_file(file, **{name: options[name] for name in READING_OPTIONS})
        except FileRefused as error:
            raise CommandError(str(error)) from None
        author, reason = read_author(options["author"], IMPORT), options["reason"] or f"Import of {file.name}"
        if options["draft"]:
            require_rights(author, get_needed_right(options["draft"]))
        try:
            with open_named_draft(options["draft"], author, reason, writing=apply):
                progress = self._progress(json)
                done = run_import(document, apply=apply, author=author, reason=reason, rest=rest, progress=progress)
        except ImportFailed as error:
            raise CommandError(str(error)) from None
        except DraftRequired:
            raise CommandError(
                "Changes need a review in this installation. Import into a draft: --draft TITLE."
            ) from None
        self._tell(done, draft=options["draft"], json=json)
        if done.release and options["update_base"]:
            self._update_base(file, done.release, done.plan, options)
        if done.plan.is_refused:
            sys.exit(1)
        if options["exit_code"] and not apply:
            self.exit_from_preview(would_change=bool(done.plan.differences))

    def _update_base(self, file: Path, release: CeRelease, plan: ImportPlan, options: dict[str, Any]) -> None:
        """With a newer base, the next import of a file that lacks changes made here would take them back."""
        as_it_is = {name: options[name] for name in READING_OPTIONS} | {"merge": False, "overwrite": True}
        lacks_changes = options["merge"] and plan.base and plan_import(read_file(file, **as_it_is)).differences
        if lacks_changes or plan.placed.renumbered:
            what = "lacks changes that were made here" if lacks_changes else "has other numbers for rows than here"
            self.stderr.write(
                f"{file.name} keeps its base, because it {what}. Write them into it: convengine export {file.name}"
            )
            return
        update_base(file, BaseRelease(release.config_version, release.content_hash))

    def _tell(self, done: ImportResult, *, draft: str, json: bool) -> None:
        if json:
            named = {"draft": draft} if draft else {}
            self.stdout.write(dumps({**serialize_result(done), **named}))
            return
        for line in describe_plan(done.plan):
            self.stdout.write(line)
        if done.plan.is_refused:
            self.stdout.write("Nothing was changed. Correct the rows above, or leave them out with --rest.")
        elif not done.is_applied:
            self.stdout.write("Nothing was changed. Use --apply to import.")
        elif draft and done.plan.differences:
            self.stdout.write(f"Imported into the draft “{draft}”. Publish it: draft publish “{draft}”.")
        else:
            self.stdout.write(
                f"Imported as release {done.release.pk}." if done.release else "The file contains no changes."
            )

    def _progress(self, quiet: bool) -> Any:
        def tell(stage: str, done: int, of: int) -> None:
            if not quiet and self.stderr.isatty():
                self.stderr.write(f"\r{stage} {done} of {of} rows", ending="\n" if done == of else "")
                self.stderr.flush()

        return tell
