"""What a model notes of a turn: asked where a prompt is configured, read with care, and no turn fails by it."""

import json
from typing import Any

import pytest

from convengine.engine.memory.units import extract_units, list_units, stage_units
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.session import Session
from tests.builders import make_config, make_session, make_snapshot, make_turn, payload, stages
from tests.fakes.models import AnsweringModel

PROMPT = make_config("Session/UNITS_PROMPT", "User: {{ user_input }} Answer: {{ answer }} Known: {{ session_units }}")


def unit(kind: str = "CONSTRAINT", topic: str = "budget", claim: str = "At most 900 euros.", **more: Any) -> Any:
    return {"kind": kind, "topic": topic, "claim": claim, "utility": [], "phases": [], **more}


def answer(*units: Any) -> str:
    return json.dumps({"units": units})


def begin(*answers: Any, prompt: Any = PROMPT, **fields: Any) -> tuple[Session, Any, Any]:
    model = AnsweringModel(answers)
    turn = make_turn(make_snapshot(prompt), model=model if answers else None, turn_no=4)
    values = {"turn_no": 4, "user_text": "It may cost 900.", "payload": TextPayload("Noted.")}
    return make_session(**{**values, **fields}), turn, model


def test_the_model_is_shown_the_turn_and_what_it_finds_is_staged() -> None:
    new_unit = unit(utility=["choosing", "choosing", " "], phases=["offer"])
    session, turn, model = begin(answer(new_unit), context={"session_units": [{"claim": "Two people."}]})

    after = stage_units(extract_units(session, turn))

    (request,) = model.requests
    assert (request.purpose, request.temperature) == ("UNITS", 0.0)
    for part in ("User: It may cost 900.", "Answer: Noted.", "Two people."):
        assert part in request.user
    (stored,) = list_units(after)
    assert (stored.kind, stored.topic, stored.claim, stored.source_turn) == (
        "CONSTRAINT",
        "budget",
        "At most 900 euros.",
        4,
    )
    assert (stored.utility, stored.phases) == (("choosing",), ("offer",))
    assert after.context["session_units"][1] == {
        "kind": "CONSTRAINT", "topic": "budget", "claim": "At most 900 euros.", "source_turn": 4,
    }  # fmt: skip
    event_names = [stage for stage in stages(turn) if stage.startswith("SESSION_UNITS")]
    assert event_names == ["SESSION_UNITS_LLM_INPUT", "SESSION_UNITS_LLM_OUTPUT"]


@pytest.mark.parametrize(
    ("prompt", "fields"),
    [
        (make_config("Session/UNITS_PROMPT", " "), {}),
        (make_config("Session/SUMMARY_WITH_LLM", "false"), {}),
        (PROMPT, {"user_text": " "}),
        (PROMPT, {"reset_reason": "USER_COMMAND"}),
    ],
)
def test_nobody_is_asked_where_nothing_is_to_be_noted(prompt: Any, fields: Any) -> None:
    session, turn, model = begin(answer(unit()), prompt=prompt, **fields)

    assert extract_units(session, turn) is session
    assert model.requests == []


def test_without_a_model_nothing_is_noted() -> None:
    session, turn, _ = begin()

    assert extract_units(session, turn) is session


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")], "LLM_CALL_FAILED"),
        (["I found nothing.", "Really."], "LLM_INVALID_RESPONSE"),
        ([answer(unit("RUMOUR")), answer(unit("RUMOUR"))], "LLM_SCHEMA_VIOLATION"),
    ],
)
def test_a_fault_of_the_model_is_told_and_changes_nothing_else(answers: Any, code: str) -> None:
    session, turn, _ = begin(*answers)

    assert extract_units(session, turn) is session
    assert payload(turn, "SESSION_UNITS_LLM_ERROR")["errorCode"] == code


def test_a_prompt_that_cannot_be_filled_is_told_and_nobody_is_asked() -> None:
    session, turn, model = begin(answer(unit()), prompt=make_config("Session/UNITS_PROMPT", "{{ nope }}"))

    assert extract_units(session, turn) is session
    assert payload(turn, "SESSION_UNITS_LLM_ERROR")["missingPromptVars"] == ["nope"]
    assert model.requests == []


def test_an_answer_that_can_be_mended_is_asked_for_once_more() -> None:
    session, turn, model = begin("sorry", answer(unit()))

    assert len(extract_units(session, turn).input_params["extracted_units"]) == 1
    assert len(model.requests) == 2


def test_what_is_found_is_cut_to_size_kept_once_and_left_out_when_it_says_nothing() -> None:
    many = [unit(topic=f"t{n}", claim="x") for n in range(30)]
    long = unit(topic="t " * 200, claim="c " * 900)
    session, turn, _ = begin(answer(long, unit(), unit(claim=" at MOST 900  euros."), unit(claim=" "), *many))

    units = list(list_units(extract_units(session, turn)))

    assert len(units) == 18
    assert [len(part) <= most for part, most in ((units[0].topic, 120), (units[0].claim, 500))] == [True, True]
    assert [entry.topic for entry in units[1:3]] == ["budget", "t0"]


def test_nothing_found_is_nothing_staged() -> None:
    session, turn, _ = begin(answer())

    assert extract_units(session, turn) is session


def test_what_says_the_same_as_before_is_seen_once_and_a_new_fact_replaces_the_old_one() -> None:
    seen = [
        {"kind": "CONSTRAINT", "topic": "Budget", "claim": "at most 900 euros.", "source_turn": 1},
        {"kind": "FACT", "topic": "city", "claim": "Rome", "source_turn": 2},
        {"kind": "GUIDANCE", "topic": "city", "claim": "Ask twice.", "source_turn": 2},
    ]
    session, turn, _ = begin(answer(unit(), unit("FACT", "city", "Oslo")), context={"session_units": seen})

    after = stage_units(extract_units(session, turn)).context["session_units"]

    assert [(entry["topic"], entry["claim"]) for entry in after] == [
        ("city", "Ask twice."), ("budget", "At most 900 euros."), ("city", "Oslo"),
    ]  # fmt: skip
