"""`manage.py come_over rasa PATH`: show what a bot of another system becomes; with `--apply` make a draft of it."""

from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

from django.core.management.base import CommandError

from config_admin.commands.authors import add_author_argument, read_author, require_rights
from config_admin.contrib.come_over.files import read_files
from config_admin.contrib.come_over.make_draft import get_default_title, make_draft, name_bot
from config_admin.contrib.come_over.outcomes import Outcome
from config_admin.contrib.come_over.plan import Plan, plan_project
from config_admin.contrib.come_over.report import write_report
from config_admin.contrib.come_over.systems import SYSTEMS
from config_admin.contrib.come_over.task_file import write_task_file
from config_admin.drafts.named_draft import get_needed_right
from config_admin.flows.document import FlowRefused, Values
from config_admin.transfer.apply_import import ImportFailed
from config_admin.transfer.document import FileRefused
from config_admin.transfer.import_report import describe_plan
from convengine.play.loading import dump_yaml
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
        parser.add_argument(
            "--tests", type=Path, metavar="DIR", help="Write the test stories as scenario files into this folder."
        )
        parser.add_argument("--tasks", type=Path, metavar="FILE.py", help="Write a task for each action of code.")
        parser.add_argument("--report", type=Path, metavar="FILE.html", help="Write the plan as one HTML file, too.")
        add_author_argument(parser, "The author of the draft")

    def handle(self, *args: Any, system: str, folder: Path, apply: bool, report: Path | None, **options: Any) -> None:
        """Read, print, and store. Raises CommandError for a project that cannot be read."""
        author, source = read_author(options["author"], IMPORT), folder.resolve().name
        title = options["draft"] or get_default_title(source)
        try:
            plan = plan_project(SYSTEMS[system].read_project(source, read_files(folder, SYSTEMS[system].layout)))
            if options["tests"]:
                _write_scenarios(options["tests"], plan.scenarios)
            if options["tasks"]:
                options["tasks"].write_text(write_task_file(name_bot(source), plan.tasks), encoding="utf-8")
            if report:
                report.write_text(write_report(name_bot(source), plan), encoding="utf-8")
            require_rights(author, get_needed_right(title))
            done = make_draft(plan, title, author, get_default_title(source), apply=apply)
        except FileRefused as refused:
            raise CommandError(f"{refused}\nNothing was written.") from None
        except FlowRefused as refused:
            raise CommandError("\n".join([f"{folder}:", *refused.problems, "Nothing was written."])) from None
        except ImportFailed as failed:
            raise CommandError(str(failed)) from None
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be written: {error.strerror}.") from None
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


def _write_scenarios(folder: Path, scenarios: Sequence[Values]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scenario in scenarios:
        (folder / f"{scenario['id']}.yaml").write_text(dump_yaml(scenario), encoding="utf-8")


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
