"""What retention takes out is no damage, and nothing else is excused by it."""

import uuid
from datetime import timedelta

import pytest
from django.db.models import QuerySet

from audit.integrity import verify
from audit.models import CeAudit, CeChainBase, CeChainCut, CeTurnRow
from audit.record import old_events
from audit.record.seal import cuts
from convengine.server.database.sql import database_time
from convengine.server.sessions import old_turns as turns
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.database import allow_forging
from tests.record import events
from tests.worlds import create_help_desk, set_audit_setting

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    found = Caller()
    for _ in range(4):
        found.say("hours")
    return found


def later(monkeypatch: pytest.MonkeyPatch, days: float) -> None:
    now = database_time() + timedelta(days=days)
    for where in ("audit.record.old_events.database_time", "convengine.server.sessions.old_turns.database_time"):
        monkeypatch.setattr(where, lambda: now)


def codes(caller: Caller) -> list[tuple[str, int | None]]:
    return [(one.code, one.turn_no) for one in verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings]


def test_events_of_steps_go_earlier_and_the_others_stay_sealed(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    set_audit_setting("STEP_RETENTION_DAYS", 7)
    later(monkeypatch, 8)
    list(old_events.remove_old())

    assert not CeAudit.objects.filter(stage__startswith="STEP_E").exists()
    assert CeAudit.objects.filter(turn_no=1).exists()
    assert codes(caller) == []
    assert list(old_events.remove_old()) == []
    # Not one of them is put in any more either: of a step nobody would see the end, or the wrong beginning.
    assert {event.stage for event in events()} == set(CeAudit.objects.values_list("stage", flat=True))
    assert {step["status"] for step in caller.get("/trace", turn=1).json()["steps"]} == {"OK"}

    row = CeAudit.objects.get(turn_no=2, stage="USER_INPUT")
    CeAudit.objects.filter(pk=row.pk).purge()
    assert codes(caller) == [("EVENT_MISSING", 2)]


def test_old_turns_leave_the_beginning_of_the_rest(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    set_audit_setting("RETENTION_DAYS", 30)
    CeConversation.objects.update(updated_at=database_time() + timedelta(days=40))
    later(monkeypatch, 31)
    list(old_events.remove_old())
    list(turns.remove_old_turns())

    assert list(CeConversationHistory.objects.values_list("turn_no", flat=True)) == [4]
    assert not CeAudit.objects.exists()
    assert not CeTurnRow.objects.exists()
    assert CeChainBase.objects.get().turn_no == 3
    assert codes(caller) == []

    caller.say("hours")
    assert codes(caller) == []
    CeChainBase.objects.update(turn_no=4)
    assert codes(caller)[0][0] in ("RECORD_MISSING", "CHAIN_BROKEN")


def test_what_is_taken_out_by_hand_is_not_excused_by_a_cut_that_is_older(caller: Caller) -> None:
    cuts.note_cut(CeChainCut.Kind.EVENTS, database_time() - timedelta(days=1))
    CeAudit.objects.filter(turn_no=2).purge()

    assert {code for code, _ in codes(caller)} == {"EVENT_MISSING"}


def test_a_cut_that_somebody_put_in_excuses_nothing(caller: Caller) -> None:
    CeChainCut.objects.create(kind="EVENTS", before=database_time() + timedelta(days=1))
    CeChainCut.objects.create(kind="BEGIN", before=database_time() + timedelta(days=1))
    CeAudit.objects.filter(turn_no=2).purge()
    CeConversationHistory.objects.filter(turn_no=1).update(chain=None)

    assert {code for code, _ in codes(caller)} >= {"EVENT_MISSING", "SEAL_MISSING"}


def test_a_changed_event_is_no_cut(caller: Caller) -> None:
    cuts.note_cut(CeChainCut.Kind.EVENTS, database_time() + timedelta(days=1))
    row = CeAudit.objects.filter(turn_no=2).first()
    with allow_forging("ce_audit"):
        QuerySet(CeAudit).filter(pk=row.pk).update(payload_json={"forged": True})

    assert codes(caller) == [("EVENT_CHANGED", 2)]
