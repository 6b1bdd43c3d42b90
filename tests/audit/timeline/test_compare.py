"""Two turns, or two conversations, side by side."""

import uuid
from collections.abc import Callable

import pytest
from django.test import Client

from audit.models import CeAccessLog
from audit.replay.comparison import align
from audit.timeline.addresses import compare_form_url, compare_url
from convengine.engine.text.difference import Difference
from tests.api import Caller
from tests.audit.timeline.conftest import long_conversation
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
    one.say("fees please")
    other.say("fees, please!")
    other.say("my cvv is 1")
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


def test_conversations_are_aligned_by_what_was_said(two: tuple[Caller, Caller], reader: Client, words: Words) -> None:
    one, other = two
    address = compare_url(one.conversation_id, other.conversation_id)

    pairs = reader.get(f"{address}&all=1").context["pairs"]

    assert [(pair.left.get("turn_no"), pair.right.get("turn_no")) for pair in pairs] == [(1, 1), (2, 2), (None, 3)]
    assert [pair.differs for pair in pairs] == [
        ["answer", "intent and state"],
        ["message"],
        ["exists on one side only"],
    ]
    assert "3 of 3 turns are different" in words(address)
    assert "Compare steps of turns 1 and 1" in words(address)


def test_long_conversations_are_compared_page_by_page(reader: Client, words: Words) -> None:
    one, other = long_conversation(130), long_conversation(120)
    address = compare_url(str(one.pk), str(other.pk)) + "&all=1"

    assert len(reader.get(address).context["pairs"]) == 100
    assert "Later turns" in words(address)
    behind = reader.get(f"{address}&behind=100&behind=100").context["pairs"]
    assert [pair.left["turn_no"] for pair in behind] == list(range(101, 131))


@pytest.mark.parametrize(
    ("picks", "says"),
    [
        ([], "Choose two turns or two conversations."),
        (["x"], "Not a turn or a conversation"),
        ([str(uuid.uuid4())], "Choose a second turn or conversation to compare with."),
        ([f"{uuid.uuid4()}.1"] * 3, "Select two turns; 3 are selected."),
        ([str(uuid.uuid4()), f"{uuid.uuid4()}.1"], "Select two turns or two conversations, not one of each."),
        ([f"{uuid.UUID(int=1)}.1"] * 2, "00000000-0000-0000-0000-000000000001.1 does not exist or was removed."),
        (["-" * 36] * 2, "Not a turn or a conversation"),
    ],
)
def test_what_cannot_be_compared_is_said(words: Words, picks: list[str], says: str) -> None:
    assert says in words(compare_url(*picks) if picks else compare_form_url())


def test_what_only_one_side_has_stands_alone_unless_places_count() -> None:
    assert list(align("abc", "axc", "abc", "axc")) == [("a", "a"), ("b", None), (None, "x"), ("c", "c")]
    assert list(align("abc", "axc", "abc", "axc", by_place=True)) == [("a", "a"), ("b", "x"), ("c", "c")]
