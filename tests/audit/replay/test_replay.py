import json
import uuid
from io import StringIO
from itertools import islice, product
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from audit.models import CeAudit
from audit.replay.replay import NotReplayable, find_replay_difference
from config_admin.flows.mapping import write_rows
from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from config_admin.transfer.apply_import import add_rows
from convengine.engine.turn.codec import compress, decompress, dumps
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.extensions.tasks import TaskCall
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.turns.stored_recording import _WORDS
from tests.api import Caller
from tests.record import change_payload, events

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


def record(turn: int = 1) -> CeConversationHistory:
    return CeConversationHistory.objects.get(turn_no=turn)


def test_a_turn_replays_equal_also_after_the_configuration_changed(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})
    caller.say("fees")
    caller.say("/reset")
    caller.say("my cvv")
    CeResponse.objects.update(exact_text="Changed.")
    CeRule.objects.all().delete()

    assert [find_replay_difference(record(turn)) for turn in (1, 2, 3, 4)] == [None] * 4


def test_a_condition_on_the_clock_replays_equal_a_year_later(caller: Caller, settings: Any) -> None:
    rows = [
        {"field": "clock.now", "operator": "withinHours", "value": 1},
        {"field": "message", "operator": "isNotEmpty"},
    ]
    rule = CeRule.objects.create(
        intent_code="ANY",
        state_code="ANY",
        rule_type="CONDITION",
        match_pattern=json.dumps({"combinator": "and", "rules": rows}),
        action="SET_INPUT_PARAM",
        action_value="now:true",
    )
    caller.say("hours")
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 365 * 86_400}

    assert find_replay_difference(record()) is None
    assert CeAudit.objects.filter(stage__startswith="RULE_MATCH", payload_json__ruleId=rule.pk).exists()


DENTIST = {
    "code": "DENTIST", "title": "Dentist", "kind": "collect", "locale": "en-GB", "phrases": ["I need to see a dentist"],
    "fields": [
        {"name": "name", "title": "Name", "type": "text", "question": "What is your name?"},
        {"name": "day", "title": "Day", "type": "date", "min": "today", "max": "today+90d"},
        {"name": "at", "title": "Time", "type": "time"},
    ],
    "answer": "Booked.", "questions_and_answers": [{"questions": ["what are your prices"], "answer": "80 pounds."}],
}  # fmt: skip
TERMIN = {
    "code": "TERMIN", "title": "Termin", "kind": "collect", "locale": "de-DE", "phrases": ["Ich brauche einen Termin"],
    "fields": [{"name": "tag", "title": "Tag", "type": "date", "min": "today"}], "answer": "Notiert.",
}  # fmt: skip


@pytest.mark.parametrize(
    ("flow", "lines"),
    [
        pytest.param(
            DENTIST,
            (
                "I need to see a dentist", "John Smith", "what are your prices?", "yesterday", "in two weeks",
                "half past four", "no, at 5pm", "perfect", "thanks", "another one please", "Ann Bell", "forget it",
                "no", "never mind", "yes",
            ),
            id="english",
        ),
        pytest.param(
            TERMIN,
            ("Ich brauche einen Termin", "am 30. Februar", "übermorgen", "nein, lieber nächsten Montag", "ja", "danke"),
            id="german",
        ),
    ],
)  # fmt: skip
def test_a_dialogue_with_relative_days_replays_equal_a_year_later(
    flow: dict[str, Any], lines: tuple[str, ...], settings: Any
) -> None:
    add_rows(write_rows(flow), author="ada", reason="begin")
    caller = Caller()
    answers = [caller.say(line) for line in lines]
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 365 * 86_400}

    assert all(answer["success"] for answer in answers)
    assert [find_replay_difference(record(turn)) for turn in range(1, len(lines) + 1)] == [None] * len(lines)


def test_a_failed_turn_replays_equal_as_well(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()
    caller.say("hours")

    assert find_replay_difference(record()) is None


def test_a_difference_names_the_first_event(caller: Caller) -> None:
    caller.say("hours")
    (event,) = events("RESPONSE_EXACT")
    change_payload(caller.conversation_id, 1, event.seq, text="Forged.")

    difference = find_replay_difference(record())

    assert difference is not None
    assert difference.seq == event.seq
    assert difference.recorded is not None
    assert difference.recorded[1]["text"] == "Forged."


class Counter:
    """A task with an effect."""

    def __init__(self) -> None:
        self.calls = 0

    def run(self, call: TaskCall) -> Any:
        self.calls += 1
        call.set_context("count", self.calls)
        return {"count": self.calls}


@pytest.fixture
def counter() -> Any:
    task = Counter()
    registry.add_task("counter", TaskEntry({"run": task.run}))
    yield task
    del registry.tasks["counter"]


def test_a_replay_asks_the_recording_and_never_the_task(caller: Caller, counter: Counter) -> None:
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="ANY", state_code="ANY", rule_type="EXACT", match_pattern="ANY",
        action="SET_TASK", action_value="counter:run",
    )  # fmt: skip
    answer = caller.say("hours")

    assert answer["context"]["count"] == 1
    assert find_replay_difference(record()) is None
    assert counter.calls == 1


def test_a_replay_after_the_task_is_gone_is_equal_too(caller: Caller) -> None:
    registry.add_task("gone", TaskEntry({"run": lambda call: 7}))
    CeRule.objects.create(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="ANY", state_code="ANY", rule_type="EXACT", match_pattern="ANY",
        action="SET_TASK", action_value="gone:run",
    )  # fmt: skip
    caller.say("hours")
    del registry.tasks["gone"]

    assert find_replay_difference(record()) is None


def test_a_masked_recording_is_not_replayed(caller: Caller) -> None:
    caller.say("hours", inputParams={"token": "secret"})

    with pytest.raises(NotReplayable, match="Redaction masked"):
        find_replay_difference(record())


@pytest.mark.parametrize("level", ["STANDARD", "ERROR_ONLY", "NONE"])
def test_filters_apply_to_both_sides(caller: Caller, level: str) -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key="LEVEL", config_value=level)
    caller.say("hours")

    assert find_replay_difference(record()) is None


def test_the_command_says_equal_or_what_differs(caller: Caller) -> None:
    caller.say("hours")
    out = StringIO()
    call_command("replay", caller.conversation_id, "1", stdout=out)
    (event,) = events("RESPONSE_EXACT")
    change_payload(caller.conversation_id, 1, event.seq, text="Forged.")

    assert out.getvalue().strip() == "equal"
    with pytest.raises(CommandError, match="is different"):
        call_command("replay", caller.conversation_id, "1", stdout=out)
    with pytest.raises(CommandError, match="no turn 9"):
        call_command("replay", caller.conversation_id, "9", stdout=out)
    with pytest.raises(CommandError, match="no turn 1"):
        call_command("replay", str(uuid.uuid4()), "1", stdout=out)


@pytest.mark.parametrize("number", [1e23, 1.0e308, -0.0, 2**63, 2**53 + 1, 0.1 + 0.2])
def test_numbers_that_a_database_writes_in_its_own_way_are_no_difference(caller: Caller, number: float) -> None:
    caller.say("hours", inputParams={"amount": number})
    caller.say("fees", inputParams={"list": [{"n": number}]})

    assert [find_replay_difference(record) for record in CeConversationHistory.objects.all()] == [None, None]


def without_the_answer_of(port: str) -> None:
    """Take one recorded answer away, as a bug or a hand could."""
    turn = record()
    document = decompress(turn.recording, _WORDS)
    document["tape"] = [entry for entry in document["tape"] if entry[0] != port]
    CeConversationHistory.objects.filter(pk=turn.pk).update(recording=compress(dumps(document), _WORDS))


@pytest.mark.parametrize("port", ["model.configured", "transform"])
def test_with_one_recorded_answer_taken_away_it_fails_and_names_it(caller: Caller, port: str) -> None:
    caller.say("hours")
    without_the_answer_of(port)

    difference = find_replay_difference(record())

    assert difference is not None
    assert f"of the turn asks {port}" in difference.calls[0]
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("replay", caller.conversation_id, 1, stdout=said)
    assert difference.calls[0] in said.getvalue()


def test_a_recorded_call_that_is_not_made_is_a_difference_too(caller: Caller) -> None:
    caller.say("hours")
    turn = record()
    document = decompress(turn.recording, _WORDS)
    document["tape"].append(["tool", {"tool": "order.status", "group": "", "args": {}}, {"result": 1}])
    CeConversationHistory.objects.filter(pk=turn.pk).update(recording=compress(dumps(document), _WORDS))

    difference = find_replay_difference(record())

    assert difference is not None
    assert "Recorded and not asked for: tool for" in difference.calls[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", [60, pytest.param(300, marks=pytest.mark.nightly)])
def test_turns_that_phrases_decided_replay_equal_after_the_phrases_changed(caller: Caller, number: int) -> None:
    phrases = {
        "PARCELS": ("Where is my parcel?", "Has my order been sent?", "When does the delivery come?"),
        "REFUNDS": ("I want my money back", "Please pay me back", "Can you return the payment?"),
    }
    with change_set():
        for intent, texts in phrases.items():
            CeIntent.objects.create(intent_code=intent, description=intent, display_name=intent.title())
            answer = {"response_type": "EXACT", "exact_text": f"About {intent}."}
            CeResponse.objects.create(intent_code=intent, state_code="ANY", **answer)
            for text in texts:
                CeIntentClassifier.objects.create(
                    intent_code=intent, state_code="IDLE", rule_type="PHRASE", pattern=text
                )
        CeConfig.objects.create(config_type="Phrases", config_key="MIN_CONFIDENCE", config_value="0.2")
    beginnings = ("hello", "well", "sorry", "look", "now", "please", "listen", "so", "right", "okay")
    wishes = ("has the parcel left", "give me my money back", "is the delivery late", "pay the money back", "why")
    endings = ("", "today", "at last", "this week", "for me", "again")
    for beginning, ending, wish in islice(product(beginnings, endings, wishes), number):
        caller.say(f"{beginning}, {wish} {ending}")
    turns = CeConversationHistory.objects.order_by("turn_no")
    decided = {turn.intent_code for turn in turns}
    CeIntentClassifier.objects.filter(rule_type="PHRASE").update(pattern="something else altogether")

    assert len(turns) == number
    assert {"PARCELS", "REFUNDS"} <= decided
    assert [turn.turn_no for turn in turns if find_replay_difference(turn)] == []
