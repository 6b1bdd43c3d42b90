from typing import Any

import pytest

from convengine.engine.steps.correction.step import CorrectionStep
from convengine.engine.turn.rows import PromptTemplate, Row
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import (
    check_writes,
    make_config,
    make_intent,
    make_schema,
    make_session,
    make_snapshot,
    make_turn,
    payload,
    stages,
)
from tests.fakes.models import AnsweringModel

PROPERTIES = {
    "name": {"type": "string", "title": "Name"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time", "x-min": "08:00", "x-max": "18:00"},
    "phone": {"type": "string", "format": "phone", "x-country": "GB"},
}
VISIT = make_schema(
    "VISIT",
    {},
    json_schema={
        "type": "object", "properties": PROPERTIES, "required": [*PROPERTIES], "x-on-no": "ASK_WHAT_TO_CHANGE",
    },
    state_code="COLLECT",
    schema_id=7,
)  # fmt: skip
HELD = {"name": "John Smith", "date": "2025-01-20", "time": "15:00"}
FULL = {**HELD, "phone": "+447700900123"}


def run(
    text: str,
    *rows: Row,
    state: str = "COLLECT",
    context: Any = HELD,
    act: str = "NEW_REQUEST",
    model: Any = None,
    dialogue: Any = None,
) -> tuple[Session, Turn]:
    turn = make_turn(make_snapshot(make_intent("VISIT"), VISIT, *rows), text=text, model=model)
    known = dialogue if dialogue is not None else {"asked_field": "phone", "last_schema": 7, "misses": 1}
    session = make_session(
        intent="VISIT",
        state=state,
        context={**context, "dialogue": known},
        input_params={"dialogue_act": act},
        user_text=text,
    )
    after = CorrectionStep().execute(session, turn).session
    check_writes(CorrectionStep, session, after)
    return after, turn


def get_values(session: Session) -> dict[str, Any]:
    return {key: value for key, value in session.context.items() if key in FULL}


def test_a_correction_changes_the_field_of_its_kind_while_the_next_question_is_open() -> None:
    session, turn = run("no, at 4pm")

    assert get_values(session) == {**HELD, "time": "16:00"}
    assert session.input_params["routing_decision"] == "APPLY_CORRECTION"
    assert session.input_params["skip_intent_resolution"] is True
    assert session.input_params["correction_fields"] == ["time"]
    assert (session.schema_complete, session.missing_required_fields) == (False, ("phone",))
    assert session.context["dialogue"] == {"asked_field": "phone", "last_schema": 7}
    event = payload(turn, "CORRECTION_STEP_CORRECTION_PATCH_APPLIED")
    assert (event["field"], event["value"], event["previousValue"]) == ("time", "16:00", "15:00")
    assert payload(turn, "FIELDS_READ") == {
        "read": ["time"],
        "refused": [],
        "asked": "phone",
        "offered": {},
        "by": {"time": "CORRECTION"},
        "unexplained": [],
        "schemaId": 7,
        "positions": [{"is": "TAKEN", "field": "time", "start": 4, "end": 10, "why": "CORRECTION", "assumed": []}],
    }


def test_a_correction_may_give_the_missing_fields_too() -> None:
    session, _ = run("actually 4pm, and my number is 07700 900124")

    assert get_values(session) == {**HELD, "time": "16:00", "phone": "+447700900124"}
    assert (session.schema_complete, session.intent_locked) == (True, False)


@pytest.mark.parametrize("text", ["no, at 4pm", "4pm", "change the time to 4pm", "4pm would be better"])
def test_a_correction_at_the_confirmation_changes_the_known_form(text: str) -> None:
    session, _ = run(text, state="CONFIRM", context=FULL, dialogue={"last_schema": 7})

    assert get_values(session) == {**FULL, "time": "16:00"}
    assert (session.resolved_schema, session.schema_complete, session.intent_locked) == (VISIT, True, False)


def test_after_what_should_i_change_a_name_asks_again_and_a_value_changes() -> None:
    dialogue = {"last_schema": 7, "listed_options": ["name", "date", "time", "phone"]}

    named, turn = run("the time", state="CONFIRM", context=FULL, dialogue=dialogue)
    assert get_values(named) == {key: value for key, value in FULL.items() if key != "time"}
    assert named.missing_required_fields == ("time",)
    assert payload(turn, "CORRECTION_STEP_CORRECTION_PATCH_APPLIED")["value"] is None

    given, _ = run("the time 4pm", state="CONFIRM", context=FULL, dialogue=dialogue)
    assert get_values(given) == {**FULL, "time": "16:00"}
    assert given.context["dialogue"] == {"last_schema": 7}


@pytest.mark.parametrize("text", ["yes please", "nothing, it's fine"])
def test_after_what_should_i_change_a_yes_or_nothing_repeats_the_confirmation(text: str) -> None:
    dialogue = {"last_schema": 7, "listed_options": ["name", "date", "time", "phone"]}

    session, _ = run(text, state="CONFIRM", context=FULL, act="ANSWER", dialogue=dialogue)

    assert get_values(session) == FULL
    assert session.input_params["routing_decision"] == "APPLY_CORRECTION"
    assert session.context["dialogue"] == {"last_schema": 7}


def test_a_new_value_that_is_refused_is_asked_for_again() -> None:
    session, turn = run("make it 8pm", state="CONFIRM", context=FULL, dialogue={"last_schema": 7})

    assert session.missing_required_fields == ("time",)
    assert session.fields_read is not None
    refusal = session.fields_read.find_refusal("time")
    assert refusal is not None
    assert (refusal.reason, refusal.data["max"]) == ("OUT_OF_BOUNDS", "18:00")
    assert payload(turn, "CORRECTION_STEP_PATCH_NOT_APPLIED")["reason"] == "OUT_OF_BOUNDS"


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("yes", "AFFIRM"),
        ("no", "NEGATE"),
        ("hi", "GREETING"),
        ("how much is it?", "QUESTION"),
        ("07700 900124", "ANSWER"),
    ],
)
def test_what_corrects_nothing_goes_on(text: str, act: str) -> None:
    session, turn = run(text, act=act)

    assert get_values(session) == HELD
    assert "CORRECTION_STEP_CORRECTION_PATCH_APPLIED" not in stages(turn)
    assert session.input_params.get("skip_intent_resolution") is not True


def test_a_form_that_a_model_reads_is_corrected_by_the_model() -> None:
    template = PromptTemplate(template_id=3, intent_code="VISIT", state_code="ANY", response_type="SCHEMA_JSON")
    session, _ = run("no, at 4pm", template, model=AnsweringModel([]))
    assert get_values(session) == HELD

    mode = make_config("SchemaExtractionStep/EXTRACTOR", "DETERMINISTIC")
    for without_model in ((template, mode), ()):
        session, _ = run("no, at 4pm", *without_model, model=AnsweringModel([]))
        assert get_values(session)["time"] == "16:00"


def test_no_model_reads_the_form_of_an_earlier_state() -> None:
    session, _ = run("no, at 4pm", state="CONFIRM", context=FULL, dialogue={"last_schema": 7}, model=AnsweringModel([]))

    assert get_values(session)["time"] == "16:00"


def test_a_conversation_without_a_form_reads_nothing() -> None:
    session, turn = run("no, at 4pm", dialogue={})

    assert get_values(session) == HELD
    assert stages(turn) == []
