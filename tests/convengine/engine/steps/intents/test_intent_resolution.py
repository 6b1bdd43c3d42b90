from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.steps.intents.intent_resolution import (
    FallbackIntentStateStep,
    IntentResolutionStep,
    ResetResolvedIntentStep,
)
from convengine.engine.turn.rows import AnswerDocument, Row
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    make_action,
    make_classifier,
    make_config,
    make_edge,
    make_intent,
    make_response,
    make_rule,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    run_step,
    stages,
)

CODES = "ResetResolvedIntentStep/RESET_INTENT_CODES"


def run_reset_resolved_intent(intent: str | None, codes: str | None = None, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*([make_config(CODES, codes)] if codes is not None else [])))
    values = {"intent_source": "CLASSIFIER", "state": "IDLE", **fields}
    session = make_session(intent=intent, **values)
    return run_step(ResetResolvedIntentStep(), session, turn), turn


def test_RRI_V1_the_conventional_intent_resets() -> None:
    _, turn = run_reset_resolved_intent("RESET_SESSION")

    event = payload(turn, "CONVERSATION_RESET")
    assert (event["reason"], event["matchedIntent"]) == ("INTENT_RESOLVED_RESET", "RESET_SESSION")


def test_RRI_V2_the_list_is_a_setting_in_any_case() -> None:
    assert stages(run_reset_resolved_intent("START_OVER", "RESET_SESSION, start_over")[1]) == ["CONVERSATION_RESET"]


def test_RRI_V3_a_blank_list_means_the_default() -> None:
    assert stages(run_reset_resolved_intent("RESET_SESSION", " , ")[1]) == ["CONVERSATION_RESET"]


@pytest.mark.parametrize("intent", [pytest.param("ORDER", id="RRI_V4"), pytest.param(None, id="RRI_V5")])
def test_RRI_V4_V5_another_intent_does_nothing(intent: str | None) -> None:
    session, turn = run_reset_resolved_intent(intent)

    assert session.intent == intent
    assert stages(turn) == []


def test_RRI_V6_the_conversation_is_as_new_but_for_the_facts_of_the_request() -> None:
    session, _ = run_reset_resolved_intent(
        "RESET_SESSION",
        context={"qty": 3},
        intent_locked=True,
        input_params={"old": 1, "tier": "gold"},
        user_input_params={"tier": "gold"},
    )

    assert (session.intent, session.state, session.context, session.intent_locked) == ("UNKNOWN", "UNKNOWN", {}, False)
    assert "old" not in session.input_params
    assert session.input_params["tier"] == "gold"
    assert session.reset_only


def test_a_restored_reset_intent_does_not_wipe_every_turn() -> None:
    assert stages(run_reset_resolved_intent("RESET_SESSION", intent_source=None)[1]) == []


INTENTS = (make_intent("ORDER", display_name="Orders"), make_intent("FAQ"), make_intent("BILLING"))
INVOICE = make_classifier("BILLING", "invoice", classifier_id=1)
COLOUR = make_schema("ORDER", {"colour": {"type": "string"}}, state_code="COLLECT")
CLOSING = {
    "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION",
    "INTENT_RESOLVE_SKIPPED_POLICY",
    "INTENT_RESOLVE_SKIPPED_STICKY_INTENT",
    "INTENT_RESOLVE_NO_CHANGE",
    "INTENT_RESOLVE_NEEDS_CLARIFICATION",
    "INTENT_RESOLVED_BY_CLASSIFIER",
    "INTENT_RESOLVED_BY_AGENT",
}


def run(text: str | None, *rows: Row, intents: tuple[Row, ...] = INTENTS, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(*intents, *rows), text=text)
    session = make_session(user_text=text, **{"turn_no": 1, **fields})
    session = IntentResolutionStep().execute(session, turn).session
    closing = [stage for stage in stages(turn) if stage in CLOSING]
    assert stages(turn)[0] == "INTENT_RESOLVE_START"
    assert len(closing) == 1, closing
    return session, turn


def closing(turn: Turn) -> str:
    return next(stage for stage in stages(turn) if stage in CLOSING)


def test_IR_V1_one_hit_decides_without_a_model() -> None:
    session, turn = run("Invoice please", INVOICE)

    assert (session.intent, session.state, session.intent_source) == ("BILLING", "IDLE", "CLASSIFIER")
    assert closing(turn) == "INTENT_RESOLVED_BY_CLASSIFIER"
    assert payload(turn, "INTENT_CLASSIFICATION_MATCHED")["matchedByRule"] == {"1": "BILLING"}
    assert payload(turn, "DECISION")["winner"] == 1


def test_IR_V3_two_spellings_of_one_intent_do_not_collide() -> None:
    session, turn = run("fees", make_classifier("faq", "fee"), make_classifier("FAQ", "fees"))

    assert session.intent == "FAQ"
    assert "INTENT_CLASSIFIER_COLLISION" not in stages(turn)


def test_IR_V4_a_hit_on_the_same_intent_leaves_the_flow_alone() -> None:
    session, _ = run(
        "my order", make_classifier("ORDER", "order", state_code="UNKNOWN"), intent="ORDER", state="CONFIRMATION"
    )

    assert (session.intent, session.state) == ("ORDER", "CONFIRMATION")


def test_IR_V5_a_lock_keeps_the_intent() -> None:
    session, turn = run(
        "invoice", INVOICE, intent="ORDER", state="COLLECT", intent_locked=True, intent_lock_reason="SCHEMA_INCOMPLETE"
    )

    assert session.intent == "ORDER"
    assert closing(turn) == "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION"
    assert "DECISION" not in stages(turn)


def test_IR_V6_a_switch_phrase_breaks_the_lock() -> None:
    session, turn = run(
        "switch to invoice", INVOICE, intent="ORDER", state="COLLECT", intent_locked=True, intent_lock_reason="X"
    )

    assert (session.intent, session.intent_locked) == ("BILLING", False)
    assert payload(turn, "INTENT_RESOLVE_FORCED")["reason"] == "X"


def test_IR_V7_a_force_param_breaks_the_lock() -> None:
    fields = {"intent": "ORDER", "state": "COLLECT", "intent_locked": True}

    forced, turn = run("invoice", INVOICE, input_params={"force_intent_resolution": "true"}, **fields)
    later, _ = run("invoice", INVOICE, **fields)

    assert forced.intent == "BILLING"
    assert payload(turn, "INTENT_RESOLVE_FORCED")["signal"] == "INPUT_PARAM:force_intent_resolution"
    assert later.intent == "ORDER"


def test_IR_V8_an_incomplete_form_holds_the_intent_and_locks_it() -> None:
    session, turn = run("invoice", INVOICE, COLOUR, intent="ORDER", state="COLLECT")

    assert closing(turn) == "INTENT_RESOLVE_SKIPPED_STICKY_INTENT"
    assert (session.intent, session.intent_locked, session.intent_lock_reason) == ("ORDER", True, "SCHEMA_INCOMPLETE")


def test_IR_V9_with_sticky_off_the_user_may_drift() -> None:
    off = make_config("IntentResolutionStep/STICKY_INTENT", "false")

    session, _ = run("invoice", INVOICE, COLOUR, off, intent="ORDER", state="COLLECT")

    assert session.intent == "BILLING"


def test_IR_V10_the_policy_decision_keeps_the_intent() -> None:
    params = {"skip_intent_resolution": True, "policy_decision": "EXECUTE_PENDING_ACTION", "dialogue_act": "AFFIRM"}

    session, turn = run("invoice", INVOICE, intent="ORDER", state="CONFIRM", input_params=params)

    assert session.intent == "ORDER"
    assert payload(turn, "INTENT_RESOLVE_SKIPPED_POLICY")["policyDecision"] == "EXECUTE_PENDING_ACTION"


def test_IR_V11_without_a_state_there_is_nothing_to_keep() -> None:
    params = {"skip_intent_resolution": True}

    assert run("invoice", INVOICE, intent="ORDER", state="UNKNOWN", input_params=params)[0].intent == "BILLING"


def test_IR_V27_without_intents_the_agent_is_skipped() -> None:
    _, turn = run("hello", intents=())

    assert payload(turn, "INTENT_AGENT_SKIPPED")["reason"] == "no allowed intents"
    assert closing(turn) == "INTENT_RESOLVE_NO_CHANGE"


def test_IR_V28_a_blank_text_asks_nobody() -> None:
    _, turn = run("  ", INVOICE)

    assert "INTENT_AGENT_SKIPPED" not in stages(turn)
    assert payload(turn, "INTENT_RESOLVE_NO_CHANGE")["reason"] == "BLANK_TEXT"


def test_IR_V29_a_schema_that_is_no_json_holds_nobody() -> None:
    xml = make_schema("ORDER", {}, state_code="COLLECT", json_schema="<schema/>")

    session, turn = run("invoice", INVOICE, xml, intent="ORDER", state="COLLECT")

    assert session.intent == "BILLING"
    assert payload(turn, "CONFIG_ROW_INVALID")["table"] == "ce_output_schema"


def test_a_complete_form_holds_nobody() -> None:
    session, _ = run("invoice", INVOICE, COLOUR, intent="ORDER", state="COLLECT", context={"colour": "red"})

    assert session.intent == "BILLING"


def test_no_model_is_told_as_the_reason_for_not_asking_one() -> None:
    _, turn = run("sing", INVOICE)

    assert payload(turn, "INTENT_AGENT_SKIPPED")["reason"] == "LLM_NOT_CONFIGURED"
    assert payload(turn, "INTENT_RESOLVE_NO_CHANGE")["reason"] == "NO_RESOLVER_MATCHED"


def test_a_reset_turn_resolves_nothing() -> None:
    session, turn = run("invoice", INVOICE, reset_only=True)

    assert session.intent == "UNKNOWN"
    assert payload(turn, "INTENT_RESOLVE_NO_CHANGE")["reason"] == "reset_only"


def test_a_row_with_state_any_leaves_the_state() -> None:
    session, _ = run("invoice", make_classifier("BILLING", "invoice", state_code="ANY"), intent="ORDER", state="DONE")

    assert (session.intent, session.state) == ("BILLING", "DONE")


def test_the_first_row_by_priority_gives_the_state() -> None:
    rows = (
        make_classifier("FAQ", "fees", state_code="LATE", priority=20),
        make_classifier("FAQ", "fee", state_code="EARLY", priority=10),
    )

    assert run("fees", *rows)[0].state == "EARLY"


def test_the_state_of_the_same_intent_may_be_overridden_by_setting() -> None:
    on = make_config("ClassifierIntentResolver/OVERRIDE_STATE_ON_SAME_INTENT", "true")
    rows = (make_classifier("FAQ", "fees", state_code="FEES"), on)

    assert run("fees", *rows, intent="FAQ", state="HOURS")[0].state == "FEES"


CLOSE = make_classifier("CLOSE", "close my account", state_code="CONFIRM")
CLOSING_INTENT = (make_intent("CLOSE"),)
KEPT = make_response("Nothing is closed.", intent_code="ANY", state_code="KEPT")


@pytest.mark.parametrize(
    "sequel",
    [
        pytest.param(make_action("close_account", intent_code="CLOSE", state_code="CONFIRM"), id="action"),
        pytest.param(
            make_rule(phase="POST_DIALOGUE_ACT", intent_code="CLOSE", state_code="CONFIRM", action_value="KEPT"),
            id="rule",
        ),
    ],
)
@pytest.mark.parametrize("by", ["close my account", "please close my account now"])
def test_an_intent_that_is_over_begins_again(sequel: Row, by: str) -> None:
    session, _ = run(by, CLOSE, KEPT, sequel, intents=CLOSING_INTENT, intent="CLOSE", state="KEPT")

    assert (session.intent, session.state) == ("CLOSE", "CONFIRM")


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        pytest.param((KEPT,), "KEPT", id="nothing follows"),
        pytest.param((KEPT, make_edge("CONFIRM", "KEPT", intent_code="CLOSE")), "KEPT", id="nothing is asked"),
        pytest.param((KEPT, make_rule(intent_code="CLOSE", state_code="CONFIRM")), "KEPT", id="a rule alone"),
        pytest.param((KEPT, make_action("close_account", intent_code="CLOSE", state_code="CHECK")), "CHECK", id="open"),
        pytest.param((make_action("close", intent_code="CLOSE", state_code="CONFIRM"),), "KEPT", id="unanswered"),
        pytest.param(
            (
                make_response("Done.", intent_code="CLOSE", state_code="DONE"),
                make_schema("CLOSE", {"colour": {"type": "string"}}, state_code="CONFIRM"),
            ),
            "DONE",
            id="form that does not begin again",
        ),
    ],
)  # fmt: skip
def test_an_intent_that_is_not_over_stays_in_its_state(rows: tuple[Row, ...], state: str) -> None:
    session, _ = run("close my account", CLOSE, *rows, intents=CLOSING_INTENT, intent="CLOSE", state=state)

    assert (session.intent, session.state) == ("CLOSE", state)


def test_rows_of_a_disabled_intent_take_no_part() -> None:
    intents = (make_intent("BILLING", enabled=False), make_intent("FAQ"))

    session, turn = run("invoice", INVOICE, intents=intents)

    assert session.intent == "UNKNOWN"
    assert payload(turn, "DECISION")["cut"] == {"INTENT_DISABLED": 1}


def test_a_broken_pattern_is_inactive_and_told() -> None:
    _, turn = run("invoice", make_classifier("FAQ", "([", rule_type="REGEX", classifier_id=5), INVOICE)

    assert payload(turn, "CONFIG_ROW_INVALID")["rowId"] == 5
    assert closing(turn) == "INTENT_RESOLVED_BY_CLASSIFIER"


def test_rules_after_the_classifier_run_with_their_own_source() -> None:
    rule = make_rule(
        phase="POST_CLASSIFIER_INTENT", intent_code="BILLING", state_code="ANY", action_value="START", rule_id=9
    )

    session, turn = run("invoice", INVOICE, rule)

    assert session.state == "START"
    assert "RULE_APPLIED (IntentResolutionStep Classifier)" in stages(turn)


ORDER_OR_BILLING = (
    make_classifier("ORDER", "order", state_code="COLLECT", classifier_id=1),
    make_classifier("BILLING", "invoice", state_code="IDLE", classifier_id=2),
)


def test_two_intents_without_a_model_are_asked_back() -> None:
    session, turn = run("the invoice of my order", *ORDER_OR_BILLING)

    assert session.state == "INTENT_COLLISION"
    assert session.clarification is not None
    assert session.clarification.question == "Do you mean Orders or Billing?"
    assert session.clarification.reason == "CLASSIFIER"
    assert payload(turn, "INTENT_AGENT_SKIPPED")["reason"] == "LLM_NOT_CONFIGURED"
    assert closing(turn) == "INTENT_RESOLVE_NEEDS_CLARIFICATION"


def ask_between_orders() -> Clarification:
    session, _ = run("the invoice of my order", *ORDER_OR_BILLING)
    clarification = session.clarification
    assert clarification is not None
    return Clarification(clarification.question, clarification.reason, clarification.options, from_previous_turn=True)


@pytest.mark.parametrize(
    ("reply", "intent", "state"),
    [
        ("1", "ORDER", "COLLECT"),
        ("2", "BILLING", "IDLE"),
        ("billing", "BILLING", "IDLE"),
        ("Orders, please", "ORDER", "COLLECT"),
    ],
)
def test_the_question_is_answered_by_number_or_name(reply: str, intent: str, state: str) -> None:
    session, turn = run(reply, *ORDER_OR_BILLING, state="INTENT_COLLISION", clarification=ask_between_orders())

    assert (session.intent, session.state, session.clarification) == (intent, state, None)
    assert closing(turn) == "INTENT_RESOLVED_BY_CLASSIFIER"


def test_a_reply_that_says_nothing_is_asked_once_more_and_then_let_go() -> None:
    once, turn = run("hmm", *ORDER_OR_BILLING, state="INTENT_COLLISION", clarification=ask_between_orders())
    assert once.clarification is not None
    again = Clarification(
        "Q", "CLASSIFIER", ask_between_orders().options, from_previous_turn=True, asks=once.clarification.asks
    )
    twice, _ = run("hmm", *ORDER_OR_BILLING, state="INTENT_COLLISION", clarification=again)

    assert (once.state, once.clarification.asks, closing(turn)) == (
        "INTENT_COLLISION",
        2,
        "INTENT_RESOLVE_NEEDS_CLARIFICATION",
    )
    assert (twice.intent, twice.state, twice.clarification) == ("UNKNOWN", "UNKNOWN", None)


@pytest.mark.parametrize("reply", ["no", "never mind", "Can I talk to a person?"])
def test_a_question_is_let_go_at_once_by_whoever_wants_nothing_of_it(reply: str) -> None:
    session, _ = run(reply, *ORDER_OR_BILLING, state="INTENT_COLLISION", clarification=ask_between_orders())

    assert (session.intent, session.state, session.clarification) == ("UNKNOWN", "UNKNOWN", None)


def test_a_question_that_was_let_go_leaves_no_intent_of_before_with_a_state_that_fits_no_row() -> None:
    again = Clarification("Q", "CLASSIFIER", ask_between_orders().options, from_previous_turn=True, asks=2)

    session, turn = run("hmm", *ORDER_OR_BILLING, intent="FAQ", state="INTENT_COLLISION", clarification=again)

    assert (session.intent, session.state, closing(turn)) == ("UNKNOWN", "UNKNOWN", "INTENT_RESOLVE_NO_CHANGE")
    assert [(hop.from_intent, hop.to_intent) for hop in session.transitions] == [("FAQ", "UNKNOWN")]


def test_a_lower_number_wins_a_collision_only_where_that_is_wanted() -> None:
    rows = (
        make_classifier("ORDER", "order", priority=5, state_code="COLLECT"),
        make_classifier("BILLING", "invoice", priority=9),
        make_config("ClassifierIntentResolver/COLLISION_BY_PRIORITY", "true"),
    )

    assert run("the invoice of my order", *rows)[0].intent == "ORDER"


def test_a_hop_by_resolution_is_recorded_as_one() -> None:
    session, _ = run("invoice", INVOICE)

    hop = session.transitions[0]
    assert (hop.from_intent, hop.to_intent, hop.to_state, hop.cause) == (
        "UNKNOWN",
        "BILLING",
        "IDLE",
        "INTENT_RESOLUTION",
    )


def run_fallback_intent_state(intent: str | None, state: str | None, **fields: Any) -> tuple[Session, Turn]:
    turn = make_turn()
    session = make_session(intent=intent, state=state, **fields)
    return FallbackIntentStateStep().execute(session, turn).session, turn


def test_FB_V1_both_are_filled_and_told() -> None:
    session, turn = run_fallback_intent_state(None, None)

    assert (session.intent, session.state) == ("UNKNOWN", "UNKNOWN")
    assert payload(turn, "INTENT_MISSING")["intent"] is None
    assert payload(turn, "STATE_MISSING")["fallbackState"] == "UNKNOWN"


def test_FB_V2_only_what_is_missing_is_filled() -> None:
    session, turn = run_fallback_intent_state("ORDER", None)

    assert (session.intent, session.state) == ("ORDER", "UNKNOWN")
    assert stages(turn) == ["STATE_MISSING"]


def test_FB_V3_blank_is_missing() -> None:
    _, turn = run_fallback_intent_state("", " ")

    assert stages(turn)[:2] == ["INTENT_MISSING", "STATE_MISSING"]


def test_FB_V4_nothing_is_missing() -> None:
    assert stages(run_fallback_intent_state("ORDER", "CONFIRM")[1]) == []


def test_FB_V5_nothing_understood_is_told() -> None:
    _, turn = run_fallback_intent_state("UNKNOWN", "UNKNOWN", user_text="asdf")

    assert stages(turn) == ["INTENT_UNRESOLVED"]
    assert payload(turn, "INTENT_UNRESOLVED")["userText"] == "asdf"


def test_FB_V6_a_reset_is_not_a_failure_to_understand() -> None:
    assert stages(run_fallback_intent_state("UNKNOWN", "UNKNOWN", reset_only=True)[1]) == []


RULES = AnswerDocument(
    document_id=1,
    title="Hotel",
    content="# Keys\n\nLeave your key at the desk. A lost key costs 40 euros.\n\n# Pets\n\nDogs stay for 10 euros.",
    sections={"Pets": {"askedAs": ["is my invoice for the cat"]}},
)


def test_what_a_section_is_asked_as_goes_before_an_intent_that_is_only_likely() -> None:
    phrases = [
        make_classifier("BILLING", text, rule_type="PHRASE")
        for text in ("is my invoice right", "is this invoice for the room")
    ]
    asked, other = "Is my invoice for the cat?", "is my invoice for the rooms"

    assert run(other, *phrases, RULES)[0].intent_source == "CLASSIFIER"
    session, turn = run(asked, *phrases, RULES)
    assert (session.intent_source, payload(turn, "INTENT_RESOLVE_NO_CHANGE")["reason"]) == (None, "ASKED_OF_SECTION")
    assert run(asked, *phrases, make_classifier("BILLING", asked, rule_type="PHRASE"), RULES)[0].intent == "BILLING"
    assert run(asked, INVOICE, RULES)[0].intent == "BILLING"


def test_a_question_that_documents_answer_is_no_reply_to_an_open_question() -> None:
    question = Clarification("Do you mean Orders or Bills?", "CLASSIFIER", ({"intent": "ORDER", "label": "Orders"},))
    asked = replace(question, from_previous_turn=True)
    fields = {"state": "INTENT_COLLISION", "intent": "ORDER", "clarification": asked}

    assert run("hm, well", RULES, **fields)[0].clarification.asks == 2
    session, _ = run("what do I pay if I lose the key?", RULES, **fields)
    assert (session.clarification, session.intent) == (None, "UNKNOWN")
