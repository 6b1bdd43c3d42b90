"""Turns as they stand in the tables, for tests of finding them."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from audit.models import CeMcpUserFeedback
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.record import call, entry, store_turn

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


def conversation(**values: Any) -> CeConversation:
    """A session; of the plain turn API unless a participant is named."""
    key = uuid.uuid4()
    usual = {"remote_jid": str(key), "channel": "sms" if "remote_jid" in values else "api", "lifecycle": "COMPLETE"}
    return CeConversation.objects.create(conversation_id=key, **usual | values)


def turn(number: int = 0, of: CeConversation | None = None, **values: Any) -> CeConversationHistory:
    """A turn that began `number` minutes after the first; with `stages`, `rows`, `costs` and who `rated` beside it."""
    stages, rows, costs, rated = (values.pop(name, ()) for name in ("stages", "rows", "costs", "rated"))
    session = of or conversation()
    at = BEGIN + timedelta(minutes=number)
    usual = {"turn_no": session.turns.count() + 1, "created_at": at, "config_version": 1, "user_input": "hello"}
    answer = {"assistant_output": {"type": "TEXT", "value": "good day"}}
    decided = {"rows": [[table, pk, "RULE"] for table, pk in rows]} if rows else {}
    asked = {"calls": [call(no=no, cost=float(cost)) for no, cost in enumerate(costs, start=1)]} if costs else {}
    entries = [entry(seq, stage) for seq, stage in enumerate(stages, start=1)] or [entry(1, "USER_INPUT")]
    entries[-1] |= decided | asked
    made = store_turn(session, entries, **usual | answer | values)
    place = {"turn_id": made.turn_id, "turn_no": made.turn_no, "created_at": at}
    CeMcpUserFeedback.objects.bulk_create(
        CeMcpUserFeedback(conversation=session, feedback_type=kind, author=f"somebody {who}", **place)
        for who, kind in enumerate(rated)
    )
    return made
