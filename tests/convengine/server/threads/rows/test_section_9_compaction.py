"""Sessions 9, line by line: what an ended session leaves, once, and what the next one sees of it."""

from collections.abc import Sequence
from typing import Any

import pytest

from audit.models import CeAudit
from config_admin.models import CeOutputSchema, CePromptTemplate, CeResponse
from convengine.engine.llm.scripted import ScriptedModel, ScriptLine
from convengine.server import wiring
from convengine.server.jobs import running
from convengine.server.memory import compaction
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory, CeSessionUnit
from tests.convengine.server.threads.rows.stories import CLOSE, Story
from tests.threads import DAY, Participant, later, row_of, setting

JOB = "compact_sessions"


def run(name: str) -> Any:
    """Run a job as the beat has it run."""
    return running.run(name, by="test")


def get_memory(story: Story) -> CeMemory:
    return CeMemory.objects.get(conversation_id=story.session_id, memory_type="COMPACTED")


#: How the session ends, how long the user was away before the last word, and how that is kept.
ENDS = [
    pytest.param(("a trip", "looks good"), 0, ("COMPLETE", "confirmed"), 2, id="S9-COMPLETE-confirmed"),
    pytest.param(("a trip", "tell me the hours"), 0, ("COMPLETE", "new_task"), 2, id="S9-COMPLETE-new-task"),
    pytest.param(("a trip", "the trip?", CLOSE), 0, ("COMPLETE", "closed"), 2, id="S9-COMPLETE-closed"),
    pytest.param(("a trip", "never mind"), 0, ("ABORTED", "abandoned"), 2, id="S9-partial-abandoned"),
    pytest.param(("a trip", "start over"), 0, ("ABORTED", "explicit_reset"), 1, id="S9-partial-explicit-reset"),
    pytest.param(("a trip", "hello"), DAY, ("ABORTED", "timeout"), 1, id="S9-partial-timeout"),
    pytest.param(("a trip", "hello"), 8 * DAY, ("ABORTED", "stale"), 1, id="S9-partial-stale"),
]


@pytest.mark.parametrize(("script", "idle", "outcome", "last_turn"), ENDS)
def test_a_session_that_ends_leaves_one_memory(
    story: Story, settings: Any, script: Sequence[str], idle: float, outcome: tuple[str, str], last_turn: int
) -> None:
    story.play(script[0])
    later(settings, idle)
    story.play(*script[1:])

    run(JOB)

    memory, row = get_memory(story), story.row
    assert (memory.workspace_id, memory.channel, memory.remote_jid) == ("default", "whatsapp", row.remote_jid)
    assert memory.summary_text == row.context_summary
    assert memory.summary_text.startswith("GOAL: Trip")
    detail = memory.detail_json
    assert ((detail["outcome"], detail["reason"]), detail["units"]) == (outcome, [])
    assert (memory.from_turn, memory.to_turn) == (1, last_turn)


def test_S9_partial_topic_drift(story: Story) -> None:
    setting("ENABLE_DRIFT_CLASSIFIER", "true")
    story.play("a trip")
    lines = [ScriptLine(("DRIFT",), '{"otherTopic": true, "confidence": 0.9}')]
    with wiring.replace_outside_world(wiring.OutsideWorld(model=ScriptedModel(lines))):
        story.play("my roof leaks")

    run(JOB)

    assert get_memory(story).detail_json["reason"] == "topic_drift"


def test_S9_units_the_committed_ones_are_in_the_memory(story: Story) -> None:
    schema = {
        "type": "object",
        "properties": {"email": {"type": "string", "format": "email"}, "city": {"type": "string"}},
        "required": ["email", "city"],
    }
    CeOutputSchema.objects.create(intent_code="VISA", state_code="ANY", json_schema=schema)
    story.play("a visa, ann@example.com", CLOSE)

    run(JOB)

    (unit,) = get_memory(story).detail_json["units"]
    assert (unit["kind"], unit["topic"], unit["claim"], unit["source_turn"]) == ("FACT", "email", "ann@example.com", 1)


def test_S9_explainability_is_trimmed(story: Story) -> None:
    setting("EXPLAINABILITY_TURNS", "2")
    story.play("hours", "hours?", "and on sunday?", CLOSE)

    run(JOB)

    explained = story.guest.call("get", f"/{story.session_id}/explainability").json()["turns"]
    assert [turn["turn_no"] for turn in explained] == [3, 2]


def test_S9_open_action_is_EXPIRED(story: Story) -> None:
    story.play("a refund", "what is that?", CLOSE)
    assert story.row.context_json["pending_action_runtime"]["status"] == "OPEN"

    run(JOB)

    assert story.row.context_json["pending_action_runtime"]["status"] == "EXPIRED"
    event = CeAudit.objects.get(conversation_id=story.session_id, stage="PENDING_ACTION_LIFECYCLE", turn_no=None)
    assert (event.payload_json["event"], event.payload_json["status"]) == ("SESSION_ENDED", "EXPIRED")


def everything() -> list[list[dict[str, Any]]]:
    tables = (CeConversation, CeMemory, CeAudit, CeConversationHistory, CeSessionUnit)
    return [list(table.objects.order_by("pk").values()) for table in tables]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(("a refund", "what is that?", CLOSE), id="S9-idempotent-complete"),
        pytest.param(("a trip", "never mind"), id="S9-idempotent-partial"),
    ],
)
def test_running_it_twice_changes_nothing(story: Story, script: Sequence[str]) -> None:
    story.play(*script)
    run(JOB)
    once = everything()

    run(JOB)
    assert compaction.compact(story.session_id)

    assert everything() == once


def test_S9_background_no_turn_waits_for_it(story: Story) -> None:
    story.play("a trip", "looks good")

    assert not CeMemory.objects.filter(memory_type="COMPACTED").exists()


def test_S9_retried_after_a_fault(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    story.play("a trip", "looks good")

    def fails(*_: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(compaction, "_store_memory", fails)
    failed = run(JOB)
    before = everything()
    monkeypatch.undo()
    again = run(JOB)

    assert (failed.status, again.status) == ("FAILED", "OK")
    assert before[1] == [row for row in before[1] if row["memory_type"] == "SESSION_SUMMARY"]
    assert get_memory(story).detail_json["outcome"] == "COMPLETE"


@pytest.mark.parametrize("compacted", [True, False], ids=["S9-recall-after-the-job", "S9-recall-before-the-job"])
def test_the_next_session_sees_what_the_last_one_left(story: Story, compacted: bool) -> None:
    CeResponse.objects.filter(intent_code="HOURS").update(exact_text="{{ memory.recalled_summary }}")
    story.play("a trip", "looks good")
    if compacted:
        run(JOB)

    answer = story.play("hours")

    assert answer["reason"] == "session_closed"
    assert row_of(answer).context_json["memory"]["recalled_summary"] == story.row.context_summary
    assert " ".join(answer["reply"].split()) == " ".join(story.row.context_summary.split())


def test_S9_recall_is_of_the_latest_session_of_the_thread_only(story: Story) -> None:
    other = Participant(story.guest.secret)
    story.play("a trip", "looks good", "a visa", "never mind")
    other.say("hours")
    other.say("never mind")

    answer = story.play("hours")

    assert row_of(answer).context_json["memory"]["recalled_summary"].startswith("GOAL: Visa")


def test_S9_recall_of_nothing_is_a_defined_name(guest: Participant) -> None:
    CePromptTemplate.objects.filter(intent_code="VISA").update(user_prompt="Before: {{ memory.recalled_summary }}.")
    CeResponse.objects.filter(intent_code="VISA").update(response_type="DERIVED")
    model = ScriptedModel([ScriptLine(("RESPONSE_TEXT",), "Which one?", None, (), ("Before: .",))])

    with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
        answer = guest.say("a visa")

    assert answer["reply"] == "Which one?"


def test_S9_recall_reaches_the_first_turn_of_a_new_task(story: Story) -> None:
    CeResponse.objects.filter(intent_code="HOURS").update(exact_text="{{ memory.recalled_summary }}")

    answer = story.play("a trip", "tell me the hours")

    assert answer["message_intent"] == "NEW_TASK"
    assert answer["reply"].startswith("GOAL: Trip")


@pytest.mark.parametrize(
    ("idle", "reason"),
    [
        pytest.param(DAY, "timeout", id="S9-closer-timeout"),
        pytest.param(8 * DAY, "stale", id="S9-closer-stale"),
    ],
)
def test_a_session_ends_when_its_time_ran_out_although_nobody_writes_again(
    story: Story, settings: Any, idle: float, reason: str
) -> None:
    story.play("a trip")
    later(settings, idle)

    run("close_sessions")
    run(JOB)

    assert (story.row.lifecycle, story.row.lifecycle_detail["reason"]) == ("ABORTED", reason)
    assert story.events[-1] == {"from": "PENDING_COMPLETE", "to": "ABORTED", "reason": reason, "turn_no": 1}
    assert get_memory(story).detail_json["reason"] == reason
    assert story.play("hours")["reason"] == "session_closed"
