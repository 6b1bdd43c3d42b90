"""`manage.py audit_verify`: verify that nobody changed the record."""

import argparse
import json
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from audit.export.evidence.check import NOT_PROVEN, PROVEN, EvidenceFile, describe_location
from audit.export.evidence.file import NoEvidence, check_file
from audit.integrity import anchor, verify, verify_all
from audit.integrity.findings import COVERED, NO_ROOT, NOT_COVERED, IntegrityFinding
from audit.integrity.verify import VerificationReport
from audit.models import CeLedger
from convengine.server.deployment.exact_command import ExactCommand

_ANOTHER_VERSION = "If only visible text differs, another version of the product may have made the file."
_FROM_HERE = "The secret of this installation made the file."
_NOT_FROM_HERE = "The secret of this installation did not make the file, or the file was changed."


class Command(ExactCommand):
    """Ends with status 1 when something is wrong, and with 2 when there is nothing to verify."""

    help = "Verify the integrity of the audit trail and list changes."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--conversation", type=uuid.UUID, metavar="ID", help="only this conversation")
        parser.add_argument("--turn", type=int, metavar="NUMBER", help="only this turn of the conversation")
        parser.add_argument("--anchor", type=Path, metavar="FILE", help="also compare the chains with this anchor file")
        parser.add_argument(
            "--evidence", type=Path, metavar="FILE", help="check this evidence file, without a database"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")
        parser.add_argument(
            "--workers",
            type=int,
            metavar="N",
            help="the number of processes. Default: one per CPU, and one for few turns",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["evidence"]:
            self._check_evidence(options["evidence"], options["json"])
            return
        key, turn_no, workers = options["conversation"], options["turn"], options["workers"]
        # Status 1 would say that something was changed.
        if turn_no is not None and key is None:
            raise CommandError("--turn needs --conversation.", returncode=2)
        if workers is not None and workers < 1:
            raise CommandError("--workers needs a number from 1.", returncode=2)
        of_anchor = self._compare_anchor(options["anchor"], key, turn_no) if options["anchor"] else []
        try:
            report = (
                verify.verify_conversation(key, turn_no)
                if key
                else verify_all.verify_all(workers, self._progress(options["json"]))
            )
        except verify.UnknownConversation as fault:
            if not of_anchor:
                raise CommandError(str(fault), returncode=2) from fault
            report = VerificationReport()
        report.add_findings(of_anchor)
        self._tell(report, options["json"])
        if not report.intact:
            sys.exit(1)

    def _check_evidence(self, file: Path, as_json: bool) -> None:
        try:
            evidence = check_file(file.read_bytes().decode())
        except (OSError, UnicodeDecodeError) as fault:
            why = fault.strerror if isinstance(fault, OSError) else "it is not UTF-8"
            raise CommandError(f"{file} cannot be read: {why}.", returncode=2) from fault
        except NoEvidence as fault:
            raise CommandError(f"{file}: {fault}", returncode=2) from fault
        self._describe_evidence(evidence, as_json)
        if evidence.findings:
            sys.exit(1)

    def _describe_evidence(self, evidence: EvidenceFile, as_json: bool) -> None:
        is_from_here = evidence.is_from_here()
        if as_json:
            document = {
                "intact": not evidence.findings,
                "turns": evidence.turn_count,
                "conversations": len(evidence.talks),
                "findings": [vars(finding) for finding in evidence.findings],
                "notProvenByTheFile": evidence.gaps,
                "madeByThisInstallation": is_from_here,
                "proven": list(PROVEN),
                "notProven": list(NOT_PROVEN),
            }
            self.stdout.write(json.dumps(document, indent=2))
            return
        numbers = evidence.turn_count, len(evidence.talks)
        count = " of ".join(
            f"{number:,} {noun}{'' if number == 1 else 's'}"
            for number, noun in zip(numbers, ("turn", "conversation"), strict=True)
        )
        ends = [
            f"  {describe_location(row)}: {row.hash}"
            for talk in evidence.talks
            for rows in (talk.turns, talk.additions)
            for row in rows[-1:]
        ]
        ends += [f"  release {number}: {release.seal}" for number, release in evidence.releases.releases.items()][-1:]
        lines = [
            *map(str, evidence.findings),
            f"{'NOT INTACT' if evidence.findings else 'Intact'}: {count}.",
            *([_ANOTHER_VERSION] if evidence.findings else []),
            _FROM_HERE if is_from_here else _NOT_FROM_HERE,
            *(f"Not proven by the file alone: {gap}" for gap in evidence.gaps),
            *_list_sentences("Proven, where it says intact:", PROVEN),
            *_list_sentences("Not proven:", NOT_PROVEN),
            "Compare the last seals with the record, an anchor file, or the ledger of the installation:",
            *ends,
        ]
        self.stdout.write("\n".join(lines))

    def _compare_anchor(self, file: Path, key: uuid.UUID | None, turn_no: int | None) -> list[IntegrityFinding]:
        """The findings about everything, one conversation, or one turn of it. Raises CommandError."""
        try:
            findings = list(anchor.compare_anchor(file, key))
        except (OSError, anchor.UnreadableAnchor) as fault:
            raise CommandError(str(fault), returncode=2) from fault
        return [finding for finding in findings if turn_no in (None, finding.turn_no)]

    def _progress(self, quiet: bool) -> Any:
        def say(report: VerificationReport) -> None:
            if not quiet and sys.stderr.isatty():
                sys.stderr.write(f"\r{report.turns:,} turns …")

        return say

    def _tell(self, report: VerificationReport, as_json: bool) -> None:
        warnings = [] if CeLedger.find_newest_root() else [NO_ROOT]
        if as_json:
            document = report.as_json() | {
                "warnings": warnings,
                "covered": list(COVERED),
                "notCovered": list(NOT_COVERED),
            }
            self.stdout.write(json.dumps(document, indent=2))
            return
        for finding in report.findings:
            self.stdout.write(str(finding))
        self.stdout.write(report.summary())
        for warning in warnings:
            self.stdout.write(self.style.WARNING(f"Warning: {warning}"))
        lines = [*_list_sentences("Covered:", COVERED), *_list_sentences("Not covered:", NOT_COVERED)]
        self.stdout.write("\n".join(lines))


def _list_sentences(title: str, sentences: Sequence[str]) -> list[str]:
    return [title, *(f"  - {sentence}" for sentence in sentences)]
