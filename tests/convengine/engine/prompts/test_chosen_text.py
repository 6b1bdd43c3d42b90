"""One of several texts is chosen for each conversation, and the record says which."""

import uuid

import pytest

from audit.narration import narrate_turn
from audit.record.events import expand_events
from audit.record.queries import read_turns
from audit.replay.replay import find_replay_difference
from config_admin.models import CeResponse
from config_admin.releases.change_set import change_set
from convengine.engine.text.several_texts import OR
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db

TEXTS = ["No fees, {{ name }}.", "It is free of charge.", "Nothing at all."]


def test_a_conversation_keeps_its_text_and_others_get_others() -> None:
    create_help_desk()
    answer = CeResponse.objects.get(intent_code="FEES")
    with change_set(reason="several texts"):
        answer.exact_text = OR.join(TEXTS)
        answer.save()
    secret, said = make_key(), set()
    for number in range(12):
        caller = Caller(secret, str(uuid.UUID(int=number)))
        first, second = (caller.say("fees", inputParams={"name": "Al"})["payload"]["value"] for _ in range(2))
        assert first == second
        said.add(first)
        chosen = TEXTS.index(first.replace("Al", "{{ name }}")) + 1
        events = list(expand_events(read_turns(uuid.UUID(caller.conversation_id), [1])))
        sentences = [sentence.text for sentence in narrate_turn(events)]
        assert f"Chose text {chosen} of 3 of answer {answer.pk}." in sentences
    assert said == {"No fees, Al.", *TEXTS[1:]}
    assert find_replay_difference(CeConversationHistory.objects.filter(turn_no=2).latest("created_at")) is None
