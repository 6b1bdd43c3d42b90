"""Verify all conversations, with as many processes as processors."""

import gc
import os
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TYPE_CHECKING

import django

if TYPE_CHECKING:
    # A new process imports this before Django is set up there.
    from audit.integrity.verify import VerificationReport

#: Verifying this many turns takes less time than starting other processes.
_FEW = 5_000
#: Number of parts of the conversations, by their ids, which are spread evenly.
_PARTS = 32


def verify_all(
    workers: int | None = None, say: "Callable[[VerificationReport], None]" = lambda report: None
) -> "VerificationReport":
    """Verify everything. `say` is called with the report so far after each part.

    `workers` is the number of processes. None stands for one for each processor, or a single one for a small record.
    """
    from django.db import connection

    from audit.integrity.verify import VerificationReport, verify_other_tables, verify_range
    from convengine.server.sessions.models import CeConversationHistory

    count = workers or os.cpu_count() or 1
    if workers is None and CeConversationHistory.objects.order_by()[: _FEW + 1].count() <= _FEW:
        count = 1
    report = VerificationReport()
    # Another process sees nothing of an open transaction.
    if count == 1 or connection.in_atomic_block:
        for part in verify_range():
            report.merge(part)
            say(report)
        report.merge(verify_other_tables())
        return report
    name = str(connection.settings_dict["NAME"])
    with ProcessPoolExecutor(
        count - 1, mp_context=get_context("spawn"), initializer=_set_up_process, initargs=(name,)
    ) as pool:
        parts = [pool.submit(_verify_part, part_index) for part_index in range(_PARTS)]
        other = verify_other_tables()
        # This process verifies, too, from the end, while the others still start.
        for part_index in reversed(range(_PARTS)):
            if parts[part_index].cancel():
                report.merge(_verify_part(part_index))
                say(report)
        for done in as_completed(part for part in parts if not part.cancelled()):
            report.merge(done.result())
            say(report)
        report.merge(other)
    return report


def _set_up_process(database: str) -> None:
    """Set up Django in a new process, on the database with this name."""
    # As the other entry points: what is imported is no garbage.
    gc.disable()
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = database
    django.setup()
    gc.enable()


def _verify_part(part_index: int) -> "VerificationReport":
    """Verify the conversations of one part. Runs in any of the processes."""
    from audit.integrity.verify import LAST, VerificationReport, verify_range

    width = 2**128 // _PARTS
    first = uuid.UUID(int=part_index * width - 1) if part_index else None
    last = LAST if part_index == _PARTS - 1 else uuid.UUID(int=(part_index + 1) * width - 1)
    report = VerificationReport()
    for part in verify_range(first, last):
        report.merge(part)
    return report
