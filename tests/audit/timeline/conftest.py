"""Somebody who reads past turns, and conversations to read."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from audit.models import CeAudit, CeTurnRow
from convengine.server.sessions.models import CeConversation, CeConversationHistory

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def reader(db: None) -> Client:
    """A member of the quality assurance, signed in."""
    user = User.objects.create_user("quinn", is_staff=True)
    user.groups.add(Group.objects.get(name="qa"))
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def words(reader: Client) -> Callable[[str], str]:
    """What a page says, without its marks."""

    def read(address: str) -> str:
        page = reader.get(address)
        assert page.status_code == 200, page.content.decode()[:500]
        main = page.content.decode().partition('id="main"')[2] or page.content.decode()
        return " ".join(re.sub(r"<[^>]+>", " ", main).replace("&nbsp;", " ").split())

    return read


def long_conversation(turns: int, **given: Any) -> CeConversation:
    """A conversation with so many turns a minute apart, each with a few events and two deciding rows."""
    row = CeConversation.objects.create(
        remote_jid=str(uuid.uuid4()), last_turn_no=turns, turn_count=turns, created_at=BEGAN, **given
    )
    records = CeConversationHistory.objects.bulk_create(
        CeConversationHistory(
            conversation=row, turn_no=number, user_input=f"text {number}", config_version=1, duration_ms=number,
            assistant_output={"type": "TEXT", "value": f"answer {number}"}, intent_code="FAQ", state_code="IDLE",
            created_at=BEGAN + timedelta(minutes=number),
        )
        for number in range(1, turns + 1)
    )  # fmt: skip
    CeTurnRow.objects.bulk_create(
        CeTurnRow(turn_id=turn.turn_id, table_name="ce_rule", row_pk=str(pk), role="RULE")
        for turn in records
        for pk in (7, 8)
    )
    CeAudit.objects.bulk_create(
        CeAudit(
            conversation_id=row.pk, turn_id=turn.turn_id, turn_no=turn.turn_no, seq=seq, stage=stage,
            payload_json=payload, created_at=turn.created_at, config_version=1,
        )
        for turn in records
        for seq, (stage, payload) in enumerate(_EVENTS, start=1)
    )  # fmt: skip
    return row


_EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("STEP_ENTER", {"step": "AuditUserInputStep", "_meta": {}}),
    ("USER_INPUT", {"text": "hm"}),
    ("STEP_EXIT", {}),
    ("SESSION_LIFECYCLE", {"from": "RUNNING", "to": "AWAITING_USER", "reason": "question"}),
]
