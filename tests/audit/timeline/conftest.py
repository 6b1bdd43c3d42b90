"""Somebody who reads past turns, and conversations to read."""

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from convengine.server.sessions.models import CeConversation
from tests.record import entry, store_turn
from tests.sign_in import sign_in

BEGAN = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def reader(db: None) -> Client:
    """A member of the quality assurance, signed in."""
    return sign_in("quinn", "qa")


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
    for number in range(1, turns + 1):
        entries = [entry(seq, stage, payload) for seq, (stage, payload) in enumerate(_EVENTS, start=1)]
        entries[-1]["rows"] = [["ce_rule", str(pk), "RULE"] for pk in (7, 8)]
        store_turn(
            row, entries, BEGAN + timedelta(minutes=number), turn_no=number, user_input=f"text {number}",
            duration_ms=number, assistant_output={"type": "TEXT", "value": f"answer {number}"}, intent_code="FAQ",
            state_code="IDLE",
        )  # fmt: skip
    return row


_EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("STEP_ENTER", {"step": "AuditUserInputStep"}),
    ("USER_INPUT", {"text": "hm"}),
    ("STEP_EXIT", {}),
    ("SESSION_LIFECYCLE", {"from": "RUNNING", "to": "AWAITING_USER", "reason": "question"}),
]
