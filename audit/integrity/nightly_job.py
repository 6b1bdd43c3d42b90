"""The nightly job that verifies the record."""

from collections.abc import Iterator

from audit.integrity import verify
from convengine.engine.turn.job import Counts, Job, Nightly

#: Maximum findings in the message.
_NAMED = 20


class NotIntact(Exception):
    """The record was changed; the message says where."""


def verify_record() -> Iterator[Counts]:
    """Verify everything, part by part. Raises NotIntact at the end if there is any finding."""
    whole = verify.VerificationReport()
    for report in verify.verify_range():
        whole.merge(report)
        yield {"turns": report.turns, "conversations": report.conversations, "damaged": report.damaged}
    other = verify.verify_other_tables()
    whole.merge(other)
    yield {"damaged": other.damaged}
    if not whole.intact:
        named = "\n".join(str(finding) for finding in whole.findings[:_NAMED])
        raise NotIntact(f"{whole.summary()}\n{named}")


JOB = Job(
    "verify_record",
    "Verify the audit trail",
    (
        "Compares every turn with its seal, every seal with the previous one, and releases, row history, logs and the "
        "ledger with theirs. A run with findings fails and lists them."
    ),
    Nightly(4),
    verify_record,
)
