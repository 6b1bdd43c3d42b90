"""A question in between is noted, and who asks for a person leaves the form."""

from collections import Counter
from typing import Any

import pytest

from convengine.engine.rules.explain import explain
from convengine.engine.steps.intents.intent_resolution import IntentResolutionStep
from convengine.engine.turn.rows import Row
from convengine.engine.turn.session import Clarification, Digression, ReplyOverride, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_classifier,
    make_config,
    make_intent,
    make_response,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)

INTENTS = (make_intent("ORDER"), make_intent("FAQ", returns=True), make_intent("BILLING"), make_intent("PERSON"))
PARKING = make_classifier("FAQ", "parking", classifier_id=1)
INVOICE = make_classifier("BILLING", "invoice", classifier_id=2)
PERSON = make_classifier("PERSON", "agent", classifier_id=3, state_code="HAND_OVER")
MORE = make_classifier("ORDER", "order", classifier_id=4)
ANSWER = make_response("Behind the house.", intent_code="FAQ", state_code="IDLE")
ROWS = (PARKING, INVOICE, PERSON, MORE, ANSWER)
COLOUR = make_schema("ORDER", {"colour": {"type": "string"}}, state_code="COLLECT")
LOCKED: dict[str, Any] = {"intent": "ORDER", "state": "COLLECT", "intent_locked": True}
OPEN: dict[str, Any] = {"intent": "ORDER", "state": "CONFIRM", "lifecycle": "AWAITING_USER"}
DIGRESSION = Digression("FAQ", "IDLE", 1)


def run(text: str, *rows: Row, intents: tuple[Row, ...] = INTENTS, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*intents, *(rows or ROWS)), text=text)
    session = make_session(user_text=text, **fields)
    return IntentResolutionStep().execute(session, turn).session, turn


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(LOCKED, id="lock"),
        pytest.param({"intent": "ORDER", "state": "COLLECT"}, id="incomplete form"),
        pytest.param(OPEN, id="question"),
        pytest.param({**OPEN, "input_params": {"skip_intent_resolution": True}}, id="slot"),
    ],
)
def test_a_question_in_between_is_noted_and_everything_stays(fields: dict[str, Any]) -> None:
    session, turn = run("is there parking?", *ROWS, COLOUR, **fields)

    assert session.digression == DIGRESSION
    assert (session.intent, session.state, session.transitions) == ("ORDER", fields["state"], ())
    assert payload(turn, "DECISION")["winner"] == 1


def test_without_an_open_question_it_is_a_change_of_subject() -> None:
    session, _ = run("parking", intent="ORDER", state="DONE")

    assert (session.intent, session.digression) == ("FAQ", None)


@pytest.mark.parametrize("marked", [True, False])
def test_while_the_lock_holds_no_other_phrase_is_tried(marked: bool) -> None:
    intents = INTENTS if marked else (*INTENTS[:1], make_intent("FAQ"), *INTENTS[2:])
    rows = (PARKING, INVOICE, MORE, ANSWER)

    session, turn = run("an invoice", *rows, intents=intents, **LOCKED)

    assert (session.intent, session.digression) == ("ORDER", None)
    assert ("DECISION" in stages(turn)) is marked
    if not marked:
        assert stages(turn) == [
            "INTENT_RESOLVE_START",
            "MESSAGE_UNDERSTOOD",
            "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION",
        ]


def test_phrases_of_the_open_task_do_not_collide_with_the_question() -> None:
    session, _ = run("is there parking for my order?", **OPEN)

    assert session.digression == DIGRESSION


def test_phrases_of_another_intent_collide_with_it() -> None:
    session, turn = run("parking on the invoice?", **OPEN)

    assert session.digression is None
    assert "INTENT_CLASSIFIER_COLLISION" in stages(turn)


@pytest.mark.parametrize(
    "fields",
    [
        {"input_params": {"dialogue_act": "AFFIRM"}},
        {"input_params": {"dialogue_act": "NEGATE"}},
        {"input_params": {"policy_decision": "EXECUTE_PENDING_ACTION"}},
        {"input_params": {"policy_decision": "REJECT_PENDING_ACTION"}},
        {"input_params": {"routing_decision": "PROCEED_CONFIRMED"}},
        {"input_params": {"routing_decision": "APPLY_CORRECTION"}},
        {"reply_override": ReplyOverride("No.", "GUARDRAIL")},
    ],
)
def test_what_answers_the_open_question_is_no_digression(fields: dict[str, Any]) -> None:
    assert run("parking", **LOCKED, **fields)[0].digression is None


def test_a_correction_and_a_question_in_one_message_both_count() -> None:
    session, _ = run("parking?", **LOCKED, input_params={"routing_decision": "APPLY_CORRECTION"})

    assert session.digression
    assert session.digression.has_values


@pytest.mark.parametrize(("text", "digresses"), [("parking", False), ("is there parking?", True)])
def test_a_field_for_long_texts_takes_what_is_no_question(text: str, digresses: bool) -> None:
    form = make_schema("ORDER", {"story": {"type": "string", "x-long": True}}, state_code="COLLECT")

    session, _ = run(text, *ROWS, form, **LOCKED, context={"dialogue": {"asked_field": "story"}})

    assert bool(session.digression) is digresses


@pytest.mark.parametrize("fields", [LOCKED, OPEN])
@pytest.mark.parametrize(("phrase", "chosen"), [("How much is parking?", 7), ("is there parking nearby", None)])
def test_of_several_questions_the_best_one_is_answered_and_none_if_two_match_equally(
    fields: dict[str, Any], phrase: str, chosen: int | None
) -> None:
    intents = (*INTENTS, make_intent("PRICES", returns=True))
    rows = (
        make_classifier("FAQ", "Is there parking nearby?", rule_type="PHRASE", classifier_id=7),
        make_classifier("PRICES", phrase, rule_type="PHRASE", classifier_id=6),
        make_response("Here.", intent_code="ANY", state_code="ANY"),
        make_config("Phrases/MARGIN", "1"),
        make_config("Phrases/MIN_CONFIDENCE", "0.1"),
    )

    session, turn = run("is there parking nearby?", *rows, intents=intents, **fields)

    assert (session.digression.row_id if session.digression else None) == chosen
    decision = payload(turn, "DECISION")
    assert decision["winner"] == chosen
    reason = "INTENT_COLLISION" if chosen is None else "PHRASE_NOT_BEST"
    assert {candidate["reason"] for candidate in decision["candidates"] if not candidate["matched"]} <= {reason}


def test_the_question_is_found_beside_a_statement() -> None:
    phrase = make_classifier("FAQ", "Do you have parking?", rule_type="PHRASE", classifier_id=7)

    session, turn = run("John Smith, and do you have parking?", phrase, ANSWER, **LOCKED)

    assert session.digression == Digression("FAQ", "IDLE", 7)
    assert payload(turn, "DECISION")["key"]["userText"] == "do you have parking?"


def test_without_an_answer_there_is_no_digression() -> None:
    assert run("parking", PARKING, **LOCKED)[0].digression is None


def test_a_forced_resolution_leaves_for_the_question() -> None:
    session, _ = run("switch to parking", **OPEN)

    assert (session.intent, session.digression) == ("FAQ", None)


def test_an_option_of_the_open_question_is_its_answer() -> None:
    options = ({"intent": "FAQ", "label": "Faq", "classifierId": 1}, {"intent": "BILLING", "label": "Billing"})
    question = Clarification("Do you mean Faq or Billing?", "CLASSIFIER", options, from_previous_turn=True)

    session, _ = run("parking", **{**OPEN, "state": "INTENT_COLLISION"}, clarification=question)

    assert (session.intent, session.digression) == ("FAQ", None)


def test_the_question_which_action_is_meant_is_not_counted() -> None:
    question = Clarification("Which one?", "PENDING_ACTION_DISAMBIGUATION", asks=2)

    session, _ = run(
        "parking", **OPEN, clarification=question, reply_override=ReplyOverride("Which?", "DISAMBIGUATION")
    )

    assert session.digression
    assert (session.reply_override, session.clarification and session.clarification.asks) == (None, 1)


def test_who_asks_for_a_person_leaves_the_form() -> None:
    session, turn = run("an agent please", **LOCKED, intent_lock_reason="SCHEMA_INCOMPLETE")

    assert (session.intent, session.state, session.intent_locked) == ("PERSON", "HAND_OVER", False)
    assert "INTENT_RESOLVED_BY_CLASSIFIER" in stages(turn)
    assert "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION" not in stages(turn)


@pytest.mark.parametrize("order", ["PHRASE, REGEX", "CONTAINS, PHRASE", "SEMANTIC, PHRASE"])
@pytest.mark.parametrize("text", ["parking", "do you have a garden?", "invoice"])
def test_what_a_reader_derives_is_what_was_counted(text: str, order: str) -> None:
    more = (
        make_classifier("FAQ", "Do you have a garden?", rule_type="PHRASE", classifier_id=8),
        make_classifier("BILLING", "Send me an invoice", rule_type="PHRASE", classifier_id=9),
        make_classifier("FAQ", "(", rule_type="REGEX", classifier_id=10),
        make_classifier("BILLING", "(", rule_type="REGEX", classifier_id=11),
        make_classifier("BILLING", "a bill\nan invoice", rule_type="SEMANTIC", classifier_id=12),
    )
    _, turn = run(text, *ROWS, *more, make_config("Classifier/ORDER", order), **LOCKED)
    decision = payload(turn, "DECISION")

    derived = Counter(row.reason for row in explain(turn.snapshot, decision, text) if row.derived)
    assert derived == Counter(decision["cut"])


@pytest.mark.parametrize(
    ("text", "digresses"),
    [("two cars and no parking permit", False), ("parking", True), ("where is the parking garage entrance", True),
     ("parking for 6", True), ("parking please", True)],
)  # fmt: skip
def test_a_statement_answers_the_free_text_that_was_asked_for(text: str, digresses: bool) -> None:
    note = make_schema("ORDER", {"note": {"type": "string", "title": "Note"}}, state_code="COLLECT", schema_id=5)
    context = {"dialogue": {"asked_field": "note", "last_schema": 5}}

    session, _ = run(text, PARKING, ANSWER, note, **LOCKED, context=context)

    assert (session.digression is not None) is digresses


CALLS = make_classifier("PERSON", "Phone the office", rule_type="PHRASE", classifier_id=9, state_code="HAND_OVER")
ASKED_PERSON = make_response("One moment.", intent_code="PERSON", state_code="HAND_OVER")
BY_PHONE = [{"value": "text", "label": "Text"}, {"value": "phone", "label": "Phone"}]


@pytest.mark.parametrize(
    ("text", "leaves"),
    [
        ("phone please", False),
        ("Phone", False),
        ("can you phone the office?", True),
    ],
)
def test_an_option_of_another_open_field_asks_for_nobody(text: str, leaves: bool) -> None:
    form = make_schema(
        "ORDER",
        {"guests": {"type": "integer"}, "contact": {"type": "string", "x-options": BY_PHONE}},
        state_code="COLLECT",
        required=["guests", "contact"],
    )
    session, _ = run(text, CALLS, ASKED_PERSON, MORE, ANSWER, form, **LOCKED)

    assert (session.intent == "PERSON") is leaves


FARE = make_classifier("FAQ", "How much is a taxi to the airport?", rule_type="PHRASE", classifier_id=20)
PRICES = make_classifier("FAQ", "What are your prices?", rule_type="PHRASE", classifier_id=21)
PETS = make_classifier("FAQ", "Dürfen Hunde im Taxi mitfahren?", rule_type="PHRASE", classifier_id=22)


@pytest.mark.parametrize(
    ("text", "digresses"),
    [
        ("the airport", False),
        ("to the airport please", False),
        ("Heathrow Airport", False),
        ("how much is a taxi to the airport", True),
        ("how much to the airport", True),
        ("a taxi to the airport", False),
        ("prices", True),
        ("your prices please", True),
        ("ein Hund", False),
        ("dürfen Hunde im Taxi mit?", True),
    ],
)
def test_a_thing_that_a_question_names_among_others_answers_the_text_that_was_asked_for(
    text: str, digresses: bool
) -> None:
    properties = {"where": {"type": "string", "title": "Destination"}}
    form = make_schema("ORDER", properties, state_code="COLLECT", schema_id=5)
    context = {"dialogue": {"asked_field": "where", "last_schema": 5}}
    scores = make_config("Phrases/MIN_CONFIDENCE", "0.1")

    session, _ = run(text, FARE, PRICES, PETS, ANSWER, form, scores, **LOCKED, context=context)

    assert (session.digression is not None) is digresses
