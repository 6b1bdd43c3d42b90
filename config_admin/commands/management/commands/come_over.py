"""`manage.py come_over rasa PATH`: show what a bot of another system becomes; with `--apply` make a draft of it."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from django.core.management.base import CommandError

from config_admin.commands.authors import add_author_argument, read_author
from config_admin.commands.named_draft import open_named_draft
from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.outcomes import Outcome
from config_admin.contrib.come_over.plan import Plan, plan_project
from config_admin.contrib.come_over.systems import SYSTEMS
from config_admin.flows.document import FlowRefused
from config_admin.transfer.apply_import import ImportFailed, run_import
from config_admin.transfer.document import Document, FileRefused, ImportMode, locate_rows
from config_admin.transfer.import_report import describe_plan
from convengine.server.admin_site.rights import IMPORT
from convengine.server.deployment.exact_command import ExactCommand

#: The widths of the columns of the table; longer cells go on in the next line.
_WIDTHS = (9, 34, 15, 34, 60)
_HEADS = ("part", "name", "outcome", "becomes", "reason")


class Command(ExactCommand):
    """The exit status is 1 for a project that cannot be read, or whose rows are refused; then nothing is written."""

    help = "Show what a bot of Rasa or Dialogflow becomes here. With --apply, make a draft of it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("system", choices=[*SYSTEMS], help="Where the bot comes from.")
        parser.add_argument("folder", type=Path, metavar="PATH", help="The folder or zip archive of the bot.")
        parser.add_argument("--apply", action="store_true", help="Make a draft. Without it, nothing is changed.")
        parser.add_argument(
            "--draft", default="", metavar="TITLE", help="The title of the draft. Default: the name of the folder."
        )
        add_author_argument(parser, "The author of the draft")

    def handle(self, *args: Any, system: str, folder: Path, apply: bool, **options: Any) -> None:
        """Read, print, and store. Raises CommandError for a project that cannot be read."""
        author = read_author(options["author"], IMPORT)
        try:
            source = SYSTEMS[system]
            plan = plan_project(source.read_project(folder.resolve().name, read_files(folder, source.layout)))
            document = Document(locate_rows(plan.write_tables()), ImportMode.UPDATE)
        except FileRefused as refused:
            raise CommandError(f"{refused}\nNothing was written.") from None
        except FlowRefused as refused:
            raise CommandError("\n".join([f"{folder}:", *refused.problems, "Nothing was written."])) from None
        reason = f"From {folder.resolve().name}"
        title = options["draft"] or reason[:150]
        try:
            with open_named_draft(title, author, reason, writing=apply):
                done = run_import(document, apply=apply, author=author, reason=reason)
        except ImportFailed as failed:
            raise CommandError(str(failed)) from None
        for line in (*_describe(plan), *(describe_plan(done.plan) if done.plan.is_refused else ())):
            self.stdout.write(line)
        if done.plan.is_refused:
            raise CommandError("Nothing was written, because rows have errors.")
        if not done.is_applied:
            self.stdout.write("Nothing was changed. Use --apply to make a draft.")
        elif done.plan.differences:
            self.stdout.write(f"All of it is in the draft “{title}”. Publish it: draft publish “{title}”.")
        else:
            self.stdout.write("The configuration has all of it already.")


def _describe(plan: Plan) -> Iterator[str]:
    """The table, and how many entries have each outcome."""
    yield from _describe_row(_HEADS)
    yield from _describe_row(["-" * width for width in _WIDTHS])
    for entry in plan.entries:
        yield from _describe_row([entry.part, entry.name, entry.outcome, entry.becomes, entry.reason])
    counts = Counter(entry.outcome for entry in plan.entries)
    yield ""
    yield ", ".join(f"{outcome}: {counts[outcome]}" for outcome in Outcome)


def _describe_row(cells: Sequence[str]) -> Iterator[str]:
    wrapped = [wrap(cell, width) or [""] for cell, width in zip(cells, _WIDTHS, strict=True)]
    for number in range(max(map(len, wrapped))):
        parts = [lines[number] if number < len(lines) else "" for lines in wrapped]
        yield "  ".join(part.ljust(width) for part, width in zip(parts, _WIDTHS, strict=True)).rstrip()
