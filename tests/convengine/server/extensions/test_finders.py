"""Finders of a deployment: a kind of its own and a replaced one, in a form over the turn API."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from audit.replay.replay import find_replay_difference
from config_admin.models import CeOutputSchema
from convengine.engine.turn.finder_port import FoundSpan
from convengine.server import wiring
from convengine.server.extensions.registry import FinderEntry, Registry
from convengine.server.sessions.models import CeConversationHistory, CeExtensionFault
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.dialogues.play import store_flows

pytestmark = pytest.mark.django_db
Find = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Any]
FLOW = {
    "code": "PARKING",
    "title": "Get a parking permit",
    "kind": "collect",
    "locale": "en-GB",
    "phrases": ["I need a parking permit"],
    "fields": [
        {"name": "plate", "title": "Plate", "type": "text", "question": "Which plate?"},
        {"name": "phone", "title": "Phone", "type": "phone", "country": "GB", "question": "Which phone number?"},
        {"name": "note", "title": "Note", "type": "text", "question": "Anything else?"},
    ],
    "confirmation": "Shall I order it?",
    "answer": "Your permit is ordered.",
    "hand_over": "I pass you to a colleague.",
    "questions_and_answers": [],
}
STATION = "our number"


def find_plates(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> list[FoundSpan]:
    assert list(fields) == ["plate"]
    plates = re.finditer(r"\b([A-Z]{2}[0-9]{2}) ?([A-Z]{3})\b", text, re.IGNORECASE)
    return [
        FoundSpan(*plate.span(), reason="TEST_PLATE", text="That is a test plate.")
        if plate[2].upper() == "XXX"
        else FoundSpan(*plate.span(), value=f"{plate[1]} {plate[2]}".upper())
        for plate in plates
    ]


def find_station(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> list[FoundSpan]:
    """A replaced kind: nobody dictates the number of the own station."""
    at = text.find(STATION)
    return [FoundSpan(at, at + len(STATION), value=f"+44{situation['now'][:4]}")] if at >= 0 else []


@contextmanager
def talk_with_finders(timeout_ms: int = 1000, **finders: Find) -> Iterator[Caller]:
    """A conversation over the flow, whose deployment has these finders."""
    store_flows({"time_zone": "Europe/London", "locale": "en-GB", "flows": [FLOW]})
    row = CeOutputSchema.objects.get(intent_code="PARKING")
    row.json_schema["properties"]["plate"]["x-kind"] = "vehicle-plate"
    row.save()
    registry = Registry(finders={kind: FinderEntry(find, timeout_ms) for kind, find in finders.items()})
    with wiring.replace_outside_world(OutsideWorld(registry)):
        yield Caller()


def find_difference(turn: int) -> Any:
    """The difference of a turn's replay in a deployment without finders; null for none."""
    with wiring.replace_outside_world(OutsideWorld(Registry())):
        return find_replay_difference(CeConversationHistory.objects.get(turn_no=turn))


def get_context(answer: Mapping[str, Any]) -> dict[str, Any]:
    return {key: answer["context"].get(key) for key in ("plate", "phone", "note") if key in answer["context"]}


def test_a_plate_is_read_when_it_is_asked_for_labelled_and_in_the_opener() -> None:
    with talk_with_finders(vehicle_plate=find_plates) as caller:
        caller.say("I need a parking permit")
        asked = caller.say("it is ab12cde")
        labelled = caller.say("020 7946 0018, and change the plate to AB12 CDF")
        opener = Caller().say("I need a parking permit for AB12 CDE")

    assert get_context(asked) == {"plate": "AB12 CDE"}
    assert labelled["context"]["plate"] == "AB12 CDF"
    assert get_context(opener) == {"plate": "AB12 CDE"}


def test_a_label_binds_a_plate_where_another_field_is_asked_for() -> None:
    with talk_with_finders(vehicle_plate=find_plates) as caller:
        caller.say("I need a parking permit")
        caller.say("020 7946 0018")
        answer = caller.say("plate AB12 CDE")

    assert get_context(answer) == {"phone": "+442079460018", "plate": "AB12 CDE"}


def test_a_refused_plate_is_asked_again_with_its_own_reason() -> None:
    with talk_with_finders(vehicle_plate=find_plates) as caller:
        caller.say("I need a parking permit")
        answer = caller.say("AB12 XXX")
        other = caller.say("the red one")
        events = caller.get(turn=2).json()["results"]

    assert answer["payload"]["value"] == "That is a test plate. Which plate?"
    read = next(event["payload"] for event in events if event["stage"] == "FIELDS_READ")
    assert read["refused"] == [{"field": "plate", "text": "AB12 XXX", "reason": "TEST_PLATE"}]
    assert get_context(other) == {}


def test_a_finder_replaces_a_built_in_kind() -> None:
    with talk_with_finders(phone=find_station, vehicle_plate=find_plates) as caller:
        caller.say("I need a parking permit")
        caller.say("AB12 CDE")
        ignored = caller.say("020 7946 0018")
        taken = caller.say("our number")

    assert "phone" not in ignored["context"]
    assert taken["context"]["phone"].startswith("+442")


def test_a_finder_that_calls_out_is_asked_once_and_replayed_without_it() -> None:
    calls: list[str] = []

    def look_up(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> list[FoundSpan]:
        calls.append(text)
        return find_plates(text, fields, situation)

    with talk_with_finders(vehicle_plate=look_up) as caller:
        caller.say("I need a parking permit")
        answer = caller.say("AB12 CDE")
        before = list(calls)

    assert get_context(answer) == {"plate": "AB12 CDE"}
    assert before.count("AB12 CDE") == 1
    assert [find_difference(turn) for turn in (1, 2)] == [None, None]
    assert calls == before


def test_a_turn_from_before_a_finder_was_registered_replays_equal() -> None:
    with talk_with_finders() as caller:
        caller.say("I need a parking permit")
        caller.say("020 7946 0018")
        with wiring.replace_outside_world(OutsideWorld(Registry(finders={"phone": FinderEntry(find_station, 1000)}))):
            assert find_replay_difference(CeConversationHistory.objects.get(turn_no=2)) is None


def fail(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> Any:
    raise ConnectionError("The registry is shut.")


def hang(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> Any:
    time.sleep(0.5)


def confuse(text: str, fields: Mapping[str, Any], situation: Mapping[str, Any]) -> Any:
    return [FoundSpan(0, 999, value="AB12 CDE")]


@pytest.mark.parametrize(
    ("find", "error"),
    [
        pytest.param(fail, "ConnectionError", id="fails"),
        pytest.param(hang, "TimeoutError", id="hangs"),
        pytest.param(confuse, "ValueError", id="outside of the message"),
        pytest.param(lambda *_: ["AB12 CDE"], "TypeError", id="no spans"),
    ],
)
def test_a_finder_that_fails_finds_nothing_and_says_so(find: Find, error: str) -> None:
    with talk_with_finders(timeout_ms=100, vehicle_plate=find) as caller:
        caller.say("I need a parking permit")
        answer = caller.say("AB12 CDE, and 020 7946 0018")
        events = caller.get(turn=2).json()["results"]

    assert answer["success"]
    assert get_context(answer) == {"phone": "+442079460018"}
    (failure,) = [event["payload"] for event in events if event["stage"] == "FINDER_ERROR"]
    assert (failure["kind"], failure["errorType"]) == ("vehicle_plate", error)
    assert ("FINDER", "vehicle_plate") in CeExtensionFault.objects.values_list("kind", "name")
    assert find_difference(2) is None
