"""`manage.py audit_verify`: is the record as it was written, and where not?"""

import argparse
import json
import sys
import uuid
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from audit.chain import anchor, everything, verify
from audit.chain.verify import Report


class Command(BaseCommand):
    """Ends with 1 when something is wrong."""

    help = "Look whether the record is as it was written, and tell where it is not."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """What to look at, and how to tell."""
        parser.add_argument("--conversation", type=uuid.UUID, metavar="ID", help="only this one")
        parser.add_argument("--anchor", type=Path, metavar="FILE", help="also hold the chains against this anchor")
        parser.add_argument("--json", action="store_true", help="tell it as one JSON document")
        parser.add_argument("--workers", type=int, metavar="N", help="processes that read; as many as processors")

    def handle(self, *args: Any, **options: Any) -> None:
        """Look, and tell."""
        key = options["conversation"]
        report = verify.one(key) if key else everything.verified(options["workers"], self._progress(options["json"]))
        if options["anchor"]:
            try:
                report.hold(anchor.differences(options["anchor"], key))
            except (OSError, anchor.Unreadable) as fault:
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
            self.stdout.write(json.dumps(report.told(), indent=2))
            return
        for one in report.findings:
            self.stdout.write(str(one))
        self.stdout.write(report.sentence())
