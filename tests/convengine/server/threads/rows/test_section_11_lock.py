"""Sessions 11, line by line: what holds an intent, and what breaks that hold."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from config_admin.models import CeOutputSchema
from tests.api import Caller
from tests.convengine.server.threads.rows.stories import Story, payloads, row_behind
from tests.threads import row_of, setting

#: The five phrases, in a message, and the five params that have the intent resolved anew.
PHRASES = {
    "switch to": "switch to the hours",
    "switch intent": "please switch intent to hours",
    "change intent": "change intent: hours",
    "change flow": "Change flow, the hours",
    "change mode": "hours, change mode",
}
PARAMS = ("force_intent_resolution", "resolve_intent", "switch_intent", "switch_flow", "switch_mode")


def lock(caller: Caller) -> tuple[bool, str | None]:
    intent_lock = row_behind(caller).context_json["intent_lock"]
    return intent_lock["locked"], intent_lock["reason"]


def test_S11_lock_is_set_while_required_fields_are_incomplete(caller: Caller) -> None:
    caller.say("a visa")
    assert lock(caller) == (True, "SCHEMA_INCOMPLETE")

    caller.say("ann@example.com")
    assert lock(caller) == (True, "SCHEMA_INCOMPLETE")


def test_S11_lock_skips_the_resolution(caller: Caller) -> None:
    caller.say("a visa")

    answer = caller.say("tell me the hours")

    assert answer["intent"] == "VISA"
    (skipped,) = payloads(caller, "INTENT_RESOLVE_SKIPPED_SCHEMA_COLLECTION", 2)
    assert (skipped["intentLocked"], skipped["intentLockReason"]) == (True, "SCHEMA_INCOMPLETE")
    assert not payloads(caller, "INTENT_RESOLVED_BY_CLASSIFIER", 2)


def test_S11_lock_is_removed_when_the_schema_is_complete(caller: Caller) -> None:
    caller.say("a visa")

    caller.say("ann@example.com, Japan")

    assert lock(caller) == (False, None)
    assert caller.say("tell me the hours")["intent"] == "HOURS"


def test_S11_lock_is_removed_when_the_intent_has_no_schema(caller: Caller) -> None:
    caller.say("a visa")
    CeOutputSchema.objects.all().delete()

    caller.say("ann@example.com")

    assert lock(caller) == (False, None)
    assert caller.say("tell me the hours")["intent"] == "HOURS"


def unlock(caller: Caller) -> None:
    """The form is open, and no lock is stored."""
    row = row_behind(caller)
    row.context_json.pop("intent_lock")
    row.save()


def test_S11_sticky_keeps_the_intent_while_the_form_is_incomplete(caller: Caller) -> None:
    caller.say("a visa")
    unlock(caller)

    answer = caller.say("tell me the hours")

    assert answer["intent"] == "VISA"
    (skipped,) = payloads(caller, "INTENT_RESOLVE_SKIPPED_STICKY_INTENT", 2)
    assert (skipped["stickyIntentEnabled"], skipped["reason"]) == (True, "SCHEMA_INCOMPLETE")


def test_S11_sticky_can_be_switched_off(caller: Caller) -> None:
    setting("IntentResolutionStep/STICKY_INTENT", "false")
    caller.say("a visa")
    unlock(caller)

    assert caller.say("tell me the hours")["intent"] == "HOURS"


SIGNALS: list[Any] = [
    *(pytest.param(text, {}, phrase, id=f"S11-signal-{phrase}") for phrase, text in PHRASES.items()),
    *(pytest.param("the hours", {name: True}, name, id=f"S11-signal-{name}") for name in PARAMS),
    pytest.param("the hours", {"switch_flow": "yes"}, "switch_flow", id="S11-signal-switch_flow-as-a-text"),
]


@pytest.mark.parametrize("locked", [True, False], ids=["lock", "sticky"])
@pytest.mark.parametrize(("text", "params", "signal"), SIGNALS)
def test_a_signal_has_the_intent_resolved_in_the_middle_of_a_form(
    caller: Caller, text: str, params: Mapping[str, Any], signal: str, locked: bool
) -> None:
    caller.say("a visa")
    if not locked:
        unlock(caller)

    answer = caller.say(text, inputParams=params)

    assert (answer["intent"], lock(caller)) == ("HOURS", (False, None))
    (forced,) = payloads(caller, "INTENT_RESOLVE_FORCED", 2)
    assert forced["reason"] == ("SCHEMA_INCOMPLETE" if locked else None)
    assert forced["signal"].partition(":")[2].strip("^ ") == signal
    assert not payloads(caller, "INTENT_RESOLVE_SKIPPED_STICKY_INTENT", 2)


@pytest.mark.parametrize(
    ("text", "params"),
    [
        pytest.param("I would switch to the hours", {}, id="S11-signal-not-switch-to-in-the-middle"),
        pytest.param("the hours", {"switch_flow": False}, id="S11-signal-not-false"),
        pytest.param("the hours", {"switch_flow": "no"}, id="S11-signal-not-no"),
    ],
)
def test_what_is_no_signal_leaves_the_form_alone(caller: Caller, text: str, params: Mapping[str, Any]) -> None:
    caller.say("a visa")

    assert caller.say(text, inputParams=params)["intent"] == "VISA"


def test_S11_signal_of_one_request_is_none_of_the_next(caller: Caller) -> None:
    caller.say("a visa")
    caller.say("a visa", inputParams={"switch_flow": True})

    assert caller.say("the hours")["intent"] == "VISA"


@pytest.mark.parametrize("texts", [("switch to a trip, or the hours?", "the hours")], ids=["S11-signal-clarification"])
def test_an_active_clarification_has_the_intent_resolved(caller: Caller, texts: Sequence[str]) -> None:
    caller.say("a visa")
    question = caller.say(texts[0])
    assert question["stateReport"]["pendingClarification"]

    answer = caller.say(texts[1])

    assert answer["intent"] == "HOURS"
    assert not payloads(caller, "INTENT_RESOLVE_SKIPPED_STICKY_INTENT", 3)


def test_S11_signal_a_reset_command_breaks_the_lock_of_a_thread_too(caller: Caller, story: Story) -> None:
    assert row_of(story.play("a visa", "/restart")).intent_code == "UNKNOWN"
