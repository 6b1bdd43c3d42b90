"""`manage.py config_check`: check the configuration in force, for people and scripts."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import Any

from django.core.management.base import CommandError

from config_admin.health.check import IN_FULL, Health, build_report, check_all
from config_admin.health.diagnosis import Diagnosis
from config_admin.releases.active import snapshots
from config_admin.validation.installation import describe_installation
from config_admin.validation.labels import column_label, row_name, table_title
from convengine.engine.rules.conditions.time_points import describe_count
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Prints the findings; ends with status 1 when one of them is an error."""

    help = "Check the current configuration: collisions, rows that never apply, missing answers and more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="Print one JSON document.")
        parser.add_argument("--table", action="append", help="Only findings about this table. Repeatable.")
        parser.add_argument("--code", action="append", help="Only findings with this code. Repeatable.")
        parser.add_argument("--seconds", type=float, default=IN_FULL, help="Time limit for the searches.")

    def handle(
        self, *args: Any, table: list[str] | None, code: list[str] | None, seconds: float, **options: Any
    ) -> None:
        """Check and print. Raises CommandError with status 1 when an error is printed."""
        if unknown := sorted(set(table or ()) - ROW_TYPE_OF.keys()):
            raise CommandError(f"Unknown table {unknown[0]}. Tables: {', '.join(ROW_TYPE_OF)}.", returncode=2)
        progress = None if options["json"] or not options["verbosity"] > 1 else self._progress
        snapshot = snapshots.current()
        health = check_all(snapshot, describe_installation(), progress=progress, seconds=seconds)
        chosen = [diagnosis for diagnosis in health.findings if _is_wanted(diagnosis, table, code)]
        if options["json"]:
            self.stdout.write(
                json.dumps(build_report(health, chosen, snapshot), indent=2, ensure_ascii=False, default=str)
            )
        else:
            self._print(health, chosen)
        if any(diagnosis.is_error for diagnosis in chosen):
            raise CommandError("The configuration has errors. They are listed above.")

    def _progress(self, name: str, index: int, count: int) -> None:
        self.stderr.write(f"{index + 1}/{count} {name}")

    def _print(self, health: Health, chosen: Sequence[Diagnosis]) -> None:
        for diagnosis in chosen:
            where = table_title(diagnosis.table) if diagnosis.row is None else row_name(diagnosis.table, diagnosis.row)
            column = f" · {column_label(diagnosis.table, diagnosis.field)}" if diagnosis.field else ""
            self.stdout.write(
                f"{diagnosis.severity.value:<8}{diagnosis.impact.value:<10}{diagnosis.code}  {where}{column}"
            )
            self.stdout.write(f"        {diagnosis.message}\n        {diagnosis.consequence}")
            if diagnosis.witness:
                shown = {name: value for name, value in diagnosis.witness.as_dict().items() if name != "joined"}
                self.stdout.write(f"        For example: {json.dumps(shown, ensure_ascii=False, default=str)}")
            self.stdout.write("")
        errors = sum(diagnosis.is_error for diagnosis in chosen)
        counted = f"{describe_count(errors, 'error')}, {describe_count(len(chosen) - errors, 'warning')}"
        self.stdout.write(f"Release {health.config_version}: {counted}.")


def _is_wanted(diagnosis: Diagnosis, tables: list[str] | None, codes: list[str] | None) -> bool:
    return (not tables or diagnosis.table in tables) and (
        not codes or diagnosis.code in {code.upper() for code in codes}
    )
