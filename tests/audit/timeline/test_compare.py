"""Two turns side by side."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from audit.addresses import compare_url
from audit.models import CeAccessLog
from audit.replay.comparison import align
from convengine.engine.text.difference import Difference
from tests.api import Caller
from tests.worlds import create_help_desk

Words = Callable[[str], str]
pytestmark = pytest.mark.django_db


@pytest.fixture
def two() -> tuple[Caller, Caller]:
    """Two conversations that begin alike; in the second the customer is a VIP."""
    create_help_desk()
    one, other = Caller(), Caller()
    one.say("hours please")
    other.say("hours please", inputParams={"vip": True})
    return one, other


def test_steps_are_aligned_and_differences_named(two: tuple[Caller, Caller], reader: Client, words: Words) -> None:
    one, other = two
    address = compare_url(f"{one.conversation_id}.1", f"{other.conversation_id}.1")

    steps = {step.step: step for step in reader.get(address).context["steps"]}
    text = words(address)

    assert not steps["GuardrailStep"].differs
    rules = {(pair.stage, pair.left is None) for pair in steps["RulesStep"].differing}
    assert ("SET_STATE", True) in rules
    (output,) = [pair for pair in steps["ResponseResolutionStep"].differing if pair.stage == "ASSISTANT_OUTPUT"]
    assert Difference(("output",), "Nine to five.", "For you: always.") in output.places
    assert "only in the second" in text
    assert "Guardrail" not in text
    assert "Guardrail" in words(f"{address}&all=1")


def test_a_difference_is_shown_where_it_is_met_first(reader: Client, words: Words) -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please")
    caller.say("fees please")
    address = compare_url(f"{caller.conversation_id}.1", f"{caller.conversation_id}.2")

    steps = reader.get(address).context["steps"]
    told = [place for step in steps for pair in step.events for place in pair.news]

    assert [place.path for place in told if (place.before, place.after) == ("HOURS", "FEES")].count(("intent",)) == 1
    assert any(step.differs and not step.new for step in steps)
    assert 0 < 2 * words(address).count("HOURS FEES") < words(f"{address}&all=1").count("HOURS FEES")


def test_a_turn_and_one_that_went_the_same_way_differ_in_nothing(reader: Client, words: Words) -> None:
    create_help_desk()
    one, other = Caller(), Caller()
    one.say("hours please")
    other.say("hours please")
    picks = f"{one.conversation_id}.1", f"{other.conversation_id}.1"

    assert "All steps are the same" in words(compare_url(*picks))
    assert "All steps are the same" in words(compare_url(picks[0], picks[0]))
    assert CeAccessLog.objects.filter(kind="COMPARE").count() == 3


@pytest.mark.parametrize(
    ("picks", "says"),
    [
        ([], "Choose two turns."),
        ([str(uuid.uuid4())], "Not a turn."),
        ([f"{uuid.uuid4()}.1"], "Select two turns; 1 is selected."),
        ([f"{uuid.uuid4()}.1"] * 3, "Select two turns; 3 are selected."),
        ([f"{uuid.UUID(int=1)}.1"] * 2, "00000000-0000-0000-0000-000000000001.1 does not exist or was removed."),
        (["-" * 36 + ".1"] * 2, "Not a turn."),
    ],
)
def test_what_cannot_be_compared_is_said(words: Words, picks: list[str], says: str) -> None:
    assert says in words(compare_url(*picks))


def test_what_only_one_side_has_stands_alone() -> None:
    assert list(align("abc", "axc", str)) == [("a", "a"), ("b", None), (None, "x"), ("c", "c")]


def test_three_steps_are_open_at_first_and_the_others_folded(reader: Client) -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours please")
    caller.say("fees please")
    picks = f"{caller.conversation_id}.1", f"{caller.conversation_id}.2"
    response = reader.get(compare_url(*picks))

    open_steps = [step for step in response.context["steps"] if step.is_open]
    assert len(open_steps) == response.content.count(b'<details class="ce-card ce-step" open') == 3
    assert all(step.decides and step.new for step in open_steps)
    assert b"more differences</summary>" in response.content
    again = reader.get(compare_url(picks[0], picks[0])).context["steps"]
    assert not any(step.is_open for step in again)
