"""Two configurations compared on recorded turns."""

from collections.abc import Iterator
from typing import Any

import pytest

from audit.search.query import SearchQuery
from audit.what_if.engine import ComparedTurn, ConfigurationPair, DifferenceKind
from audit.what_if.selection import select_turns
from config_admin.models import CeIntentClassifier, CeResponse, CeRule
from config_admin.releases.content import content_of
from convengine.play.comparison import Aspect
from convengine.server.extensions.registry import TaskEntry, registry
from convengine.server.interfaces.configuration import ConfigurationName, UnsavedRows, named_configurations
from convengine.server.sessions.models import CeConversationHistory
from convengine.server.threads.hand_over import answer_as_person
from tests.api import Caller
from tests.audit.what_if.tripwire import set_tripwire

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]
LIVE = ConfigurationName("live")


def compare(unsaved: UnsavedRows | None = None, *, as_recorded: bool = False) -> list[ComparedTurn]:
    """All recorded turns on live and with unsaved rows; nothing outside is called."""
    live, new = named_configurations().read(LIVE), named_configurations().read(LIVE, unsaved)
    with set_tripwire(registry):
        return list(
            ConfigurationPair(new, None if as_recorded else live).compare_turns(select_turns(SearchQuery(), 100))
        )


def kinds(results: list[ComparedTurn]) -> list[DifferenceKind]:
    return [result.kind for result in results]


def edit(row: Any, **values: Any) -> UnsavedRows:
    """A row with other values."""
    return {row._meta.db_table: {row.pk: {**content_of(row), **values}}}


def answer(**where: str) -> CeResponse:
    return CeResponse.objects.get(**where)


def test_another_text_is_a_difference_of_the_answer_by_its_row(caller: Caller) -> None:
    caller.say("hours")
    caller.say("fees")
    row = answer(intent_code="FEES")

    first, second = compare(edit(row, exact_text="Ten."))

    assert kinds([first, second]) == [DifferenceKind.SAME, DifferenceKind.ANSWER]
    assert second.cause == ("ce_response", str(row.pk))
    assert second.old
    assert second.old.answer["value"] == "No fees."
    assert second.new
    assert second.new.answer["value"] == "Ten."


def test_an_answer_from_outside_is_the_same_on_all_configurations(caller: Caller) -> None:
    caller.say("hours")
    answer_as_person(caller.conversation_id, "default", "Ada here.", "Ada")

    assert kinds(compare(edit(answer(intent_code="FEES"), exact_text="Ten."))) == [
        DifferenceKind.SAME,
        DifferenceKind.SAME,
    ]
    assert kinds(compare(as_recorded=True)) == [DifferenceKind.SAME, DifferenceKind.SAME]


def test_another_phrase_is_a_difference_of_the_intent(caller: Caller) -> None:
    caller.say("fees")
    row = CeIntentClassifier.objects.get(intent_code="FEES")

    (result,) = compare(edit(row, pattern="costs"))

    assert result.kind is DifferenceKind.INTENT
    assert result.cause == ("ce_intent_classifier", str(row.pk))
    assert [side and side.summary[Aspect.INTENT] for side in (result.old, result.new)] == ["FEES", "UNKNOWN"]


def test_another_state_comes_before_the_answer(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})
    rule = CeRule.objects.get()

    (result,) = compare({"ce_rule": {rule.pk: None}})

    assert result.kind is DifferenceKind.STATE
    assert result.cause == ("ce_rule", str(rule.pk))


def test_a_turn_that_fails_then_is_an_error(caller: Caller) -> None:
    caller.say("fees")

    (result,) = compare({"ce_response": {answer(intent_code="FEES").pk: None}})

    assert result.kind is DifferenceKind.ERROR
    assert result.new
    assert result.new.summary[Aspect.ERROR]


def test_a_remembered_value_is_a_difference_too(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})
    rule = CeRule.objects.get()
    added = {**content_of(rule), "rule_id": 900, "action": "SET_INPUT_PARAM", "action_value": "tier:gold"}

    (result,) = compare({"ce_rule": {900: added}})

    assert result.kind is DifferenceKind.VALUES
    assert result.cause == ("ce_rule", "900")


def test_a_turn_that_fails_on_both_sides_remembers_nothing(caller: Caller) -> None:
    answer(intent_code="HOURS", state_code="VIP").delete()
    caller.say("hours", inputParams={"vip": True})
    added = {
        **content_of(CeRule.objects.get()),
        "rule_id": 900,
        "action": "SET_INPUT_PARAM",
        "action_value": "tier:gold",
    }

    (result,) = compare({"ce_rule": {900: added}})

    assert result.old
    assert result.old.summary[Aspect.ERROR]
    assert result.kind is DifferenceKind.SAME


def test_of_several_changed_rows_the_one_that_decided_is_the_cause(caller: Caller) -> None:
    caller.say("fees")
    row, other = answer(intent_code="FEES"), answer(intent_code="HOURS", state_code="VIP")
    rows = {
        row.pk: {**content_of(row), "exact_text": "Ten."},
        other.pk: {**content_of(other), "exact_text": "Never."},
    }

    (result,) = compare({"ce_response": rows})

    assert result.cause == ("ce_response", str(row.pk))


def test_another_text_changes_no_later_turn(caller: Caller) -> None:
    for text in ("fees", "hours", "fees"):
        caller.say(text)

    results = compare(edit(answer(intent_code="FEES"), exact_text="Ten."))

    assert kinds(results) == [DifferenceKind.ANSWER, DifferenceKind.SAME, DifferenceKind.ANSWER]
    assert not any(result.is_after_difference for result in results)


def test_what_comes_after_a_lasting_difference_does_not_count(caller: Caller) -> None:
    for text in ("fees", "hours", "fees"):
        caller.say(text)
    other = Caller(caller.secret)
    other.say("hours")

    results = compare(edit(CeIntentClassifier.objects.get(intent_code="FEES"), pattern="costs"))

    by_turn = {(str(r.key.conversation_id), r.key.turn_no): r for r in results}
    one = [by_turn[caller.conversation_id, turn] for turn in (1, 2, 3)]
    assert [result.is_after_difference for result in one] == [False, True, True]
    assert [result.differs for result in one] == [True, False, False]
    assert not by_turn[other.conversation_id, 1].is_after_difference


def test_turns_of_an_older_release_are_compared_with_live_or_with_their_record(caller: Caller) -> None:
    caller.say("fees")
    CeResponse.objects.filter(intent_code="FEES").update(exact_text="Five.")

    assert kinds(compare()) == [DifferenceKind.SAME]
    assert kinds(compare(as_recorded=True)) == [DifferenceKind.ANSWER]


class Counter:
    """A task with an effect."""

    def run(self, call: Any) -> Any:
        call.set_context("seen", call.input_params.get("tier"))
        return 1


@pytest.fixture
def task() -> Iterator[CeRule]:
    """A rule that runs a task."""
    registry.add_task("counter", TaskEntry({"run": Counter().run}))
    yield CeRule(
        phase="PRE_RESPONSE_RESOLUTION", intent_code="ANY", state_code="ANY", rule_type="EXACT", match_pattern="ANY",
        action="SET_TASK", action_value="counter:run",
    )  # fmt: skip
    del registry.tasks["counter"]


def test_a_recorded_task_answers_only_the_question_that_was_recorded(caller: Caller, task: CeRule) -> None:
    task.save()
    caller.say("fees")
    rule = CeRule.objects.get(intent_code="HOURS")
    before = {**content_of(rule), "rule_id": 900, "intent_code": "FEES", "phase": "POST_DIALOGUE_ACT"}
    before |= {"match_pattern": "ANY", "rule_type": "EXACT", "intent_code": "ANY", "state_code": "ANY"}
    before |= {"action": "SET_INPUT_PARAM", "action_value": "tier:gold"}

    assert kinds(compare()) == [DifferenceKind.SAME]
    assert kinds(compare(edit(answer(intent_code="FEES"), exact_text="Ten."))) == [DifferenceKind.ANSWER]
    (result,) = compare({"ce_rule": {900: before}})
    assert result.kind is DifferenceKind.NEEDS_MODEL
    assert result.notes == ("the task counter:run",)
    assert result.cause == ("ce_rule", "900")


def test_a_task_that_was_not_recorded_is_not_run(caller: Caller, task: CeRule) -> None:
    caller.say("fees")

    (result,) = compare({"ce_rule": {900: {**content_of(task), "rule_id": 900}}})

    assert result.kind is DifferenceKind.NEEDS_MODEL
    assert not result.differs


def test_a_masked_turn_cannot_run_again(caller: Caller) -> None:
    caller.say("fees", inputParams={"token": "secret"})

    (result,) = compare()

    assert result.kind is DifferenceKind.NOT_REPLAYABLE
    assert "Redaction" in result.notes[0]


def test_a_removed_turn_is_said(caller: Caller) -> None:
    caller.say("fees")
    keys = select_turns(SearchQuery(), 100)
    CeConversationHistory._base_manager.filter(turn_no=1).update(recording=None, replayable=False)
    live = named_configurations().read(LIVE)

    (result,) = ConfigurationPair(live, live).compare_turns(keys)
    (gone,) = ConfigurationPair(live, live).compare_turns([keys[0]._replace(history_id=0)])

    assert result.kind is gone.kind is DifferenceKind.NOT_REPLAYABLE
    assert gone.notes == ("The turn is no longer stored.",)


def test_a_removed_turn_after_a_lasting_difference_does_not_count_either(caller: Caller) -> None:
    caller.say("fees")
    caller.say("hours")
    first, second = select_turns(SearchQuery(), 100)
    live = named_configurations().read(LIVE)
    unsaved = edit(CeIntentClassifier.objects.get(intent_code="FEES"), pattern="costs")
    comparison = ConfigurationPair(named_configurations().read(LIVE, unsaved), live)

    results = list(comparison.compare_turns([first, second._replace(history_id=0)]))

    assert kinds(results) == [DifferenceKind.INTENT, DifferenceKind.NOT_REPLAYABLE]
    assert [result.is_after_difference for result in results] == [False, True]
