from collections import Counter
from typing import Any

import pytest

from convengine.engine.rules.explain import explain, find_row_fault
from convengine.engine.steps.intents.classifiers import find_intents
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.turn.codec import loads
from convengine.engine.turn.recording import Playback, Recording, TapedLikeness
from convengine.engine.turn.rows import Classifier, Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
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
from tests.fakes.ports import FixedLikeness

INTENTS = (make_intent("REFUND"), make_intent("CANCEL"), make_intent("TRACK"))


def like(intent: str, *examples: str, **values: Any) -> Classifier:
    return make_classifier(intent, "\n".join(examples), rule_type="SEMANTIC", **values)


REFUND = like("REFUND", "I want my money back", "  ", " give me a refund ", classifier_id=1)
CANCEL = like("CANCEL", "call off the order", classifier_id=2)
TRACK = like("TRACK", "where is my parcel", classifier_id=3)


def run(
    scores: dict[str, float] | None, *rows: Row, text: str | None = "pay me back please", **fields: Any
) -> tuple[Session, Turn, FixedLikeness]:
    port = FixedLikeness(scores)
    turn = make_turn(make_snapshot(*INTENTS, *rows), text=text, likeness=port)
    session = make_session(user_text=text, **fields)
    return IntentResolutionStep().execute(session, turn).session, turn, port


def test_a_text_means_what_the_most_alike_example_means() -> None:
    session, turn, port = run({"give me a refund": 0.8, "call off the order": 0.3}, REFUND, CANCEL)

    assert (session.intent, session.intent_source) == ("REFUND", "CLASSIFIER")
    assert payload(turn, "INTENT_CLASSIFICATION_MATCHED")["matchedByRule"] == {"1": "REFUND"}
    assert port.calls == [("pay me back please", 3)]
    event = payload(turn, "DECISION")
    assert event["winner"] == 1
    assert event["candidates"] == [
        {"id": 1, "matched": True, "operands": [{"example": "give me a refund", "score": 0.8, "minScore": 0.7}]},
        {
            "id": 2,
            "matched": False,
            "reason": "BELOW_MIN_SCORE",
            "operands": [{"example": "call off the order", "score": 0.3, "minScore": 0.7}],
        },
    ]


def test_a_likeness_below_the_bound_is_none() -> None:
    session, turn, _ = run({"give me a refund": 0.49}, REFUND)

    assert session.intent == "UNKNOWN"
    assert "INTENT_CLASSIFIER_NO_MATCH" in stages(turn)
    assert run({"give me a refund": 0.5}, REFUND)[0].intent == "REFUND"
    bound = make_config("ClassifierIntentResolver/SEMANTIC_MIN_SCORE", "0.4")
    assert run({"give me a refund": 0.49}, REFUND, bound)[0].intent == "REFUND"


def test_two_intents_too_close_to_call_collide() -> None:
    close = {"give me a refund": 0.7, "call off the order": 0.6, "where is my parcel": 0.59}
    session, turn, _ = run(close, REFUND, CANCEL, TRACK)

    assert payload(turn, "INTENT_CLASSIFIER_COLLISION")["matchedIntents"] == ["REFUND", "CANCEL"]
    assert session.clarification is not None
    assert session.clarification.question == "Do you mean Refund or Cancel?"
    narrow = make_config("ClassifierIntentResolver/SEMANTIC_GAP_THRESHOLD", "0.05")
    assert run(close, REFUND, CANCEL, TRACK, narrow)[0].intent == "REFUND"


def test_a_pattern_that_hits_is_not_disputed() -> None:
    pattern = make_classifier("TRACK", "pay", classifier_id=9)
    session, turn, port = run({"give me a refund": 1.0}, REFUND, pattern)

    assert session.intent == "TRACK"
    assert port.calls == []
    assert payload(turn, "DECISION")["cut"] == {"NOT_ASKED": 1}


def test_without_the_extra_a_row_says_why_it_is_inactive() -> None:
    session, turn, _ = run(None, REFUND)

    event = payload(turn, "CONFIG_ROW_INVALID")
    assert (event["rowId"], event["field"], event["reason"]) == (1, "rule_type", "not installed")
    assert "convengine[semantic]" in event["remedy"]
    assert payload(turn, "DECISION")["cut"] == {"SEMANTIC_UNAVAILABLE": 1}
    assert session.intent == "UNKNOWN"


def test_without_such_rows_or_words_nothing_is_compared() -> None:
    for rows, text in ((), "hello"), ((REFUND,), " "), ((REFUND,), None):
        assert run({}, *rows, text=text)[2].calls == []


def test_a_row_of_blank_lines_is_never_alike() -> None:
    assert run({"": 1.0}, like("REFUND", " ", ""), CANCEL)[0].intent == "UNKNOWN"


def test_the_restated_message_is_compared_where_that_is_wanted() -> None:
    on = make_config("ClassifierIntentResolver/USE_STANDALONE_QUERY", "true")
    _, _, port = run({}, REFUND, on, text="and that", standalone_query="a refund for order 5")

    assert [text for text, _ in port.calls] == ["and that", "a refund for order 5"]


MONEY_BACK = make_classifier("REFUND", "I want my money back", rule_type="PHRASE", classifier_id=21)
CALL_OFF = make_classifier("CANCEL", "call off my order", rule_type="PHRASE", classifier_id=22)
WHERE = make_classifier("TRACK", "where is my order", rule_type="PHRASE", classifier_id=23)


def test_a_phrase_decides_by_its_telling_words_and_the_event_names_them() -> None:
    session, turn, port = run({}, MONEY_BACK, CALL_OFF, WHERE, REFUND, text="please call off the order")

    assert (session.intent, session.intent_source) == ("CANCEL", "CLASSIFIER")
    matched = payload(turn, "INTENT_CLASSIFICATION_MATCHED")
    assert matched["matchedByRule"] == {"22": "CANCEL"}
    assert matched["words"] == ["call", "order"]
    assert (matched["score"], matched["runnerUp"]) == (1.0, "TRACK")
    decision = payload(turn, "DECISION")
    assert (decision["winner"], decision["key"]["phrases"]) == (22, "PHRASE_NOT_BEST")
    won, lost = decision["candidates"]
    assert won["operands"][0]["phrase"] == "call off my order"
    assert list(won["operands"][0]["words"]) == ["call", "order"]
    assert (lost["id"], lost["reason"], lost["operands"][0]["otherWords"]) == (23, "BELOW_MIN_SCORE", ["call"])
    assert decision["cut"] == {"PHRASE_NOT_BEST": 1, "NOT_ASKED": 1}
    assert port.calls == []


HEARS_BADLY = make_classifier("REFUND", "I can't hear my hearing aid", rule_type="PHRASE", classifier_id=24)


@pytest.mark.parametrize("text", ["can you hear me??", "Hello, is anyone there?", "hallo, hört mich jemand"])
def test_who_only_asks_whether_somebody_is_there_means_no_intent(text: str) -> None:
    session, *_ = run({}, HEARS_BADLY, text=text)

    assert session.intent_source != "CLASSIFIER"


def test_a_phrase_that_is_a_greeting_still_counts() -> None:
    session, *_ = run({}, make_classifier("TRACK", "hello", rule_type="PHRASE", classifier_id=25), text="hello")

    assert session.intent == "TRACK"


def test_two_intents_within_the_margin_collide() -> None:
    low = make_config("Phrases/MIN_SCORE", "0.1")
    track = make_classifier("TRACK", "track down my order", rule_type="PHRASE", classifier_id=23)
    session, turn, _ = run({}, MONEY_BACK, CALL_OFF, track, low, text="order")

    assert payload(turn, "INTENT_CLASSIFIER_COLLISION")["matchedIntents"] == ["CANCEL", "TRACK"]
    assert session.clarification is not None


def test_patterns_come_before_phrases_unless_the_order_says_otherwise() -> None:
    pattern = make_classifier("TRACK", "order", classifier_id=9)
    first = make_config("Classifier/ORDER", "PHRASE, EXACT")

    assert run({}, CALL_OFF, pattern, text="call off my order")[0].intent == "TRACK"
    session, turn, _ = run({}, CALL_OFF, pattern, first, text="call off my order")
    assert session.intent == "CANCEL"
    assert payload(turn, "DECISION")["key"]["untried"] == ["EXACT", "STARTS_WITH", "REGEX", "CONTAINS"]
    together = make_config("Classifier/ORDER", "PHRASE + CONTAINS")
    assert run({}, CALL_OFF, pattern, together, text="call off my order")[0].clarification is not None


def test_an_order_that_cannot_be_read_is_the_usual_one() -> None:
    twice = make_config("Classifier/ORDER", "PHRASE, PHRASE")
    session, turn, _ = run({}, CALL_OFF, twice, text="call off my order")

    assert session.intent == "CANCEL"
    assert "CONFIG_VALUE_INVALID" in stages(turn)


def test_below_the_minimum_no_phrase_claims_anything_and_examples_follow() -> None:
    session, _, port = run({"give me a refund": 0.9}, CALL_OFF, REFUND, text="a pizza and a cola to order please")

    assert session.intent == "REFUND"
    assert len(port.calls) == 1


@pytest.mark.parametrize("text", ["call off my order", "order", "pizza", " "])
@pytest.mark.parametrize("order", ["PHRASE, REGEX", "CONTAINS, PHRASE", "SEMANTIC, PHRASE"])
def test_what_a_reader_derives_of_phrases_is_what_was_counted(text: str, order: str) -> None:
    rows = (
        MONEY_BACK, CALL_OFF, WHERE, REFUND, make_classifier("TRACK", "pizza", classifier_id=9),
        make_classifier("TRACK", "(", rule_type="REGEX", classifier_id=10),
    )  # fmt: skip
    _, turn, _ = run({}, *rows, make_config("Classifier/ORDER", order), text=text)
    decision = payload(turn, "DECISION")

    derived = Counter(one.reason for one in explain(turn.snapshot, decision, text) if one.derived)
    assert derived == Counter(decision["cut"])


@pytest.mark.parametrize("scores", [None, {"give me a refund": 0.8}, {"give me a refund": 0.2}])
def test_what_a_reader_derives_is_what_was_counted(scores: dict[str, float] | None) -> None:
    many = [like("TRACK", f"example {number}", classifier_id=10 + number) for number in range(8)]
    for rows in ([REFUND, CANCEL, *many], [REFUND, make_classifier("TRACK", "pay", classifier_id=9), *many]):
        _, turn, _ = run(scores, *rows)
        decision = payload(turn, "DECISION")

        derived = Counter(row.reason for row in explain(turn.snapshot, decision, "pay me back please") if row.derived)
        assert derived == Counter(decision["cut"])


def test_a_row_of_examples_is_no_broken_pattern() -> None:
    assert find_row_fault(make_snapshot(*INTENTS, REFUND), REFUND) is None


def test_a_comparison_is_made_once_and_replayed() -> None:
    port, tape = FixedLikeness({"b": 0.25}), Recording()
    live = TapedLikeness(port, tape).likeness("a", ["b", "c"])
    again = TapedLikeness(FixedLikeness(), Playback(loads(_dump(tape)))).likeness("a", ["b", "c"])

    assert live == again
    assert (live.scores, len(port.calls)) == ((0.25, 0.0), 1)


def _dump(tape: Recording) -> bytes:
    from convengine.engine.turn.codec import dumps

    return dumps(tape.entries).encode()


def test_what_a_message_means_is_found_as_the_step_finds_it_without_a_turn() -> None:
    phrases = [
        make_classifier("REFUND", "my money back", rule_type="PHRASE", classifier_id=1),
        make_classifier("CANCEL", "cancel my order", rule_type="PHRASE", classifier_id=2),
        make_classifier("TRACK", "order", rule_type="CONTAINS", classifier_id=3, priority=9),
    ]
    for text in ("I want my money back", "cancel my order", "my money back, or cancel the order", "hello", "", None):
        for settings in ((), (make_config("ClassifierIntentResolver/ORDER", "PHRASE, CONTAINS"),)):
            session, _, _ = run(None, *phrases, *settings, text=text)
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
