from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convengine.engine.clarification.agent_answer import read_answer
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.session import Clarification, Session
from tests.builders import CONVERSATION, make_intent, make_schema, make_snapshot, make_turn, stages
from tests.examples import count_examples
from tests.fakes.models import AnsweringModel

SNAPSHOT = make_snapshot(
    make_intent("ORDER"), make_intent("FAQ"), make_intent("BILLING"), make_schema("ORDER", {"colour": {}})
)
CLOSING = {
    "INTENT_RESOLVE_NO_CHANGE",
    "INTENT_RESOLVE_NEEDS_CLARIFICATION",
    "INTENT_RESOLVED_BY_AGENT",
}
KEYS = (
    "intent", "state", "confidence", "needsClarification", "clarificationResolved", "clarificationQuestion",
    "intentScores", "intent_scores", "followups", "follow_ups",
)  # fmt: skip
WORDS = st.sampled_from(["FAQ", "order", " billing ", "HACK", "IDLE", "INTENT_COLLISION", "", "0.9", "true", "Which?"])
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.floats(0, 1), st.floats(allow_nan=False), WORDS, st.text()
)
SCORE = st.dictionaries(st.sampled_from(["intent", "code", "confidence", "score"]), SCALARS)
VALUES = st.one_of(SCALARS, st.lists(st.one_of(SCALARS, SCORE), max_size=4), st.dictionaries(WORDS, SCALARS))
ANSWERS = st.dictionaries(st.sampled_from(KEYS), VALUES)


@pytest.mark.parametrize(
    ("raw_scores", "scores"),
    [
        ([{"code": "faq", "score": "0.4"}, {"intent": "BILLING", "confidence": 2}], [("BILLING", 1.0), ("FAQ", 0.4)]),
        ({"FAQ": 0.4, "ORDER": 0.4}, [("FAQ", 0.4), ("ORDER", 0.4)]),
        ([{"intent": "FAQ"}, "FAQ", None, {"intent": "HACK", "confidence": 1}], []),
        ("FAQ", []),
    ],
)
def test_scores_are_of_allowed_intents_the_best_first(raw_scores: Any, scores: list[tuple[str, float]]) -> None:
    assert list(read_answer({"intentScores": raw_scores}, SNAPSHOT).scores) == scores


def test_a_missing_confidence_is_that_of_the_intent() -> None:
    assert read_answer({"intent": "FAQ", "intentScores": {"BILLING": 0.9, "FAQ": 0.3}}, SNAPSHOT).confidence == 0.3
    assert read_answer({"intent": "FAQ"}, SNAPSHOT).confidence == 0.0


def test_one_follow_up_may_stand_alone() -> None:
    assert read_answer({"follow_ups": " Which? "}, SNAPSHOT).followups == ("Which?",)
    assert read_answer({"followups": ["A?", "", 5, "B?"]}, SNAPSHOT).followups == ("A?", "B?")


@given(ANSWERS, st.booleans())
@settings(max_examples=count_examples(300))
def test_whatever_a_model_says_the_turn_goes_on_in_a_state_that_makes_sense(
    answer: dict[str, Any], is_asked: bool
) -> None:
    question = Clarification("Faq or billing?", "AGENT", from_previous_turn=True) if is_asked else None
    state = "INTENT_COLLISION" if is_asked else "IDLE"
    turn = make_turn(SNAPSHOT, text="well", model=AnsweringModel([dumps(answer)]))
    session = Session(CONVERSATION, user_text="well", intent="FAQ", state=state, clarification=question)

    after = IntentResolutionStep().execute(session, turn).session

    assert len([stage for stage in stages(turn) if stage in CLOSING]) == 1
    assert after.intent in ("ORDER", "FAQ", "BILLING", "UNKNOWN")
    assert after.state in ("IDLE", "UNKNOWN", "INTENT_COLLISION")
    assert after.state != "INTENT_COLLISION" or after.clarification is not None
    assert all(0 <= score["confidence"] <= 1 for score in after.input_params["intent_scores"])
