"""Each kind of flow makes rows that may be saved and hold a conversation at once."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from config_admin import models as m
from config_admin.flows.document import FlowRefused, check_flow, get_flow_schema
from config_admin.flows.mapping import write_rows
from config_admin.flows.reading import export_flow
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from convengine.engine.text.several_texts import OR
from tests.api import Caller

pytestmark = pytest.mark.django_db

BASE = {"code": "BOOKING", "title": "Book a table", "phrases": ["I want to book a table"], "answer": "Done."}
FIELDS = [
    {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
    {"name": "guests", "title": "Number of guests", "type": "number", "min": 1, "max": 8},
    {
        "name": "seat",
        "title": "Seat",
        "type": "choice",
        "options": [{"value": "IN", "label": "inside"}, {"value": "OUT", "label": "outside", "synonyms": ["terrace"]}],
    },
    {"name": "phone", "title": "Phone number", "type": "phone", "country": "GB"},
]


def make_caller(kind: str, **values: Any) -> Caller:
    add_rows(write_rows({**BASE, "kind": kind, **values}), author="ada", reason="begin")
    return Caller()


def get_answer(caller: Caller, text: str) -> tuple[str, str]:
    answer = caller.say(text)
    assert answer["success"], answer
    return answer["state"], answer["payload"]["value"]


def hold(caller: Caller, *exchanges: tuple[str, str, str]) -> None:
    """Say each message and expect its state and answer."""
    for text, state, answer in exchanges:
        assert get_answer(caller, text) == (state, answer), text


def test_a_flow_may_answer_without_a_confirmation() -> None:
    hold(
        make_caller("collect", fields=FIELDS[:2], at_once=True),
        ("I want to book a table", "COLLECT", "What is your name?"),
        ("Ann", "COLLECT", "Please tell me: number of guests."),
        ("nine", "COLLECT", "“nine” is not possible (from 1 to 8). Please tell me: number of guests."),
        ("3", "DONE", "Done."),
        ("no", "DONE", "All right. Have a nice day!"),
    )


def test_questions_beside_the_flow_have_intents_of_their_own() -> None:
    asked = [{"questions": ["how much is a table", "what are your prices"], "answer": "It is free."}]
    caller = make_caller("collect", fields=FIELDS, questions_and_answers=asked)

    assert get_answer(caller, "what are your prices?")[1] == "It is free."


def test_a_question_in_between_is_answered_and_the_flow_goes_on() -> None:
    asked = [{"questions": ["how much is a table", "what are your prices"], "answer": "It is free."}]
    caller = make_caller("collect", fields=FIELDS[:1], questions_and_answers=asked, on_no="ASK_WHAT_TO_CHANGE")
    add_rows(
        write_rows({**BASE, "kind": "handover", "code": "PERSON", "phrases": ["talk to a person"], "answer": "Wait."}),
        author="ada", reason="begin",
    )  # fmt: skip
    free = "It is free.\n\nLet us go on. "

    hold(
        caller,
        ("book a table", "COLLECT", "What is your name?"),
        ("what are your prices?", "COLLECT", free + "What is your name?"),
        ("John Smith", "CONFIRM", "Please check: Name: John Smith. Is that right?"),
        ("how much is a table?", "CONFIRM", free + "Please check: Name: John Smith. Is that right?"),
        ("no", "CONFIRM", "What should I change: name?"),
        ("what are your prices?", "CONFIRM", free + "What should I change: name?"),
        ("the name", "COLLECT", "What is your name?"),
        ("Ann Lee", "CONFIRM", "Please check: Name: Ann Lee. Is that right?"),
        ("yes", "DONE", "Done."),
        ("what are your prices?", "IDLE", "It is free."),
        ("book a table", "COLLECT", "What is your name?"),
    )  # fmt: skip
    assert get_answer(caller, "let me talk to a person")[1] == "Wait."


def test_each_text_of_a_confirmation_says_the_values() -> None:
    confirmation = OR.join(["Is it right?", "Shall {{ name }} come?"])
    caller = make_caller("collect", fields=FIELDS[:1], confirmation=confirmation)
    get_answer(caller, "book a table")

    answers = ("Please check: Name: John Smith. Is it right?", "Shall John Smith come?")
    assert get_answer(caller, "John Smith")[1] in answers
    assert export_flow("BOOKING")["confirmation"] == confirmation  # type: ignore[index]


def test_somebody_takes_over_and_the_caller_is_told() -> None:
    answer = make_caller("handover", phrases=["talk to a person"], answer="One moment.").say("let me talk to a person")

    assert answer["payload"]["value"] == "One moment."
    assert answer["context"]["handover"] is True


def test_what_a_tool_finds_is_told() -> None:
    with change_set():
        m.CeMcpTool.objects.create(
            tool_code="shop.sum", tool_group="CALCULATOR_TRANSFORM", intent_code="ANY", state_code="ANY",
            description="adds",
            input_schema={"type": "object", "properties": {"expression": {"type": "string"}}},
        )  # fmt: skip
    caller = make_caller(
        "lookup", phrases=["work out"], fields=[{"name": "expression", "title": "the sum", "type": "text"}],
        tool="shop.sum", answer="It is {{ tool_result.result.value }}.",
    )  # fmt: skip

    assert get_answer(caller, "please work out")[0] == "COLLECT"
    assert get_answer(caller, "the sum: 2+3") == ("DONE", "It is 5.")
    assert get_answer(caller, "thanks")[1] == "You're welcome. Is there anything else that I can do for you?"
    assert get_answer(caller, "blah")[1].startswith("Sorry, I did not understand that.")
    assert "TOOL_ORCHESTRATION_REQUEST" not in (*caller.stages(3), *caller.stages(4))
    assert get_answer(caller, "another one")[0] == "COLLECT"


CHOICE = {"name": "a", "title": "A", "type": "choice"}


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kind": "collect"}, "'fields' is a required property"),
        ({"code": "book table"}, "code: "),
        ({"kind": "none"}, "kind: "),
        ({"fields": [CHOICE]}, "fields.0: 'options' is a required property"),
        ({"fields": [CHOICE | {"options_from": {"path": "$.a["}}]}, "fields.0.options_from: .* is not a JSON path"),
        ({"fields": [CHOICE | {"options_from": {"path": "$.a", "label": "b"}}]}, "'value' is a dependency of 'label'"),
        ({"fields": [*FIELDS, FIELDS[0]]}, "fields: name occurs twice"),
        ({"kind": "collect", "fields": FIELDS, "at_once": True, "task": "a:b"}, "at_once: a task runs after a yes"),
        ({"colour": "red"}, "'colour' was unexpected"),
        ({"kind": "lookup", "fields": FIELDS, "tool": "none.such"}, "tool: there is no tool none.such. Add a row"),
    ],
)
def test_a_document_that_is_no_flow_is_refused_with_the_place(values: dict[str, Any], problem: str) -> None:
    with pytest.raises(FlowRefused, match=problem):
        write_rows({**BASE, "kind": "answer", **values})


def test_every_type_of_field_makes_a_form_that_may_be_saved() -> None:
    types = get_flow_schema()["properties"]["fields"]["items"]["properties"]["type"]["enum"]
    more = {"choice": {"options": [{"value": 1}]}, "pattern": {"pattern": "^[A-Z]{3}$"}, "finder": {"finder": "person"}}
    fields = [{"name": name, "title": name, "type": name, **more.get(name, {})} for name in types]

    check_flow({**BASE, "kind": "collect", "fields": fields})
    assert get_answer(make_caller("collect", fields=fields), "book a table")[1] == "Please tell me: text."


@pytest.mark.parametrize("finder", ["person", "plate", "Tariff-2", "meter_number"])
def test_a_field_names_the_finder_of_its_values(finder: str) -> None:
    field = {"name": "value", "title": "Value", "type": "finder", "finder": finder}
    schema = write_rows({**BASE, "kind": "collect", "fields": [field]})["ce_output_schema"][0]["json_schema"]
    assert schema["properties"]["value"]["x-kind"] == finder


@pytest.mark.parametrize("finder", ["", " ", "2nd", "licence plate", "x" * 61])
def test_the_name_of_a_finder_is_a_name(finder: str) -> None:
    field = {"name": "value", "title": "Value", "type": "finder", "finder": finder}
    with pytest.raises(FlowRefused, match="finder: "):
        write_rows({**BASE, "kind": "collect", "fields": [field]})


def test_the_command_makes_several_flows_as_one_release_or_none(tmp_path: Path) -> None:
    flows = [{**BASE, "kind": "collect", "fields": FIELDS, "code": code} for code in ("BOOKING", "DINNER", "LUNCH")]
    files = [tmp_path / f"{flow['code']}.json" for flow in flows]
    for file, flow in zip(files, flows, strict=True):
        file.write_text(json.dumps(flow))
    files[2].write_text("{}")
    before = m.CeRelease.objects.count()

    with pytest.raises(CommandError, match=r"LUNCH\.json: .*'code' is a required property"):
        call_command("start_flow", *map(str, files))
    assert not m.CeIntent.objects.filter(intent_code__in=["BOOKING", "DINNER"]).exists()
    call_command("start_flow", *map(str, files[:2]), verbosity=0)

    assert m.CeIntent.objects.filter(intent_code__in=["BOOKING", "DINNER"]).count() == 2
    assert m.CeRelease.objects.count() == before + 1


def test_the_command_makes_the_same_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "flow.json"
    file.write_text(json.dumps({**BASE, "kind": "collect", "fields": FIELDS}))

    User.objects.create_superuser("ada")
    call_command("start_flow", str(file), author="ada")

    assert "9 rows made." in capsys.readouterr().out
    schema = write_rows(json.loads(file.read_text()))["ce_output_schema"][0]["json_schema"]
    assert m.CeOutputSchema.objects.get(intent_code="BOOKING").json_schema == schema
    call_command("start_flow", str(file))
    assert "Nothing changed" in capsys.readouterr().out
    file.write_text("{}")
    with pytest.raises(CommandError, match="'code' is a required property"):
        call_command("start_flow", str(file))
