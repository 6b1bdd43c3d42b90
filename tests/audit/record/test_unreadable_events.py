"""Stored events that nobody can read: readers and jobs go on with the other turns, and name the damaged one."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

from audit.erasure.erase import EraseOrder, erase_conversation
from audit.inbox.job import update_inbox
from audit.models import CeAudit, CeLlmCallLog, CeTurnCount
from audit.narration.explanation import list_empty_values
from audit.record.retention import remove_old
from audit.reports.counting import count_new_turns
from audit.reports.job import count_again
from config_admin.models import CeConfig
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.audit.integrity.test_tampering import run_verify
from tests.record import call
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
_ROWS = CeConversationHistory._base_manager
STAGE = "EVENTS_UNREADABLE"


def store(text: str) -> Callable[[int], None]:
    def replace(key: int) -> None:
        _ROWS.filter(pk=key).update(events=text)

    return replace


def store_no_utf8(key: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE ce_conversation_history SET events = CAST(x'5bff41' AS TEXT) WHERE history_id = %s", [key]
        )


def break_compression(key: int) -> None:
    """Give the stored value a piece too many, as a damaged disk would: the database cannot put it together."""
    entry = '{{"seq":{0},"stage":"X","step":null,"ms":0,"payload":{{"text":"{1}"}}}}'
    store(f"[{','.join(entry.format(seq, uuid.uuid4().hex * 3) for seq in range(1, 100))}]")(key)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltoastrelid::regclass::text FROM pg_class WHERE oid ="
            " (SELECT tableoid FROM ce_conversation_history WHERE history_id = %s)",
            [key],
        )
        (table,) = cursor.fetchone()
        cursor.execute("SET LOCAL allow_system_table_mods = on")
        cursor.execute("UPDATE pg_class SET relkind = 'r' WHERE oid = %s::regclass", [table])
        cursor.execute(f"INSERT INTO {table} SELECT chunk_id, 99, 'x' FROM {table} ORDER BY chunk_id DESC LIMIT 1")
        cursor.execute("UPDATE pg_class SET relkind = 't' WHERE oid = %s::regclass", [table])


sqlite_only = pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL refuses such a text.")
postgresql_only = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="SQLite does not compress.")
DAMAGES = [
    pytest.param(store('[{"seq":1,"stage":"USER'), id="no JSON"),
    pytest.param(store('{"seq":1}'), id="no list"),
    pytest.param(store('[7,"x",null]'), id="no objects"),
    pytest.param(
        store('[{"seq":"x","stage":5,"payload":[],"session":3,"changed":4,"rows":7,"calls":8}]'), id="other types"
    ),
    pytest.param(store("[" * 5000 + "]" * 5000), id="too deep"),
    pytest.param(store_no_utf8, id="no UTF-8", marks=sqlite_only),
    pytest.param(break_compression, id="broken compression", marks=postgresql_only),
]


@pytest.fixture
def caller() -> Caller:
    """Three turns; the second one is to be damaged."""
    create_help_desk()
    caller = Caller()
    for message in ("hours", "fees", "xyzzy"):
        caller.say(message)
    return caller


def damage_second(caller: Caller, damage: Callable[[int], None]) -> CeConversationHistory:
    turn = CeConversationHistory.objects.get(conversation_id=caller.conversation_id, turn_no=2)
    damage(turn.pk)
    return turn


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_views_show_the_other_turns_and_name_the_damaged_one(caller: Caller, damage: Any) -> None:
    first = CeConversationHistory.objects.get(turn_no=1)
    _ROWS.filter(pk=first.pk).update(events=dumps([{"seq": 1, "stage": None, "calls": [call()]}]))
    _ROWS.update(model_calls=1)
    events_of_third = CeAudit.objects.filter(turn_no=3).count()
    damaged = damage_second(caller, damage)

    assert CeAudit.objects.filter(turn_no=3).count() == events_of_third > 20
    (event,) = CeAudit.objects.filter(turn_no=2)
    assert (event.stage, event.seq, event.audit_id) == (STAGE, 0, damaged.pk * 10_000)
    assert "audit_verify" in event.payload_json["remedy"]
    assert [made.turn_no for made in CeLlmCallLog.objects.all()] == [1]


@pytest.mark.parametrize("damage", DAMAGES)
def test_pages_exports_and_the_api_show_the_conversation(caller: Caller, damage: Any, client: Client) -> None:
    damage_second(caller, damage)
    client.force_login(User.objects.create_superuser("ada"))
    key = caller.conversation_id

    for name, *arguments in (
        ("changelist",), ("timeline", key), ("turn", key, 1), ("turn", key, 2), ("turn", key, 3), ("evidence", key),
        ("replays", key), ("replay", key, 2),
    ):  # fmt: skip
        assert client.get(reverse(f"admin:audit_ceaudit_{name}", args=arguments)).status_code == 200, name
    for query in ({"stage": "USER_INPUT"}, {"model": "main/small"}, {"q": "hours"}, {"export": "csv"},
                  {"export": "ndjson"}, {"export": "evidence"}):  # fmt: skip
        answer = client.get(reverse("admin:audit_ceaudit_find"), query)
        assert answer.status_code == 200, query
        assert getattr(answer, "content", b"") or b"".join(answer.streaming_content)
    for path in ("/trace", "/account?turn=2", "/why?turn=2", "/evidence", "?q=Nine"):
        assert caller.get(path).status_code == 200, path
    named = [event for event in caller.get().json()["results"] if event["stage"] == STAGE]
    assert [(event["turnNo"], event["seq"]) for event in named] == [(2, 0)]
    page = client.get(reverse("admin:audit_ceaudit_turn", args=[key, 2])).content.decode()
    assert "Stored events of this turn cannot be read" in page


@pytest.mark.parametrize("damage", DAMAGES)
def test_jobs_go_on_with_the_other_turns(caller: Caller, damage: Any) -> None:
    damage_second(caller, damage)

    list(count_new_turns(timedelta()))
    list(count_again())
    list(update_inbox())
    assert list_empty_values(10) == []

    assert sum(CeTurnCount.objects.filter(is_hour=False, kind=CeTurnCount.TURN).values_list("turns", flat=True)) == 3


@pytest.mark.parametrize("damage", DAMAGES)
def test_verifying_names_the_damaged_turn_and_no_other(caller: Caller, damage: Any) -> None:
    damage_second(caller, damage)

    code, findings = run_verify()

    assert code == 1
    assert {(finding["code"], finding["turn_no"]) for finding in findings} <= {(STAGE, 2), ("EVENT_CHANGED", 2)}
    assert findings


@pytest.mark.parametrize("damage", DAMAGES)
def test_retention_and_erasure_remove_a_damaged_document_with_the_others(caller: Caller, damage: Any) -> None:
    damage_second(caller, damage)
    _ROWS.update(created_at=database_time() - timedelta(days=40))
    CeConfig.objects.create(config_type="AUDIT", config_key="STEP_RETENTION_DAYS", config_value="30")
    assert list(remove_old())
    list(erase_conversation(uuid.UUID(caller.conversation_id), EraseOrder("ada", "asked for it")))

    assert list(CeConversationHistory.objects.values_list("events", "user_input")) == [(None, None)] * 3


@pytest.mark.parametrize("damage", DAMAGES)
def test_retention_of_whole_documents_empties_a_damaged_one(caller: Caller, damage: Any) -> None:
    damage_second(caller, damage)
    _ROWS.update(created_at=database_time() - timedelta(days=40))
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value="30")

    assert {"documents": 3} in list(remove_old())
    assert not CeConversationHistory.objects.filter(events__isnull=False).exists()


@pytest.mark.parametrize("recording", [b"\x00broken", b"x\x9c", b""])
def test_a_damaged_recording_is_a_turn_that_cannot_be_replayed(
    caller: Caller, client: Client, recording: bytes
) -> None:
    turn = CeConversationHistory.objects.get(turn_no=2)
    _ROWS.filter(pk=turn.pk).update(recording=recording)
    client.force_login(User.objects.create_superuser("ada"))

    for name, *arguments in (("replay", caller.conversation_id, 2), ("replays", caller.conversation_id)):
        assert client.get(reverse(f"admin:audit_ceaudit_{name}", args=arguments)).status_code == 200
    scenario = caller.get("/scenario")
    assert scenario.status_code == 400
    assert b"Turn 2 cannot be played again" in scenario.content
    assert [(finding["code"], finding["turn_no"]) for finding in run_verify()[1]] == [("RECORD_CHANGED", 2)]
