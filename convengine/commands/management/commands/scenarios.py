"""`manage.py scenarios PATH…`: play scenarios and report failures, with coverage on demand."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from convengine.engine.turn.codec import dumps
from convengine.play import database
from convengine.play.configurations import LIVE, ConfigurationFile, ConfigurationSource, read_live_configuration
from convengine.play.coverage import Coverage, format_coverage, render_coverage, serialize_coverage
from convengine.play.loading import files
from convengine.play.report_format import as_json, as_junit, format_explanations, format_line, format_totals
from convengine.play.runner import FAILED, RunOptions, ScenarioReport, run
from convengine.play.scenario import REAL, STUBS
from convengine.server import wiring
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Prints one line per scenario and the totals; the exit status is 0 only when none failed.

    Uses a new database in a temporary folder, never the installation's own.
    """

    help = "Play scenario files in a temporary database and report failed expectations."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "paths", nargs="*", type=Path, default=[Path("scenarios")], metavar="PATH",
            help="A file, or a folder of scenarios. Default: scenarios.",
        )  # fmt: skip
        parser.add_argument("--only", action="append", default=[], metavar="ID", help="Only this scenario. Repeatable.")
        parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
        parser.add_argument("--junit", type=Path, metavar="FILE", help="Also write a report in the format of JUnit.")
        parser.add_argument("--replay", action="store_true", help="Replay each turn and expect the same events.")
        parser.add_argument(
            "--configuration",
            metavar="FILE",
            help=f"Test this configuration file; {LIVE} is a copy of what the installation's database has.",
        )
        parser.add_argument(
            "--extensions",
            choices=[REAL, STUBS],
            default="",
            help="Who answers calls that no stub of a file answers: the registered extensions, or nobody.",
        )
        parser.add_argument(
            "--record",
            action="store_true",
            help="Ask the configured model where neither script nor recording has an answer, and write the recording.",
        )
        parser.add_argument("--coverage", action="store_true", help="Print what no scenario reaches.")
        parser.add_argument(
            "--coverage-html", type=Path, metavar="DIR", help="Write the coverage as a page: index.html."
        )
        parser.add_argument(
            "--fail-under", type=float, metavar="N", help="Exit with status 1 when coverage is under N percent."
        )

    def handle(self, *args: Any, paths: list[Path], only: list[str], json: bool, **options: Any) -> None:
        chosen = _choose_files(paths, only)
        if options.get("record") and not wiring.model().configured:
            raise CommandError("No model is configured, so nothing can be recorded. Set CE_LLM_PROVIDER and its keys.")
        coverage = (
            Coverage() if any(options.get(name) for name in ("coverage", "coverage_html", "fail_under")) else None
        )
        run_options = RunOptions(
            replay=bool(options.get("replay")),
            configuration=_read_source(options.get("configuration")),
            extensions=options.get("extensions") or "",
            record=bool(options.get("record")),
            coverage=coverage,
        )
        reports = []
        with database.use_scratch_database():
            for file in chosen:
                reports.append(run(file, run_options))
                if not json:
                    self._print([format_line(reports[-1]), *format_explanations(reports[-1])])
        if junit := options.get("junit"):
            _write(junit, as_junit(reports))
        self._report(reports, coverage, json=json, show=bool(options.get("coverage")))
        if coverage and (folder := options.get("coverage_html")):
            _write(folder / "index.html", render_coverage(coverage))
        is_short = coverage is not None and coverage.percent < (options.get("fail_under") or 0)
        if is_short and coverage is not None:
            self.stderr.write(f"Coverage is {coverage.percent:.1f} %, under {options['fail_under']:g} %.")
        if is_short or any(report.outcome == FAILED for report in reports):
            sys.exit(1)

    def _report(self, reports: list[ScenarioReport], coverage: Coverage | None, *, json: bool, show: bool) -> None:
        if json:
            covered = {"coverage": serialize_coverage(coverage)} if coverage else {}
            self._print([dumps({**as_json(reports), **covered})])
        else:
            self._print([format_totals(reports), *(format_coverage(coverage) if coverage and show else ())])

    def _print(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.stdout.write(line)
        self.stdout.flush()


def _read_source(name: str | None) -> ConfigurationSource | None:
    """The configuration to test. Raises CommandError for a file that does not exist."""
    if not name:
        return None
    if name == LIVE:
        return read_live_configuration()
    if not Path(name).is_file():
        raise CommandError(f"The configuration {name} does not exist.")
    return ConfigurationFile(Path(name))


def _write(file: Path, text: str) -> None:
    """Write a report. Raises CommandError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file} cannot be written: {error.strerror}.") from error


def _choose_files(paths: list[Path], only: list[str]) -> list[Path]:
    """The files to play. Raises CommandError for an unknown path or id."""
    for path in paths:
        if not path.exists():
            raise CommandError(f"{path} does not exist.")
    available = files(paths)
    unknown = sorted(set(only) - {file.stem for file in available})
    if unknown:
        raise CommandError(f"The scenario {', '.join(unknown)} does not exist in {', '.join(map(str, paths))}.")
    chosen = [file for file in available if not only or file.stem in only]
    if not chosen:
        raise CommandError(f"{', '.join(map(str, paths))} contains no scenario.")
    return chosen
