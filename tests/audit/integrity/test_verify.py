"""What somebody changed in the stored record is found, and named; what the product does is no damage."""

import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import QuerySet

from audit.integrity import verify
from audit.models import CeAudit, CeChainLink, CeLlmCallLog, CeTurnRow
from config_admin.models import CeConfig, CeResponse
from convengine.engine.turn.seal import Seal
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads import external_changes
from convengine.server.turns.turn_record import encode_frame
from tests.api import Caller
from tests.database import allow_forging

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]


def verify_caller(caller: Caller) -> list[tuple[str, int | None, int | None]]:
    """What is wrong with the caller's conversation; looking at all of them must say the same."""
    findings = verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings
    assert [str(one) for report in verify.verify_range() for one in report.findings] == [str(one) for one in findings]
    return [(one.code, one.turn_no, one.seq) for one in findings]


def forge(pk: int, **values: Any) -> None:
    with allow_forging("ce_audit"):
        QuerySet(CeAudit).filter(pk=pk).update(**values)


def event(turn_no: int, stage: str) -> CeAudit:
    row: CeAudit = CeAudit.objects.get(turn_no=turn_no, stage=stage)
    return row


def test_turns_of_all_kinds_are_intact(caller: Caller) -> None:
    caller.say("hours", inputParams={"tier": "gold", "numbers": [1e16, -0.0, 1e22, 2**63, 1e-7], "text": "ünï\n\x00"})
    caller.say("my cvv")
    CeResponse.objects.filter(intent_code="FEES").delete()
    caller.say("fees")
    CeConfig.objects.create(config_type="AUDIT", config_key="FLUSH", config_value="STEP")
    caller.say("hours")
    CeConfig.objects.create(config_type="AUDIT", config_key="LEVEL", config_value="STANDARD")
    caller.say("hours")

    report = verify.verify_conversation(uuid.UUID(caller.conversation_id))

    assert report.findings == []
    assert (report.conversations, report.turns, report.unsealed) == (1, 5, 0)
    assert set(CeConversationHistory.objects.values_list("status", flat=True)) >= {"OK", "FAILED"}


def test_one_byte_of_one_event_is_found_wherever_it_stands(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    with allow_forging("ce_audit"):
        for row in CeAudit.objects.filter(turn_no=2):
            for values in (
                {"payload_json": {**row.payload_json, "x": 1}},
                {"stage": f"{row.stage}x"},
                {"config_version": 9},
                {"config_version": None},
            ):
                QuerySet(CeAudit).filter(pk=row.pk).update(**values)
                assert verify_caller(caller) == [("EVENT_CHANGED", 2, row.seq)], (row.stage, values)
                old = {name: getattr(row, name) for name in values}
                QuerySet(CeAudit).filter(pk=row.pk).update(**old)

    assert verify_caller(caller) == []


@pytest.mark.parametrize("turn_no", [None, 2, 99])
def test_a_model_call_of_no_turn_is_found(caller: Caller, turn_no: int | None) -> None:
    for _ in range(3):
        caller.say("hours")
    CeLlmCallLog.objects.create(
        conversation_id=caller.conversation_id, turn_id=uuid.uuid4(), turn_no=turn_no, created_at=database_time()
    )

    assert verify_caller(caller) == [("MODEL_CALLS_CHANGED", None, None)]


def test_an_event_that_was_taken_out_is_named(caller: Caller) -> None:
    caller.say("hours")
    for row in CeAudit.objects.filter(turn_no=1):
        CeAudit.objects.filter(pk=row.pk).purge()
        assert verify_caller(caller) == [("EVENT_MISSING", 1, row.seq)], row.stage
        row._state.adding = True
        row.save()
    assert verify_caller(caller) == []


@pytest.mark.parametrize("what", [("payload_json",), ("stage", "payload_json"), ("seq",), ("created_at",)])
def test_two_events_that_were_swapped_are_named(caller: Caller, what: tuple[str, ...]) -> None:
    caller.say("hours")
    one, other = event(1, "USER_INPUT"), event(1, "RESOLVE_RESPONSE")
    forge(one.pk, **{name: getattr(other, name) for name in what})
    forge(other.pk, **{name: getattr(one, name) for name in what})

    if what != ("created_at",) or one.created_at != other.created_at:
        assert verify_caller(caller) == [("EVENTS_SWAPPED", 1, one.seq)]


def test_an_event_that_was_put_in_is_named(caller: Caller) -> None:
    caller.say("hours")
    row = event(1, "USER_INPUT")
    row.pk, row.seq, row._state.adding = None, 999, True
    row.save()

    assert verify_caller(caller) == [("EVENT_ADDED", 1, 999)]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("user_input", "something else"),
        ("assistant_output", {"type": "TEXT", "value": "Something else."}),
        ("facts", {}),
        ("recording", b"x"),
        ("status", "FAILED"),
        ("intent_code", "OTHER"),
        ("duration_ms", -1),
    ],
)
@pytest.mark.parametrize("turn_no", [1, 3])
def test_a_changed_turn_record_is_named(caller: Caller, turn_no: int, column: str, value: Any) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=turn_no).update(**{column: value})

    assert verify_caller(caller) == [("RECORD_CHANGED", turn_no, None)]


def test_a_turn_record_that_was_taken_out_is_named(caller: Caller) -> None:
    for _ in range(4):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=2).delete()
    assert ("RECORD_MISSING", 2, None) in verify_caller(caller)

    CeAudit.objects.filter(turn_no=2).purge()
    assert verify_caller(caller) == [("RECORD_MISSING", 2, None)]


def test_an_end_that_was_cut_off_is_found(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=3).delete()
    CeAudit.objects.filter(turn_no=3).purge()

    assert verify_caller(caller) == [("END_CUT", 3, None)]


def test_a_beginning_that_was_cut_off_is_found(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=1).delete()
    CeAudit.objects.filter(turn_no=1).purge()

    assert verify_caller(caller) == [("RECORD_MISSING", 1, None)]


def test_a_seal_that_was_taken_off_is_found(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=2).update(chain=None)

    assert verify_caller(caller)[0] == ("SEAL_MISSING", 2, None)


def test_deciding_rows_are_sealed_too(caller: Caller) -> None:
    caller.say("hours")
    row = CeTurnRow.objects.first()
    with allow_forging("ce_turn_row"):
        QuerySet(CeTurnRow).filter(pk=row.pk).update(row_pk="999")
    assert verify_caller(caller) == [("DECIDING_ROWS_CHANGED", 1, None)]


def test_a_conversation_that_was_taken_out_is_found_while_its_events_are_there(caller: Caller) -> None:
    caller.say("hours")
    CeConversation.objects.filter(pk=caller.conversation_id).delete()

    assert verify_caller(caller) == [("CONVERSATION_MISSING", None, None)]


def test_seals_cost_few_bytes(caller: Caller) -> None:
    caller.say("hours")
    record = CeConversationHistory.objects.get()

    assert len(bytes(record.chain)) < 350
    assert connection.vendor in ("sqlite", "postgresql")
    assert not CeChainLink.objects.exists()


def test_the_record_of_a_turn_that_died_is_sealed_by_whoever_writes_it(caller: Caller) -> None:
    caller.say("hours")
    caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=2).delete()
    CeTurnRow.objects.exclude(turn_id=CeConversationHistory.objects.get().turn_id).purge()
    (died,) = set(CeAudit.objects.filter(turn_no=2).values_list("turn_id", flat=True))
    # As a turn with AUDIT/FLUSH = STEP leaves it whose process died.
    record = CeConversationHistory.objects.values().get()
    head = Seal.read(record["chain"]).hash(encode_frame(record))
    info = {"turnId": str(died), "turnNo": 2, "head": f"{record['config_version']}:0", "userText": "hours"}
    past = database_time() - timedelta(hours=1)
    CeConversation.objects.update(lease_token=uuid.uuid4(), lease_expires_at=past, lease_info=info, chain_head=head)

    caller.say("hours")

    assert list(CeConversationHistory.objects.order_by("turn_no").values_list("status", flat=True)) == [
        "OK",
        "FAILED",
        "OK",
    ]
    assert verify_caller(caller) == []
    forge(CeAudit.objects.get(turn_no=2, stage="ENGINE_UNKNOWN_FAILURE").pk, payload_json={})
    assert [code for code, *_ in verify_caller(caller)] == ["EVENT_CHANGED"]


def test_events_outside_of_turns_are_a_chain_of_their_own(caller: Caller) -> None:
    caller.say("hours")
    external_changes.close_session(caller.conversation_id, "default", "done")
    assert CeChainLink.objects.count() == 1
    assert verify_caller(caller) == []

    row = CeAudit.objects.filter(turn_no=None).first()
    forge(row.pk, payload_json={**row.payload_json, "reason": "forged"})
    assert verify_caller(caller) == [("EVENT_CHANGED", None, row.seq)]
    CeAudit.objects.filter(pk=row.pk).purge()
    assert verify_caller(caller) == [("EVENT_MISSING", None, row.seq)]


def test_a_turn_handled_elsewhere_is_sealed(caller: Caller) -> None:
    caller.say("hours")
    external_changes.record_external_turn(caller.conversation_id, "default", "hello", "hi", None)
    caller.say("hours")

    assert verify_caller(caller) == []
    CeConversationHistory.objects.filter(turn_no=2).update(assistant_output={"type": "TEXT", "value": "no"})
    assert verify_caller(caller) == [("RECORD_CHANGED", 2, None)]


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_is_committed_while_a_conversation_is_read_is_no_damage(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller.say("hours")
    read = verify.read_conversation_facts

    def late(*between: uuid.UUID) -> Any:
        with ThreadPoolExecutor(1) as other:
            other.submit(_say_in_thread, caller).result()
        return read(*between)

    monkeypatch.setattr(verify, "read_conversation_facts", late)

    assert verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings == []
    assert CeConversationHistory.objects.count() == 2


def _say_in_thread(caller: Caller) -> None:
    try:
        assert caller.say("hours")["success"]
    finally:
        connection.close()
