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
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
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


def test_a_booking_is_asked_for_field_by_field_changed_confirmed_and_begun_again() -> None:
    caller = make_caller("collect", fields=FIELDS, answer="Booked for {{ name }}.")
    summary = (
        "Please check: Name: John Smith, Number of guests: 4, Seat: {}, Phone number: +44 20 7946 0018. Is that right?"
    )

    hold(
        caller,
        ("Could I book us a table?", "COLLECT", "What is your name?"),
        ("John Smith", "COLLECT", "Please tell me: number of guests."),
        ("twelve", "COLLECT", "“twelve” is not possible (from 1 to 8). Please tell me: number of guests."),
        ("four", "COLLECT", "Which seat: inside or outside?"),
        ("on the terrace", "COLLECT", "Please tell me: phone number."),
        (
            "020 7946 0018",
            "CONFIRM",
            summary.format("outside"),
        ),
        ("no", "CONFIRM", "What should I change: name, number of guests, seat or phone number?"),
        ("the seat", "COLLECT", "Which seat: inside or outside?"),
        (
            "inside",
            "CONFIRM",
            summary.format("inside"),
        ),
        ("yes please", "DONE", "Booked for John Smith."),
        ("I want to book a table", "COLLECT", "What is your name?"),
    )  # fmt: skip


def test_a_value_is_changed_while_the_next_question_is_open_and_at_the_confirmation() -> None:
    caller = make_caller("collect", fields=FIELDS, answer="Booked for {{ name }}.")
    summary = "Please check: Name: {}, Number of guests: {}, Seat: {}, Phone number: +44 20 7946 0018. Is that right?"

    hold(
        caller,
        ("book a table for 4 guests", "COLLECT", "What is your name?"),
        ("John Smith", "COLLECT", "Which seat: inside or outside?"),
        ("sorry, make it 6 guests", "COLLECT",
         "I have changed that: number of guests 6. Which seat: inside or outside?"),
        ("inside, my number is 020 7946 0018", "CONFIRM", summary.format("John Smith", 6, "inside")),
        ("no, on the terrace", "CONFIRM", summary.format("John Smith", 6, "outside")),
        ("change the number of guests to 2", "CONFIRM", summary.format("John Smith", 2, "outside")),
        (
            "make it 20 guests",
            "COLLECT",
            "“20 guests” is not possible (from 1 to 8). Please tell me: number of guests.",
        ),
        ("5", "CONFIRM", summary.format("John Smith", 5, "outside")),
        ("the name is wrong", "COLLECT", "What is your name?"),
        ("Ann Lee", "CONFIRM", summary.format("Ann Lee", 5, "outside")),
        ("yes", "DONE", "Booked for Ann Lee."),
    )  # fmt: skip


def test_a_german_form_is_filled_by_sentences_and_corrected() -> None:
    caller = make_caller(
        "collect", locale="de-DE", phrases=["ich brauche einen Termin"],
        fields=[
            {"name": "vorname", "title": "Name", "type": "text", "question": "Wie heißen Sie?"},
            {"name": "tag", "title": "Tag", "type": "date", "question": "An welchem Tag?"},
            {"name": "uhrzeit", "title": "Uhrzeit", "type": "time", "min": "09:00", "max": "18:00"},
        ],
        answer="Notiert.",
    )  # fmt: skip

    assert get_answer(caller, "ich brauche einen Termin")[1] == "Wie heißen Sie?"
    assert "Uhrzeit: 16:30 Uhr" in get_answer(caller, "Anna Meier, ich würde gern morgen um halb fünf kommen")[1]
    assert "Uhrzeit: 17:00 Uhr" in get_answer(caller, "nein, lieber um 17 Uhr")[1]
    assert "Tag: Dienstag, " in get_answer(caller, "doch am Dienstag in zwei Wochen")[1]
    assert get_answer(caller, "ja")[1] == "Notiert."


@pytest.mark.parametrize(
    ("confirmation", "question"),
    [("Shall I book it?", "Please check: Name: Ann. Shall I book it?"), ("Is it for {{ name }}?", "Is it for Ann?")],
)
def test_a_confirmation_repeats_all_values_unless_it_names_them_itself(confirmation: str, question: str) -> None:
    caller = make_caller("collect", fields=FIELDS[:1], confirmation=confirmation)
    get_answer(caller, "book a table")

    assert get_answer(caller, "Ann") == ("CONFIRM", question)


def test_a_number_beside_a_question_is_taken() -> None:
    asked = [{"questions": ["do you have parking"], "answer": "Behind the house."}]
    caller = make_caller("collect", fields=FIELDS[1:3], questions_and_answers=asked)
    get_answer(caller, "book a table")

    assert get_answer(caller, "4, and do you have parking?")[1].endswith("Which seat: inside or outside?")


def test_a_refused_value_of_the_asked_field_is_not_given_to_another() -> None:
    budget = {"name": "budget", "title": "Budget", "type": "money", "currency": "USD", "required": False}
    caller = make_caller("collect", fields=[FIELDS[1], budget])
    get_answer(caller, "book a table")

    assert get_answer(caller, "500")[1].startswith("“500” is not possible (from 1 to 8).")


def test_no_budget_skips_the_budget() -> None:
    budget = {"name": "budget", "title": "Budget", "type": "money", "required": False, "question": "Your budget?"}
    caller = make_caller("collect", fields=[FIELDS[1], budget])
    get_answer(caller, "book a table for 4 people")

    assert get_answer(caller, "no budget")[0] == "CONFIRM"


def test_a_task_is_meant_rather_than_a_question_about_it() -> None:
    asked = [{"questions": ["How much is a trial lesson?", "Is a trial lesson free?"], "answer": "It is free."}]
    phrases = ["I'd like to book a trial lesson", "can my son try the piano first", "a trial lesson for guitar"]
    caller = make_caller("collect", title="Trial lesson", phrases=phrases, fields=FIELDS, questions_and_answers=asked)

    assert get_answer(caller, "trial lesson")[0] == "COLLECT"


def test_answers_say_values_as_people_do() -> None:
    day = {"name": "day", "title": "Day", "type": "date", "question": "Which day?"}
    caller = make_caller("collect", locale="en-GB", fields=[day, FIELDS[2]], answer="Booked {{ seat }} on {{ day }}.")
    get_answer(caller, "book a table")
    get_answer(caller, "3 December 2035")
    get_answer(caller, "on the terrace")

    assert get_answer(caller, "yes")[1] == "Booked outside on Monday 3 December 2035."


def test_a_no_can_begin_again_or_cancel() -> None:
    caller = make_caller("collect", fields=FIELDS[:1], on_no="RESTART")
    hold(caller, ("book a table", "COLLECT", "What is your name?"))
    assert get_answer(caller, "Ann")[0] == "CONFIRM"
    hold(caller, ("no", "COLLECT", "What is your name?"))

    caller = make_caller("collect", code="OTHER", phrases=["rent a bike"], fields=FIELDS[:1], on_no="CANCEL")
    get_answer(caller, "rent a bike")
    get_answer(caller, "Ann")
    answer = caller.say("no")
    assert (answer["state"], answer["payload"]["value"]) == ("UNKNOWN", "All right, I have dropped that.")
    assert "name" not in answer["context"]


def test_a_german_flow_speaks_german() -> None:
    caller = make_caller(
        "collect", locale="de-DE", phrases=["ich möchte einen Termin", "kann ich zu Ihnen kommen"],
        fields=[{"name": "tag", "title": "Tag", "type": "date", "question": "An welchem Tag?"}], answer="Notiert.",
    )  # fmt: skip

    assert get_answer(caller, "Ich möchte bitte einen Termin")[1] == "An welchem Tag?"
    assert get_answer(caller, "am 30. Februar")[1].startswith("Den Tag „am 30. Februar“ gibt es nicht.")
    assert get_answer(caller, "übermorgen")[1].startswith("Bitte prüfen Sie: Tag: ")
    assert get_answer(caller, "yes")[1] == "Notiert."


def test_a_longer_yes_ends_the_flow_though_it_has_words_of_its_phrases() -> None:
    caller = make_caller("collect", fields=FIELDS[:1], on_no="ASK_WHAT_TO_CHANGE", answer="Booked.")
    hold(caller, ("book a table", "COLLECT", "What is your name?"))
    get_answer(caller, "Ann")

    assert get_answer(caller, "yes, book the table for me") == ("DONE", "Booked.")


@pytest.mark.parametrize(
    "text", ["hmm never mind, I'll ring you instead", "never mind, forget it", "oh stop it please"]
)
def test_a_flow_is_left_after_a_question(text: str) -> None:
    caller = make_caller("collect", fields=FIELDS[:2])
    get_answer(caller, "book a table")
    get_answer(caller, "Ann")

    assert get_answer(caller, text)[1].startswith("Do you want to stop?")
    assert get_answer(caller, "yes") == ("UNKNOWN", "All right, I have dropped that.")


def test_words_that_stop_and_then_say_a_value_do_not_leave_the_flow() -> None:
    caller = make_caller("collect", fields=FIELDS[:2])
    get_answer(caller, "book a table")
    get_answer(caller, "Ann")

    assert get_answer(caller, "never mind, we are 5 guests")[0] == "CONFIRM"


def test_an_optional_field_is_skipped_by_words_that_would_leave_elsewhere() -> None:
    seat = {**FIELDS[2], "question": "Where would you like to sit?", "required": False}
    caller = make_caller("collect", locale="de-DE", fields=[FIELDS[0], seat])
    get_answer(caller, "book a table")
    get_answer(caller, "Ann")

    assert get_answer(caller, "egal")[0] == "CONFIRM"


def test_too_many_failed_answers_hand_over() -> None:
    caller = make_caller("collect", fields=FIELDS[1:2], max_misses=2, hand_over="Please call us.")
    get_answer(caller, "book a table")

    assert get_answer(caller, "purple")[0] == "COLLECT"
    assert get_answer(caller, "elephants") == ("HAND_OVER", "Please call us.")
    after = caller.say("hello?")
    assert (after["state"], after["context"]["handover"]) == ("HAND_OVER", True)
    assert get_answer(caller, "book a table")[0] == "COLLECT"


def test_a_question_is_answered() -> None:
    caller = make_caller("answer", phrases=["when are you open", "opening hours"], answer="From 9 to 18.")

    assert get_answer(caller, "When exactly are you open?")[1] == "From 9 to 18."
    assert get_answer(caller, "opening hours?")[1] == "From 9 to 18."


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


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kind": "collect"}, "'fields' is a required property"),
        ({"code": "book table"}, "code: "),
        ({"kind": "none"}, "kind: "),
        ({"fields": [{"name": "a", "title": "A", "type": "choice"}]}, "fields.0: 'options' is a required property"),
        ({"fields": [*FIELDS, FIELDS[0]]}, "fields: name occurs twice"),
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
