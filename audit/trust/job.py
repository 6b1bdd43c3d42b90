"""Every night somebody looks whether the record is as it was written."""

from collections.abc import Iterator

from audit.chain import verify
from convengine.domain.job import Counts, Job, Nightly

#: So many findings are named.
_NAMED = 20


class NotIntact(Exception):
    """The record is not as it was written; the message says where."""


def verified() -> Iterator[Counts]:
    """Look at everything, part by part. Raises NotIntact at the end."""
    whole = verify.Report()
    for report in verify.between():
        whole.merge(report)
        yield {"turns": report.turns, "conversations": report.conversations, "damaged": report.damaged}
    if not whole.intact:
        named = "\n".join(str(one) for one in whole.findings[:_NAMED])
        raise NotIntact(f"{whole.sentence()}\n{named}")


JOB = Job(
    "verify_record",
    "Verify the record",
    "Holds every turn against its seal, and every seal against the one before. A run that finds something fails and "
    "names it.",
    Nightly(4),
    verified,
)
