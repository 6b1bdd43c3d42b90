"""Milestones: each condition selects the turns in which something happened."""

import uuid
from typing import Any

import pytest

from audit.models import CeTurnIndex
from audit.record.milestones import CONDITIONS, MODEL_ERROR_STAGES, Milestone
from convengine.server.sessions.models import CeConversation, CeConversationHistory

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def store_turns(*turns: dict[str, Any]) -> list[CeConversationHistory]:
    conversation = CeConversation.objects.create(remote_jid="ada")
    return [
        CeConversationHistory.objects.create(conversation=conversation, turn_no=number, config_version=1, **turn)
        for number, turn in enumerate(turns, start=1)
    ]


def list_turns(milestone: Milestone) -> list[int]:
    turns = CeConversationHistory.objects.filter(CONDITIONS[milestone]).order_by("turn_no")
    return list(turns.values_list("turn_no", flat=True))


def test_a_conversation_begins_and_is_handed_over_once() -> None:
    over = {"state_code": "HAND_OVER"}
    store_turns({}, {**over, "status": "FAILED"}, over, over, {}, over)
    assert list_turns(Milestone.BEGAN) == [1]
    assert list_turns(Milestone.HANDED_OVER) == [3]


def test_a_model_fails_in_the_turn_that_has_its_stage() -> None:
    *_, failed = store_turns({"model_calls": 1}, {"model_calls": 2, "turn_id": uuid.uuid4()})
    for stage in MODEL_ERROR_STAGES[:2]:
        CeTurnIndex.objects.create(turn_id=failed.turn_id, kind=CeTurnIndex.STAGE, value=stage, role="")
    assert list_turns(Milestone.MODEL_FAILED) == [2]
