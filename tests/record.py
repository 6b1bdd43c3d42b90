"""The record of turns as readers see it: with the events that are no rows."""

from typing import Any

from audit.models import CeAudit
from audit.record.elision import restore_elided_events


def events(**wanted: Any) -> list[CeAudit]:
    """The events of all turns that fit, whole turns only, in order."""
    found = CeAudit.objects.filter(turn_no__isnull=False, **wanted)
    return list(restore_elided_events(found.order_by("conversation_id", "turn_no", "seq")))
