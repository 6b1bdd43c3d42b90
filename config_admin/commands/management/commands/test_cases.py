"""`manage.py test_cases`: run the stored tests on a configuration, list them, import and export files."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from getpass import getuser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.template.defaultfilters import pluralize

from config_admin.commands.authors import add_author_argument, read_author
from config_admin.drafts.models import CeDraft, DraftStatus
from config_admin.releases.changes import name_author
from config_admin.test_cases.documents import describe_test
from config_admin.test_cases.models import CeTestCase, CeTestRun
from config_admin.test_cases.play import CaseVerdict
from config_admin.test_cases.runs import SelectedTests, create_run, iterate_run
from config_admin.test_cases.transfer import build_files, import_files
from convengine.engine.turn.codec import dumps
from convengine.play.loading import files
from convengine.play.report_format import as_json, as_junit, format_explanations, format_line, format_totals
from convengine.play.runner import FAILED, PASSED, Failure, ScenarioReport
from convengine.server.admin_site.configuration_choice import read_name
from convengine.server.deployment.exact_command import ExactCommand, ExactParser
from convengine.server.jobs.background_runs import RunStatus

#: The exit status when nothing could be run.
_IMPOSSIBLE = 2


class Command(ExactCommand):
    """The exit status is 0 when every test passed, 1 when one failed or a file was refused, 2 when none could run."""

    help = "Run the stored tests on a configuration; list, import or export them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=ExactParser)
        run = actions.add_parser("run", help="Run tests on a configuration, in memory.")
        named = run.add_mutually_exclusive_group()
        named.add_argument(
            "--configuration", default="live", metavar="NAME", help="live, release:12 or draft:7. Default: live."
        )
        named.add_argument("--draft", default="", metavar="TITLE", help="The title of an open draft.")
        run.add_argument("--junit", type=Path, metavar="FILE", help="Also write a report in the format of JUnit.")
        listing = actions.add_parser("list", help="List the tests.")
        for chosen in (run, listing):
            chosen.add_argument("--tag", action="append", default=[], help="Only tests with this tag. Repeatable.")
            chosen.add_argument("--folder", default="", help="Only tests in this folder and below it.")
            chosen.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
        take = actions.add_parser("import", help="Store the tests of scenario files; one of the same name is changed.")
        take.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="A file, an archive, or a folder.")
        take.add_argument("--folder", default="", help="The folder of the tests.")
        add_author_argument(take, "Who owns new tests")
        take.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
        give = actions.add_parser("export", help="Write every test as a scenario file.")
        give.add_argument("path", type=Path, metavar="DIR", help="The folder to write to.")

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        {"run": self._run, "list": self._list, "import": self._import, "export": self._export}[action](options)

    def _run(self, options: dict[str, Any]) -> None:
        selection = SelectedTests([tag.lower() for tag in options["tag"]], options["folder"])
        try:
            name = read_name(_find_draft(options["draft"]) or options["configuration"])
        except ValueError as refused:
            raise CommandError(str(refused), returncode=_IMPOSSIBLE) from refused
        if not selection.query().exists():
            raise CommandError(f"There is no test to run: {selection.describe()}.", returncode=_IMPOSSIBLE)
        reports: list[ScenarioReport] = []

        def note(case: CeTestCase, verdict: CaseVerdict) -> None:
            reports.append(_build_report(case, verdict))
            if not options["json"]:
                self._print([format_line(reports[-1]), *format_explanations(reports[-1])])

        run = create_run(name, selection, getuser())
        list(iterate_run(run.pk, note))
        run.refresh_from_db()
        if junit := options["junit"]:
            junit.parent.mkdir(parents=True, exist_ok=True)
            junit.write_text(as_junit(reports), encoding="utf-8")
        self._print([dumps({**_describe_run(run), **as_json(reports)}) if options["json"] else format_totals(reports)])
        if run.status != RunStatus.DONE:
            raise CommandError(run.error or f"The run ended early: {run.status}.", returncode=_IMPOSSIBLE)
        if run.failed:
            sys.exit(1)

    def _list(self, options: dict[str, Any]) -> None:
        query = SelectedTests([tag.lower() for tag in options["tag"]], options["folder"]).query()
        cases = query.defer("document").prefetch_related("tags").order_by("folder", "name")
        tests = [describe_test(case) for case in cases]
        if options["json"]:
            self._print([dumps({"tests": tests})])
            return
        self._print(f"{test['id']}: {test['title']} [{', '.join(test['tags'])}] {test['folder']}" for test in tests)
        self._print([f"{len(tests)} test{pluralize(len(tests))}"])

    def _import(self, options: dict[str, Any]) -> None:
        sent = []
        for path in options["paths"]:
            if not path.exists():
                raise CommandError(f"{path} does not exist.", returncode=_IMPOSSIBLE)
            base = path if path.is_dir() else path.parent
            chosen = [path] if path.suffix.lower() == ".zip" else files([path])
            sent += [(str(file.relative_to(base)), file.read_bytes()) for file in chosen]
        author = read_author(options["author"], "config_admin.add_cetestcase", "config_admin.change_cetestcase")
        report = import_files(sent, editor=name_author(author), folder=options["folder"])
        refused = [{"file": name, "problem": problem} for name, problem in report.refused]
        if options["json"]:
            self._print([dumps({"added": report.added, "changed": report.changed, "refused": refused})])
        else:
            self._print([report.describe(), *(f"{each['file']}: {each['problem']}" for each in refused)])
        if refused:
            sys.exit(1)

    def _export(self, options: dict[str, Any]) -> None:
        count = 0
        for name, text in build_files(CeTestCase.objects.all()):
            file = options["path"] / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            count += 1
        self._print([f"{count} test{pluralize(count)} written to {options['path']}"])

    def _print(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)
        self.stdout.flush()


def _find_draft(title: str) -> str:
    """The name of the configuration of the open draft with this title; blank without a title."""
    if not title:
        return ""
    draft = CeDraft.objects.filter(title=title, status=DraftStatus.OPEN).first()
    if draft is None:
        raise CommandError(f"There is no open draft “{title}”. List them: draft list.", returncode=_IMPOSSIBLE)
    return f"draft:{draft.pk}"


def _build_report(case: CeTestCase, verdict: CaseVerdict) -> ScenarioReport:
    return ScenarioReport(
        case.name,
        Path(case.folder) / f"{case.name}.yaml",
        PASSED if verdict.has_passed else FAILED,
        case.title,
        failures=[Failure(each["turn"], each["where"], each["expected"], each["got"]) for each in verdict.failures],
        explanations={number: turn["lines"] for number, turn in enumerate(verdict.turns, 1) if "lines" in turn},
        seconds=verdict.milliseconds / 1000,
    )


def _describe_run(run: CeTestRun) -> dict[str, Any]:
    return {
        "run": run.pk,
        "configuration": run.configuration,
        "configVersion": run.config_version,
        "contentHash": run.content_hash,
        "status": run.status,
        "turns": run.turns,
        "seconds": round(run.milliseconds / 1000, 3),
    }
