"""`manage.py audit_verify`: verify that nobody changed the record."""

import argparse
import json
import sys
import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.integrity import anchor, verify, verify_all
from audit.integrity.verify import Report


class Command(BaseCommand):
    """Ends with status 1 when something is wrong."""

    help = "Verify the integrity of the audit trail and list changes."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--conversation", type=uuid.UUID, metavar="ID", help="only this conversation")
        parser.add_argument("--anchor", type=Path, metavar="FILE", help="also compare the chains with this anchor file")
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.add_argument("--workers", type=int, metavar="N", help="the number of processes. Default: one per CPU")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify, and print the result."""
        key = options["conversation"]
        report = (
            verify.verify_conversation(key)
            if key
            else verify_all.verify_all(options["workers"], self._progress(options["json"]))
        )
        if options["anchor"]:
            try:
                report.add_findings(anchor.compare_anchor(options["anchor"], key))
            except (OSError, anchor.UnreadableAnchor) as fault:
                raise CommandError(str(fault)) from fault
        self._tell(report, options["json"])
        if not report.intact:
            sys.exit(1)

    def _progress(self, quiet: bool) -> Any:
        def say(report: Report) -> None:
            if not quiet and sys.stderr.isatty():
                sys.stderr.write(f"\r{report.turns:,} turns …")

        return say

    def _tell(self, report: Report, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.as_json(), indent=2))
            return
        for finding in report.findings:
            self.stdout.write(str(finding))
        self.stdout.write(report.summary())
