"""The task of a rule gets one key for all attempts of a turn, and another one for another message or turn."""

import uuid
from dataclasses import replace
from typing import Any

import pytest

from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from convengine.engine.errors import ConversationPersistFailed
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.turns import take_turn as module
from convengine.server.turns.take_turn import take_turn

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def test_an_attempt_that_is_not_committed_is_repeated_under_the_same_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    CeIntent.objects.create(intent_code="BUY")
    CeIntentClassifier.objects.create(intent_code="BUY", state_code="IDLE", rule_type="CONTAINS", pattern="buy")
    CeResponse.objects.create(intent_code="BUY", state_code="ANY", response_type="EXACT", exact_text="Thank you.")
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="BUY", state_code="ANY", rule_type="EXACT",
        match_pattern="ANY", action="SET_TASK", action_value="till:ring,print",
    )  # fmt: skip
    keys: list[str | None] = []
    registry = Registry()
    methods = dict.fromkeys(("ring", "print"), lambda call: keys.append(call.idempotency_key))
    registry.add_task("till", TaskEntry(methods, returns_none=True))
    turn = TurnRequest(str(uuid.uuid4()), "I buy it")
    with wiring.replace_outside_world(wiring.OutsideWorld(registry=registry)):
        take_turn(turn)
        with monkeypatch.context() as broken:
            broken.setattr(module, "commit_turn", lose_the_database)
            with pytest.raises(ConversationPersistFailed):
                take_turn(turn)
            with pytest.raises(ConversationPersistFailed):
                take_turn(replace(turn, message="I buy two"))
        take_turn(turn)
        take_turn(turn)

    first, lost, other, repeated, last = ({keys[number], keys[number + 1]} for number in range(0, 10, 2))
    assert lost == repeated
    assert len(first | repeated | other | last) == 8


def lose_the_database(*arguments: Any) -> None:
    raise ConversationPersistFailed()
