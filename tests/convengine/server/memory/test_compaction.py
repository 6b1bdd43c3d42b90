"""What an ended session leaves, with a model and without, once."""

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from audit.models import CeAudit, CeLlmCallLog
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.ports import LlmAnswer
from convengine.engine.turn.turn import TurnRequest
from convengine.server.memory import compaction
from convengine.server.memory.compaction import CompactionFailed, compact, compact_ended_sessions, compact_thread
from convengine.server.memory.session_memory import recall_previous_session
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory, CeSessionUnit
from convengine.server.turns.take_turn import take_turn
from convengine.server.wiring import OutsideWorld, replace_outside_world
from tests.convengine.server.threads.sessions import session
from tests.fakes.models import AnsweringModel
from tests.record import events
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
ENDED: dict[str, Any] = {"lifecycle": "COMPLETE", "lifecycle_detail": {"reason": "confirmed", "at": "2026-01-01"}}
OPEN_ACTION = {
    "pending_action_runtime": {
        "status": "OPEN",
        "action_key": "CANCEL",
        "action_ref": "shop.cancel",
        "scope": "CANCEL_ORDER|CONFIRM",
    }
}


def memory(row: CeConversation) -> CeMemory:
    return CeMemory.objects.get(conversation=row, memory_type="COMPACTED")


def turn(row: CeConversation, turn_no: int, **values: Any) -> CeConversationHistory:
    return CeConversationHistory.objects.create(
        conversation=row,
        turn_no=turn_no,
        user_input=f"question {turn_no}",
        assistant_output={"type": "TEXT", "value": f"answer {turn_no}"},
        config_version=1,
        **values,
    )


def run() -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in compact_ended_sessions():
        total.update(counts)
    return total


class TestWithoutAModel:
    def test_the_memory_has_summary_units_outcome_and_turns(self) -> None:
        row = session(**ENDED)
        CeSessionUnit.objects.create(
            conversation=row, kind="FACT", topic="order", claim="A-1007", source_turn=2, content_hash="x"
        )

        assert compact(str(row.pk))

        memory_row = memory(row)
        assert (memory_row.summary_text, memory_row.source) == (row.context_summary, "TEMPLATE")
        assert (memory_row.workspace_id, memory_row.channel, memory_row.remote_jid) == (
            "default",
            "whatsapp",
            row.remote_jid,
        )
        assert (memory_row.from_turn, memory_row.to_turn) == (1, 3)
        unit = {"kind": "FACT", "topic": "order", "claim": "A-1007", "source_turn": 2, "utility": [], "phases": []}
        assert memory_row.detail_json == {"outcome": "COMPLETE", "reason": "confirmed", "turns": 3, "units": [unit]}

    def test_a_partial_end_leaves_one_too(self) -> None:
        row = session(lifecycle="ABORTED", lifecycle_detail={"reason": "abandoned", "at": "2026-01-01"})

        assert run() == {"compacted": 1}
        assert (memory(row).detail_json["outcome"], memory(row).detail_json["reason"]) == ("ABORTED", "abandoned")

    def test_a_session_without_a_word_leaves_the_five_lines(self) -> None:
        row = session(**ENDED, context_summary="", turn_count=0, last_turn_no=0)

        compact(str(row.pk))

        assert memory(row).summary_text == "GOAL: none\nENTITIES: none\nDECISIONS: none\nPENDING: none\nTURNS: 0"

    def test_doing_it_twice_changes_nothing(self) -> None:
        row = session(**ENDED, context_json=OPEN_ACTION)
        compact(str(row.pk))
        everything = [list(model.objects.values()) for model in (CeConversation, CeMemory, CeAudit)]

        assert compact(str(row.pk))
        assert run() == {}
        assert [list(model.objects.values()) for model in (CeConversation, CeMemory, CeAudit)] == everything

    def test_an_open_session_is_left_alone(self) -> None:
        row = session(context_json=OPEN_ACTION)

        assert not compact(str(row.pk))
        assert run() == {}
        row.refresh_from_db()
        assert (row.context_json, CeMemory.objects.count()) == (OPEN_ACTION, 0)

    def test_a_session_that_was_opened_again_and_ended_is_compacted_anew(self) -> None:
        row = session(**ENDED)
        compact(str(row.pk))
        CeConversation.objects.filter(pk=row.pk).update(version=1, context_summary="GOAL: another", last_turn_no=5)

        assert run() == {"compacted": 1}
        assert (memory(row).summary_text, memory(row).to_turn) == ("GOAL: another", 5)
        assert CeMemory.objects.count() == 1

    def test_its_open_action_expires_and_the_trail_says_so(self) -> None:
        row = session(**ENDED, context_json=OPEN_ACTION)

        compact(str(row.pk))

        row.refresh_from_db()
        record = row.context_json["pending_action_runtime"]
        assert (record["status"], record["expired_turn"]) == ("EXPIRED", 3)
        assert row.context_json["pending_action_ordinal"] == 2
        event = CeAudit.objects.get(conversation_id=row.pk)
        expected = {"event": "SESSION_ENDED", "status": "EXPIRED", "actionKey": "CANCEL", "actionRef": "shop.cancel"}
        assert (event.stage, event.payload_json) == ("PENDING_ACTION_LIFECYCLE", expected)

    @pytest.mark.parametrize("status", ["EXECUTED", "REJECTED", "FAILED"])
    def test_an_action_that_had_its_end_keeps_it(self, status: str) -> None:
        context = {"pending_action_runtime": {**OPEN_ACTION["pending_action_runtime"], "status": status}}
        row = session(**ENDED, context_json=context)

        compact(str(row.pk))

        row.refresh_from_db()
        assert row.context_json == context

    def test_one_that_cannot_be_done_keeps_nobody_else_from_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bad, good = session(timedelta(hours=2), **ENDED), session(**ENDED)
        whole = compaction._store_memory

        def remember(row: CeConversation, *rest: Any) -> None:
            if row.pk == bad.pk:
                raise ValueError("broken")
            whole(row, *rest)

        monkeypatch.setattr(compaction, "_store_memory", remember)

        with pytest.raises(CompactionFailed, match=r"1 sessions could not be compacted.*ValueError: broken"):
            run()
        assert list(CeMemory.objects.values_list("conversation_id", flat=True)) == [good.pk]
        monkeypatch.undo()
        assert run() == {"compacted": 1}

    def test_the_job_reads_an_index_of_what_waits(self) -> None:
        session(**ENDED)
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                # The order of plans depends on what other tests stored; a sort is what the index saves.
                cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off")
            explain = "EXPLAIN QUERY PLAN" if connection.vendor == "sqlite" else "EXPLAIN"
            cursor.execute(f"{explain} {compaction.uncompacted_sql(20)}")
            plan = " ".join(str(row) for row in cursor.fetchall())

        assert "ce_conversation_to_compact" in plan


class TestTheNextSession:
    def test_it_recalls_what_the_last_one_left(self) -> None:
        before = session(**ENDED)
        compact(str(before.pk))

        assert recall_previous_session(self._next(before)) == before.context_summary

    def test_it_waits_for_no_job(self) -> None:
        before = session(**ENDED)

        assert recall_previous_session(self._next(before)) == before.context_summary
        before.refresh_from_db()
        assert before.compacted_version == before.version

    def test_its_prompts_and_rules_see_it(self) -> None:
        create_help_desk()
        before = session(**ENDED)
        key = "7f3c7f5e-6a55-4ec6-93cb-3b1c8ab0a4c1"
        CeConversation.objects.create(conversation_id=key, channel="whatsapp", remote_jid=before.remote_jid)

        take_turn(TurnRequest(key, "hours", channel="whatsapp"))

        branch = CeConversation.objects.get(pk=key).context_json["memory"]
        assert branch["recalled_summary"] == before.context_summary

    @staticmethod
    def _next(before: CeConversation) -> Conversation:
        return Conversation("7f3c7f5e-6a55-4ec6-93cb-3b1c8ab0a4c1", channel="whatsapp", remote_jid=before.remote_jid)


class TestWithAModel:
    @pytest.fixture(autouse=True)
    def wanted(self) -> None:
        create_help_desk()
        CeConfig.objects.create(config_type="MemoryStep", config_key="SUMMARY_MODE", config_value="LLM")

    @pytest.fixture
    def talked(self) -> CeConversation:
        """A session of two real turns, ended."""
        key = "7f3c7f5e-6a55-4ec6-93cb-3b1c8ab0a4c1"
        CeConversation.objects.create(conversation_id=key, channel="whatsapp", remote_jid="+49")
        for text in ("hours", "fees"):
            take_turn(TurnRequest(key, text, channel="whatsapp"))
        CeConversation.objects.filter(pk=key).update(**ENDED)
        return CeConversation.objects.get(pk=key)

    def test_the_memory_is_in_the_models_words(self, talked: CeConversation) -> None:
        model = AnsweringModel(["They asked for hours and fees."])
        with replace_outside_world(OutsideWorld(model=model)):
            assert run() == {"compacted": 1}

        memory_row = memory(talked)
        assert (memory_row.summary_text, memory_row.source) == ("They asked for hours and fees.", "LLM")
        (request,) = model.requests
        assert "GOAL: " in request.user
        assert "Nine to five." in request.user
        assert "No fees." in request.user

    def test_the_call_and_its_events_belong_to_the_last_turn(self, talked: CeConversation) -> None:
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Hours and fees."]))):
            run()

        call = CeLlmCallLog.objects.get()
        assert (call.purpose, call.turn_no) == ("MEMORY", 2)
        turn_events = events(turn_no=2)
        assert [event.stage for event in turn_events][-2:] == ["MEMORY_LLM_INPUT", "MEMORY_LLM_OUTPUT"]
        assert [event.seq for event in turn_events] == list(range(1, len(turn_events) + 1))
        assert find_replay_difference(CeConversationHistory.objects.get(turn_no=2)) is None

    def test_what_fits_a_pattern_is_not_kept_for_the_next_session(self, talked: CeConversation) -> None:
        CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value=r"4111\d+")
        values = {"kind": "FACT", "topic": "card", "claim": "41112222", "source_turn": 1, "content_hash": "h"}
        CeSessionUnit.objects.create(conversation=talked, utility=[], phases=[], **values)
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Paid with 41112222."]))):
            compact(str(talked.pk))

        memory_row = CeMemory.objects.get(memory_type="COMPACTED")
        assert memory_row.summary_text == "Paid with ***."
        assert [unit["claim"] for unit in memory_row.detail_json["units"]] == ["***"]

    def test_a_model_that_is_out_leaves_the_summary_that_was_built(self, talked: CeConversation) -> None:
        down = LlmAnswer(error_code="LLM_CALL_FAILED", error_message="503")
        with replace_outside_world(OutsideWorld(model=AnsweringModel([down]))):
            assert run() == {"compacted": 1}
            assert run() == {}

        assert (memory(talked).summary_text, memory(talked).source) == (talked.context_summary, "TEMPLATE")
        assert CeAudit.objects.filter(stage="MEMORY_LLM_ERROR").exists()

    def test_a_next_session_that_begins_before_waits_for_no_model(self, talked: CeConversation) -> None:
        model = AnsweringModel(["Hours and fees."])
        following = Conversation("aaaa7f5e-6a55-4ec6-93cb-3b1c8ab0a4c1", channel="whatsapp", remote_jid="+49")
        with replace_outside_world(OutsideWorld(model=model)):
            assert recall_previous_session(following) == talked.context_summary
            assert not model.requests
            assert run() == {"compacted": 1}

        assert recall_previous_session(following) == "Hours and fees."

    def test_an_action_expires_once_if_a_next_session_begins_while_the_model_is_asked(
        self, talked: CeConversation, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        CeConversation.objects.filter(pk=talked.pk).update(context_json={**talked.context_json, **OPEN_ACTION})
        ask = compaction._ask_model_for_summary

        def ask_while_the_next_begins(*arguments: Any) -> Any:
            compact_thread("default", "whatsapp", "+49")
            return ask(*arguments)

        monkeypatch.setattr(compaction, "_ask_model_for_summary", ask_while_the_next_begins)
        with replace_outside_world(OutsideWorld(model=AnsweringModel(["Hours and fees."]))):
            assert run() == {"compacted": 1}

        assert CeAudit.objects.filter(stage="PENDING_ACTION_LIFECYCLE").count() == 1
        assert memory(talked).summary_text == "Hours and fees."

    def test_nothing_is_asked_twice(self, talked: CeConversation) -> None:
        model = AnsweringModel(["Hours and fees.", "never"])
        with replace_outside_world(OutsideWorld(model=model)):
            run()
            run()
            compact(str(talked.pk))

        assert len(model.requests) == 1
