"""What of the record leaves by retention, and what stays."""

import uuid
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from audit import seal as seals
from audit.integrity import verify
from audit.models import (
    CeAlert,
    CeAlertMessage,
    CeAudit,
    CeChainCut,
    CeLlmCallLog,
    CeRunningEvent,
    CeTurnIndex,
)
from audit.record import queries
from audit.record.events import expand_events
from audit.record.retention import remove_old
from audit.seal import Seal
from config_admin.models import CeConfig
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller
from tests.record import call, entry, store_turn
from tests.records import store_row

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
OLD, YOUNG = timedelta(days=31), timedelta(days=29)


def run() -> Counter[str]:
    total: Counter[str] = Counter()
    for counts in remove_old():
        total.update(counts)
    return total


def keep(days: int, key: str = "RETENTION_DAYS") -> None:
    CeConfig.objects.create(config_type="AUDIT", config_key=key, config_value=str(days))


def turn(ago: timedelta, *entries: Any) -> CeConversationHistory:
    key = uuid.uuid4()
    conversation = CeConversation.objects.create(conversation_id=key, remote_jid=str(key))
    return store_turn(conversation, entries or [entry(1, "USER_INPUT")], database_time() - ago, recording=b"x")


def stages(row: CeConversationHistory) -> list[str]:
    return [event.stage for event in queries.read_turns(row.conversation_id, [1])]


def test_events_are_kept_unless_somebody_says_how_long_and_model_calls_for_thirty_days() -> None:
    turn(OLD * 10)
    for ago in (OLD, YOUNG):
        turn(ago, entry(1, "USER_INPUT", calls=[call()]))

    assert run() == {"model calls": 1}
    assert (CeAudit.objects.count(), CeLlmCallLog.objects.count()) == (3, 1)
    assert run() == {}


def test_older_documents_are_emptied_and_deciding_rows_go() -> None:
    keep(30)
    old, young = (turn(ago, entry(1, "USER_INPUT", rows=[["ce_rule", "1", "RULE"]])) for ago in (OLD, YOUNG))
    CeRunningEvent.objects.create(
        conversation_id=old.conversation_id, lease_token=uuid.uuid4(), turn_id=uuid.uuid4(), turn_no=9,
        config_version=1, created_at=database_time() - OLD, last_seq=1, events="[]",
    )  # fmt: skip

    assert run() == {"documents": 1, "deciding rows": 1, "running events": 1}
    old.refresh_from_db()
    assert (old.events, old.recording, old.turn_no) == (None, None, 1)
    assert [row.turn_id for row in CeAudit.objects.all()] == [young.turn_id]
    assert [row.turn_id for row in CeTurnIndex.objects.all()] == [young.turn_id]


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("STEP_RETENTION_DAYS", {"STEP_ENTER", "STEP_EXIT"}),
        ("PROMPT_RETENTION_DAYS", {"PROMPT_RENDERING", "INTENT_AGENT_LLM_INPUT", "INTENT_AGENT_LLM_OUTPUT"}),
    ],
)
def test_a_kind_with_a_shorter_retention_goes_and_the_rest_stays(key: str, gone: set[str]) -> None:
    keep(30, key)
    names = ["STEP_ENTER", "USER_INPUT", "PROMPT_RENDERING", "INTENT_AGENT_LLM_INPUT", "INTENT_AGENT_LLM_OUTPUT"]
    names.append("STEP_EXIT")
    entries = [entry(seq, stage) for seq, stage in enumerate(names, start=1)]
    old, young = turn(OLD, *entries), turn(YOUNG, *entries)

    run()

    assert stages(old) == [name for name in names if name not in gone]
    assert stages(young) == names
    assert run() == {}


def test_what_a_removed_event_changed_stays_in_the_state_of_the_next() -> None:
    keep(30, "STEP_RETENTION_DAYS")
    row = turn(
        OLD,
        entry(1, "STEP_ENTER", session={"intent": "UNKNOWN", "context": {}}),
        entry(2, "STEP_EXIT", changed={"set": {"/intent": "FEES"}}),
        entry(3, "ENGINE_RETURN"),
    )
    run()

    (event,) = expand_events(queries.read_turns(row.conversation_id, [1]))
    assert (event.row.stage, event.state["intent"]) == ("ENGINE_RETURN", "FEES")


@pytest.mark.parametrize(
    ("key", "bit"),
    [
        ("RETENTION_DAYS", seals.CONTENTS),
        ("STEP_RETENTION_DAYS", seals.STEPS),
    ],
)
def test_what_retention_removes_is_no_damage_and_what_looks_like_it_is(
    caller: Caller, key: str, bit: int, settings: Any
) -> None:
    caller.say("hours")
    caller.say("fees")
    keep(30, key)
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 31 * 86_400}

    assert run()
    conversation_id = uuid.UUID(caller.conversation_id)
    sealed = CeConversationHistory.objects.order_by("turn_no").values_list("seal", flat=True)
    assert [Seal.read(seal).cuts for seal in sealed] == [bit, bit]
    assert verify.verify_conversation(conversation_id).findings == []

    CeConversationHistory.objects.filter(turn_no=1).update(events='[{"seq":1,"stage":"USER_INPUT"}]')
    assert {one.turn_no for one in verify.verify_conversation(conversation_id).findings} == {1}


def test_a_turn_that_was_stored_before_an_older_one_is_not_left_out_for_ever(settings: Any) -> None:
    keep(30)
    young, old = turn(YOUNG), turn(OLD)

    assert run() == {"documents": 1}
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 2 * 86_400}
    assert run() == {"documents": 1}
    young.refresh_from_db()
    old.refresh_from_db()
    assert (young.events, old.events) == (None, None)


def test_a_cut_that_no_rule_recorded_is_found(caller: Caller, settings: Any) -> None:

    caller.say("hours")
    keep(30)
    settings.CONVENGINE = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": 31 * 86_400}
    run()
    CeChainCut.objects.all().purge()

    findings = verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings
    assert [(one.code, one.turn_no) for one in findings] == [
        ("ERASED_WITHOUT_RECORD", 1),
        # The deciding rows went with the contents.
        ("DECIDING_ROWS_CHANGED", 1),
    ]


def test_bytes_that_are_no_seal_keep_no_data_from_being_removed() -> None:
    keep(30)
    changed, _ = turn(OLD), turn(OLD)
    CeConversationHistory._base_manager.filter(pk=changed.pk).update(seal=b"\x02 not a seal")

    assert run()["documents"] == 2
    changed.refresh_from_db()
    assert changed.events is None
    assert verify.verify_conversation(changed.conversation_id).findings[0].code == "SEAL_MISSING"


def test_messages_of_alerts_lose_their_recipients() -> None:
    now = database_time()
    alert = store_row(CeAlert, rule=None, status="ENDED", workspace_id="")
    for number, (ago, status) in enumerate(((OLD, "SENT"), (OLD, "FAILED"), (OLD, "PENDING"), (YOUNG, "SENT"))):
        store_row(
            CeAlertMessage,
            alert=alert,
            kind="STARTED",
            channel="MAIL",
            recipient=f"{number}@example.com",
            status=status,
            content={"subject": "x"},
            created_at=now - ago,
        )
    assert run() == {}
    keep(30)
    assert run() == {"recipients": 2}
    assert run() == {}
    named = CeAlertMessage.objects.filter(recipient__endswith="@example.com")
    assert sorted(named.values_list("recipient", flat=True)) == ["2@example.com", "3@example.com"]
    assert CeAlertMessage.objects.filter(content={}).count() == 2
