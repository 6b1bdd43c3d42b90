from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.rules.explain import explain
from convengine.engine.steps.intents.classifiers import find_intents
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.turn.codec import dumps, loads
from convengine.engine.turn.recording import Playback, Recording, Reuse, Tape, TapedDecisions
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.phrases import book, models
from convengine.engine.understanding.phrases.recorded import match_in_turn
from tests.builders import (
    make_classifier,
    make_config,
    make_intent,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

INTENTS = (make_intent("REFUND"), make_intent("CANCEL"), make_intent("TRACK"))


def run(*rows: Row, text: str | None = "pay me back please", **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*INTENTS, *rows), text=text)
    session = make_session(user_text=text, **fields)
    return IntentResolutionStep().execute(session, turn).session, turn


MONEY_BACK = make_classifier("REFUND", "I want my money back", rule_type="PHRASE", classifier_id=21)
CALL_OFF = make_classifier("CANCEL", "call off my order", rule_type="PHRASE", classifier_id=22)
WHERE = make_classifier("TRACK", "where is my order", rule_type="PHRASE", classifier_id=23)


def test_a_phrase_decides_by_the_classifier_and_the_event_has_its_figures() -> None:
    session, turn = run(MONEY_BACK, CALL_OFF, WHERE, text="call off my whole order")

    assert (session.intent, session.intent_source) == ("CANCEL", "CLASSIFIER")
    matched = payload(turn, "INTENT_CLASSIFICATION_MATCHED")
    assert matched["matchedByRule"] == {"22": "CANCEL"}
    assert 0.5 <= matched["score"] < 1
    assert matched["runnerUpScore"] < matched["score"]
    decision = payload(turn, "DECISION")
    assert (decision["winner"], decision["key"]["phrases"]) == (22, "PHRASE_NOT_BEST")
    won, *lost = decision["candidates"]
    (operands,) = won["operands"]
    assert (operands["phrase"], operands["score"], operands["minScore"]) == (
        "call off my order",
        matched["score"],
        max(0.5, round(matched["score"] - 0.05, 3)),
    )
    assert 0 < operands["likeness"] < 1
    assert {candidate["reason"] for candidate in lost} == {"BELOW_MIN_SCORE"}


def test_a_message_that_is_a_phrase_needs_no_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "get_classifier", None)
    monkeypatch.setattr(book, "get_classifier", None)
    session, turn = run(MONEY_BACK, CALL_OFF, WHERE, text="please call off my order!")

    assert session.intent == "CANCEL"
    assert payload(turn, "INTENT_CLASSIFICATION_MATCHED")["score"] == 1


NAMED = tuple(replace(intent, display_name=f"{intent.intent_code.title()} an order") for intent in INTENTS)
#: Nothing is sure, and everything that is ranked is near.
UNSURE = (make_config("Phrases/MIN_CONFIDENCE", "0.999"), make_config("Phrases/MIN_NEAR", "0.01"))


def ask(text: str, *rows: Row, **fields: Any) -> Session:
    turn = make_turn(make_snapshot(*NAMED, *UNSURE, *rows), text=text)
    return IntentResolutionStep().execute(make_session(user_text=text, **fields), turn).session


def test_where_nothing_is_sure_the_user_is_asked_about_what_is_near() -> None:
    session = ask("call off my whole order", MONEY_BACK, CALL_OFF, WHERE)

    assert session.clarification is not None
    assert session.clarification.question.startswith("Do you mean Cancel an order")
    assert 1 <= len(session.clarification.options) <= 3
    assert session.state == "INTENT_COLLISION"


def test_an_intent_without_a_name_is_not_asked_about_and_courtesies_are_no_intent() -> None:
    nameless = [replace(intent, display_name=None) for intent in NAMED]

    assert ask("thank you very much", MONEY_BACK, CALL_OFF).clarification is None
    turn = make_turn(make_snapshot(*nameless, *UNSURE, CALL_OFF), text="please stop my order")
    asked = IntentResolutionStep().execute(make_session(user_text="please stop my order"), turn).session
    assert asked.clarification is None


def test_a_yes_chooses_the_only_intent_that_was_asked_about() -> None:
    only = {"intent": "CANCEL", "state": "IDLE", "label": "Cancel an order", "classifierId": 22}
    question = Clarification("Do you mean Cancel an order?", "CLASSIFIER", (only,), from_previous_turn=True)

    chosen = ask("yes please", MONEY_BACK, CALL_OFF, clarification=question, state="INTENT_COLLISION")
    assert chosen.intent == "CANCEL"
    assert ask("no", CALL_OFF, clarification=question, state="INTENT_COLLISION").intent != "CANCEL"


LENIENT = make_config("Phrases/MIN_CONFIDENCE", "0.01")
NOT_HUNGRY = make_classifier("TRACK", "not really hungry", rule_type="PHRASE", classifier_id=26)
HEARS_BADLY = make_classifier("REFUND", "I can't hear my hearing aid", rule_type="PHRASE", classifier_id=24)


@pytest.mark.parametrize("text", ["can you hear me??", "Hello, is anyone there?", "hallo, hört mich jemand"])
def test_who_only_asks_whether_somebody_is_there_means_no_intent(text: str) -> None:
    session, _ = run(HEARS_BADLY, text=text)

    assert session.intent_source != "CLASSIFIER"


def test_a_phrase_that_is_a_greeting_still_counts() -> None:
    session, _ = run(make_classifier("TRACK", "hello", rule_type="PHRASE", classifier_id=25), text="hello")

    assert session.intent == "TRACK"


@pytest.mark.parametrize(("cause", "intent"), [("RULE", "CANCEL"), ("USER", "TRACK")])
def test_a_no_that_a_rule_has_answered_comes_near_to_no_phrase(cause: str, intent: str) -> None:
    turn = make_turn(make_snapshot(*INTENTS, NOT_HUNGRY, CALL_OFF, LENIENT), text="not really")
    session = make_session(user_text="not really", intent="CANCEL").move_to(intent="CANCEL", state="NO", cause=cause)

    assert IntentResolutionStep().execute(session, turn).session.intent == intent


def test_two_intents_within_the_margin_collide() -> None:
    wide = (make_config("Phrases/MIN_CONFIDENCE", "0.01"), make_config("Phrases/MARGIN", "1"))
    session, turn = run(MONEY_BACK, CALL_OFF, *wide, text="my order")

    assert sorted(payload(turn, "INTENT_CLASSIFIER_COLLISION")["matchedIntents"]) == ["CANCEL", "REFUND"]
    assert session.clarification is not None


def test_patterns_come_before_phrases_unless_the_order_says_otherwise() -> None:
    pattern = make_classifier("TRACK", "order", classifier_id=9)
    first = make_config("Classifier/ORDER", "PHRASE, EXACT")

    assert run(CALL_OFF, pattern, text="call off my order")[0].intent == "TRACK"
    session, turn = run(CALL_OFF, pattern, first, text="call off my order")
    assert session.intent == "CANCEL"
    assert payload(turn, "DECISION")["key"]["untried"] == ["EXACT", "STARTS_WITH", "REGEX", "CONTAINS"]
    together = make_config("Classifier/ORDER", "PHRASE + CONTAINS")
    assert run(CALL_OFF, pattern, together, text="call off my order")[0].clarification is not None


def test_an_order_that_cannot_be_read_is_the_usual_one() -> None:
    twice = make_config("Classifier/ORDER", "PHRASE, PHRASE")
    session, turn = run(CALL_OFF, twice, text="call off my order")

    assert session.intent == "CANCEL"
    assert "CONFIG_VALUE_INVALID" in stages(turn)


@pytest.mark.parametrize("text", ["call off my order", "order", "pizza", " "])
@pytest.mark.parametrize("order", ["PHRASE, REGEX", "CONTAINS, PHRASE"])
def test_what_a_reader_derives_of_phrases_is_what_was_counted(text: str, order: str) -> None:
    rows = (
        MONEY_BACK, CALL_OFF, WHERE, make_classifier("TRACK", "pizza", classifier_id=9),
        make_classifier("TRACK", "(", rule_type="REGEX", classifier_id=10),
    )  # fmt: skip
    _, turn = run(*rows, make_config("Classifier/ORDER", order), text=text)
    decision = payload(turn, "DECISION")

    derived = Counter(one.reason for one in explain(turn.snapshot, decision, text) if one.derived)
    assert derived == Counter(decision["cut"])


def test_what_a_message_means_is_recorded_and_replayed_without_a_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot, text, tape = make_snapshot(*INTENTS, MONEY_BACK, CALL_OFF, WHERE), "please stop my order", Recording()
    live = match_in_turn(make_turn(snapshot, text=text, learned=TapedDecisions(tape, "encoder 1")), text)
    monkeypatch.setattr(book, "get_classifier", None)
    played = Playback(loads(dumps(tape.entries).encode()))
    again = match_in_turn(make_turn(snapshot, text=text, learned=TapedDecisions(played, "encoder 2")), text)

    assert live == again
    assert live.hits[0].intent == "CANCEL"
    assert played.unasked == []


def test_a_turn_says_that_its_classifier_was_still_being_made_and_so_does_its_replay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(models, "_models", models._Models())
    monkeypatch.setattr(models, "_MOST_AT_ONCE", 2)
    snapshot, text, tape = make_snapshot(*INTENTS, MONEY_BACK, CALL_OFF, WHERE), "please stop my order", Recording()

    def take(tape: Tape) -> Turn:
        turn = make_turn(snapshot, text=text, learned=TapedDecisions(tape, "encoder 1"))
        IntentResolutionStep().execute(make_session(user_text=text), turn)
        return turn

    with models.choose_making(models.Making.PREVIEW):
        turn = take(tape)
    monkeypatch.setattr(book, "get_classifier", None)
    again = take(Playback(loads(dumps(tape.entries).encode())))

    assert payload(turn, "INTENT_CLASSIFIER_SUBSTITUTED") == {"reason": "BEING_MADE"}
    assert stages(turn) == stages(again)
    assert "INTENT_CLASSIFIER_SUBSTITUTED" not in stages(run(MONEY_BACK, CALL_OFF, WHERE, text="call off my order")[1])


def test_another_configuration_asks_its_own_classifier() -> None:
    text, tape = "call the order off", Recording()
    match_in_turn(make_turn(make_snapshot(*INTENTS, CALL_OFF), learned=TapedDecisions(tape, "encoder 1")), text)
    moved = make_snapshot(*INTENTS, replace(CALL_OFF, intent_code="TRACK"))

    found = match_in_turn(make_turn(moved, learned=TapedDecisions(Reuse(tape.entries), "encoder 1")), text)
    assert found.hits[0].intent == "TRACK"


def test_what_a_message_means_is_found_as_the_step_finds_it_without_a_turn() -> None:
    phrases = [
        make_classifier("REFUND", "my money back", rule_type="PHRASE", classifier_id=1),
        make_classifier("CANCEL", "cancel my order", rule_type="PHRASE", classifier_id=2),
        make_classifier("TRACK", "order", rule_type="CONTAINS", classifier_id=3, priority=9),
    ]
    for text in ("I want my money back", "cancel my order", "my money back, or cancel the order", "hello", "", None):
        for settings in ((), (make_config("ClassifierIntentResolver/ORDER", "PHRASE, CONTAINS"),)):
            session, _ = run(*phrases, *settings, text=text)
            asked = tuple(option["intent"] for option in session.clarification.options) if session.clarification else ()
            means = asked or ((session.intent,) if session.intent not in (None, "UNKNOWN") else ())
            assert find_intents(make_snapshot(*INTENTS, *phrases, *settings), text) == means


def test_where_priorities_decide_nobody_is_asked() -> None:
    both = [
        make_classifier("REFUND", "order", rule_type="CONTAINS", classifier_id=1, priority=1),
        make_classifier("CANCEL", "order", rule_type="CONTAINS", classifier_id=2, priority=2),
    ]
    decides = make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true")
    assert find_intents(make_snapshot(*INTENTS, *both), "my order") == ("REFUND", "CANCEL")
    assert find_intents(make_snapshot(*INTENTS, *both, decides), "my order") == ("REFUND",)


def on_channel(text: str, *rows: Row, channel: str = "shop", value: str = "CANCEL, TRACK") -> tuple[Session, Turn]:
    limit = make_config("Channel/INTENTS.shop", value)
    turn = make_turn(make_snapshot(*INTENTS, MONEY_BACK, CALL_OFF, WHERE, limit, *rows), text=text)
    turn = replace(turn, request=replace(turn.request, channel=channel))
    return IntentResolutionStep().execute(make_session(user_text=text), turn).session, turn


def test_a_channel_has_only_the_intents_of_its_setting_and_says_what_it_does_not_have() -> None:
    session, turn = on_channel("call off my whole order")
    assert session.intent == "CANCEL"

    session, turn = on_channel("I want my money back now")
    assert session.intent == "UNKNOWN"
    decision = payload(turn, "DECISION")
    assert [(each["id"], each["reason"]) for each in decision["candidates"] if each["id"] == 21] == [
        (21, "INTENT_NOT_IN_CHANNEL")
    ]
    derived = Counter(one.reason for one in explain(turn.snapshot, decision, None) if one.derived)
    assert derived == Counter(decision["cut"])

    session, _ = on_channel("I want my money back now", channel="other")
    assert session.intent == "REFUND"


def test_a_channel_has_the_questions_of_its_flows_and_the_way_to_a_person() -> None:
    question = make_intent("TRACK_Q1", returns=True)
    asked = make_classifier("TRACK_Q1", "how long does delivery take", rule_type="PHRASE", classifier_id=24)
    person = make_intent("DESK")
    handing = make_classifier("DESK", "give me a human", rule_type="PHRASE", classifier_id=25, state_code="HAND_OVER")

    _, turn = on_channel("hello", question, asked, person, handing, value="TRACK")
    assert turn.snapshot.active_intents == {"ANY", "UNKNOWN", "TRACK", "TRACK_Q1", "DESK"}
    assert replace(turn).snapshot is turn.snapshot
    assert turn.snapshot.whole.active_intents > turn.snapshot.active_intents
