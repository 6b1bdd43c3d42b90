"""Each starter makes rows that may be saved and hold a conversation at once."""

from typing import Any

import pytest

from config_admin.flows.flows import Flow, FlowRequest, RequestedField, document
from config_admin.models import CeMcpTool
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from tests.api import Caller

pytestmark = pytest.mark.django_db

WISHES = (
    RequestedField("guests", "the number of guests", "integer"),
    RequestedField("day", "the day", format="date"),
    RequestedField("seat", "where to sit", choices=("inside", "outside")),
)


def make(flow: Flow, **values: Any) -> Caller:
    request = {"flow": flow, "code": "BOOKING", "name": "Book a table", "description": "A guest wants a table."}
    add_rows(
        document(FlowRequest(**{**request, "phrases": ("I want to book a table",), **values})),
        author="ada",
        reason="begin",
    )
    return Caller()


def says(caller: Caller, text: str) -> tuple[str, str]:
    answer = caller.say(text)
    assert answer["success"], answer
    return answer["state"], answer["payload"]["value"]


def test_data_is_collected_summed_up_and_confirmed() -> None:
    caller = make(Flow.FORM, wishes=WISHES, answer="Your table is booked.")

    assert says(caller, "Could I book us a table?") == (
        "COLLECT",
        "Please tell me the number of guests, the day and where to sit.",
    )
    assert says(caller, "4 guests, outside please") == ("COLLECT", "I still need the day.")
    state, summary = says(caller, "1 March 2027")
    assert state == "CONFIRM"
    assert "the number of guests: 4" in summary
    assert "the day: 2027-03-01" in summary
    assert says(caller, "no")[0] == "COLLECT"
    says(caller, "5 guests, inside, 2 March 2027")
    assert says(caller, "yes please") == ("DONE", "Your table is booked.")


def test_one_thing_is_asked_for_by_its_name() -> None:
    caller = make(Flow.FORM, wishes=WISHES[:1], question="How many will you be?")

    assert says(caller, "book a table") == ("COLLECT", "How many will you be?")
    assert says(caller, "three")[0] == "CONFIRM"


def test_a_question_is_answered() -> None:
    caller = make(Flow.FAQ, phrases=("when are you open", "opening hours"), answer="From 9 to 18.")

    assert says(caller, "When exactly are you open on Mondays?")[1] == "From 9 to 18."
    assert says(caller, "opening hours?")[1] == "From 9 to 18."


def test_somebody_takes_over_and_the_caller_is_told() -> None:
    caller = make(Flow.PERSON, phrases=("talk to a person",))
    answer = caller.say("let me talk to a real person")

    assert "somebody from our team" in answer["payload"]["value"]
    assert answer["context"]["handover"] is True


def test_what_a_tool_finds_is_told() -> None:
    with change_set():
        CeMcpTool.objects.create(
            tool_code="shop.sum", tool_group="CALCULATOR_TRANSFORM", intent_code="ANY", state_code="ANY",
            description="adds",
            input_schema={"type": "object", "properties": {"expression": {"type": "string"}}},
        )  # fmt: skip
    caller = make(
        Flow.LOOKUP, phrases=("work out",), wishes=(RequestedField("expression", "the sum"),), tool="shop.sum",
        tool_group="CALCULATOR_TRANSFORM", answer="It is {{ tool_result.result.value }}.",
    )  # fmt: skip

    assert says(caller, "please work out")[0] == "COLLECT"
    assert says(caller, "the sum: 2+3") == ("DONE", "It is 5.")
