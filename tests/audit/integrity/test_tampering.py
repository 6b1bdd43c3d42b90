"""Whatever somebody changes with SQL, `audit_verify` names the table and the row; an untouched database is intact.

One world, and a savepoint for each way to tamper.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from datetime import timedelta
from io import StringIO
from typing import Any, NamedTuple

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction

from audit.feedback.store import FeedbackInput, store_feedback
from audit.integrity import ledger
from audit.integrity.findings import UNSEALED
from audit.models import CeAccessLog, CeLedger
from config_admin.drafts.models import CeDraft, CeDraftSchedule, ReviewKind
from config_admin.drafts.review import add_entry
from config_admin.models import CeGradualRelease, CeResponse
from config_admin.releases.change_set import change_set
from convengine.server.channels.models import CeChannel
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.audit.integrity import test_signed_rows
from tests.config_admin.test_cases.builders import make_test, run_tests
from tests.database import allow_forging
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
_TURNS, _CONVERSATIONS = "ce_conversation_history", "ce_conversation"
_ACCESSES, _FEEDBACK, _LEDGER, _CHAIN = "ce_access_log", "ce_mcp_user_feedback", "ce_ledger", "ce_chain"
_DRAFTS, _REVIEWS, _GRADUAL = "ce_draft", "ce_draft_review", "ce_gradual_release"
_RUNS, _RESULTS, _STATES = "ce_test_run", "ce_test_result", "ce_sealed_state"
_CHANNELS, _SCHEDULES, _HEAD = "ce_channel", "ce_draft_schedule", "ce_config_head"
_ERASURES, _CUTS, _BASES = "ce_erasure", "ce_chain_cut", "ce_chain_base"
_RELEASES, _BLOBS, _HISTORY = "ce_release", "ce_release_blob", "ce_response_history"


class Way(NamedTuple):
    """One way to tamper, and what must be reported."""

    name: str
    table: str
    code: str
    #: Statements; `{first}` and `{last}` are turns of the long conversation.
    sql: str
    #: The table refuses changes by a trigger, which must be removed first.
    is_sealed: bool = False
    #: The database that has what is changed; blank for both.
    only_on: str = ""


WAYS = (
    Way("an event changed", _TURNS, "", "UPDATE {turns} SET events = replace(events, 'hours', 'fees') {at_first}"),
    Way("all events removed", _TURNS, "EVENT_CHANGED", "UPDATE {turns} SET events = '[]' {at_first}"),
    Way(
        "an event added",
        _TURNS,
        "EVENT_ADDED",
        "UPDATE {turns} SET events = substr(events, 1, length(events) - 1) ||"
        ' \',{{"seq":999,"stage":"X","payload":{{}}}}]\' {at_first}',
    ),
    Way("the message changed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET user_input = 'else' {at_first}"),
    Way("the answer changed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET assistant_output = '{{}}' {at_first}"),
    Way("the recording removed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET recording = NULL {at_first}"),
    Way("the release of a turn changed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET config_version = 1 {at_first}"),
    Way("a turn removed", _TURNS, "RECORD_MISSING", "DELETE FROM {turns} {at_first}"),
    Way("the last turn removed", _CONVERSATIONS, "END_CUT", "DELETE FROM {turns} WHERE history_id = {last}"),
    Way("a seal removed", _TURNS, "SEAL_MISSING", "UPDATE {turns} SET seal = NULL {at_first}"),
    Way(
        "documents swapped between turns",
        _TURNS,
        "",
        "UPDATE {turns} SET events = (SELECT h.events FROM {turns} h WHERE h.history_id = {first} + {last} -"
        " {turns}.history_id) WHERE history_id IN ({first}, {last})",
    ),
    Way(
        "documents swapped between turns of two conversations",
        _TURNS,
        "EVENT_CHANGED",
        "UPDATE {turns} SET events = CASE history_id WHEN {first}"
        " THEN (SELECT h.events FROM {turns} h WHERE {of_other})"
        " ELSE (SELECT h.events FROM {turns} h WHERE h.history_id = {first}) END"
        " WHERE history_id = {first} OR {other}",
    ),
    Way(
        "recordings swapped between turns of two conversations",
        _TURNS,
        "RECORD_CHANGED",
        "UPDATE {turns} SET recording = CASE history_id WHEN {first}"
        " THEN (SELECT h.recording FROM {turns} h WHERE {of_other})"
        " ELSE (SELECT h.recording FROM {turns} h WHERE h.history_id = {first}) END"
        " WHERE history_id = {first} OR {other}",
    ),
    Way("a count of events changed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET last_seq = last_seq - 1 {at_first}"),
    Way(
        "all events but one removed, with the count",
        _TURNS,
        "EVENT_CHANGED",
        'UPDATE {turns} SET last_seq = 1, events = \'[{{"seq":1,"stage":"USER_INPUT","payload":{{}}}}]\' {at_first}',
    ),
    Way("a count of model calls changed", _TURNS, "RECORD_CHANGED", "UPDATE {turns} SET model_calls = 1 {at_first}"),
    Way(
        "an index row changed",
        "ce_turn_index",
        "DECIDING_ROWS_CHANGED",
        "UPDATE ce_turn_index SET value = '999' WHERE id = (SELECT min(id) FROM ce_turn_index)",
        is_sealed=True,
    ),
    Way("events outside of turns removed", _TURNS, "LEDGER_MISSING", "DELETE FROM {turns} WHERE source = 'ADDITION'"),
    Way(
        "a whole conversation removed",
        _TURNS,
        "LEDGER_MISSING",
        "DELETE FROM ce_turn_index WHERE turn_id IN (SELECT turn_id FROM {turns} WHERE {other}); "
        "DELETE FROM {turns} WHERE {other}; DELETE FROM ce_conversation WHERE {other}",
    ),
    Way(
        "a turn removed at the end, with its traces",
        _TURNS,
        "LEDGER_MISSING",
        "DELETE FROM {turns} WHERE history_id = {last}; UPDATE ce_conversation SET last_turn_no = 2, chain_head ="
        " (SELECT {head} FROM {turns} h WHERE h.history_id = {second}) WHERE NOT {other}",
    ),
    Way("a blob changed", _BLOBS, "BLOB_CHANGED", "UPDATE {blobs} SET data = {blob} WHERE {at_blob}", is_sealed=True),
    Way("a blob removed", _BLOBS, "BLOB_MISSING", "DELETE FROM {blobs} WHERE {at_blob}", is_sealed=True),
    Way(
        "an author changed",
        _RELEASES,
        "RELEASE_CHANGED",
        "UPDATE {releases} SET author = 'eve' {newest}",
        is_sealed=True,
    ),
    Way("a reason changed", _RELEASES, "RELEASE_CHANGED", "UPDATE {releases} SET reason = '' {newest}", is_sealed=True),
    Way(
        "the date of a release changed",
        _RELEASES,
        "RELEASE_CHANGED",
        "UPDATE {releases} SET created_at = '2020-01-01 00:00:00' {newest}",
        is_sealed=True,
    ),
    Way(
        "the content hash of a release replaced by that of another",
        _RELEASES,
        "RELEASE_CHANGED",
        "UPDATE {releases} SET content_hash = (SELECT r.content_hash FROM {releases} r WHERE r.config_version ="
        " (SELECT min(config_version) FROM {releases})) {newest}",
        is_sealed=True,
    ),
    Way("a release removed", _RELEASES, "RELEASE_MISSING", "DELETE FROM {releases} {newest}", is_sealed=True),
    Way("a history row changed", _HISTORY, "HISTORY_CHANGED", "UPDATE {history} SET exact_text = 'never'"),
    Way("a history row removed", _HISTORY, "HISTORY_MISSING", "DELETE FROM {history} WHERE history_type = '~'"),
    Way("the access log emptied", _ACCESSES, "LOG_MISSING", "DELETE FROM {accesses}"),
    Way("the first access removed", _ACCESSES, "LOG_MISSING", "DELETE FROM {accesses} WHERE reader = 'ada'"),
    Way("the last access removed", _ACCESSES, "LOG_MISSING", "DELETE FROM {accesses} WHERE reader = 'ben'"),
    Way("an access changed", _ACCESSES, "LOG_CHANGED", "UPDATE {accesses} SET reader = 'eve'", is_sealed=True),
    Way(
        "the access log emptied with its chain",
        _ACCESSES,
        "LOG_MISSING",
        "DELETE FROM {accesses}; DELETE FROM ce_chain WHERE table_name = 'ce_access_log'",
    ),
    Way(
        "a search erased without a record",
        _ACCESSES,
        "LOG_CHANGED",
        "UPDATE {accesses} SET search = ''",
        is_sealed=True,
    ),
    Way("feedback flipped", _FEEDBACK, "LOG_CHANGED", "UPDATE {feedback} SET feedback_type = 'THUMBS_UP'"),
    Way("feedback removed", _FEEDBACK, "LOG_MISSING", "DELETE FROM {feedback}"),
    Way("feedback hidden", _FEEDBACK, "LOG_CHANGED", "UPDATE {feedback} SET replaced_at = '2030-01-01 00:00:00'"),
    Way("the ledger emptied", _LEDGER, "LOG_MISSING", "DELETE FROM {ledger}"),
    Way(
        "the reason of a ledger entry changed",
        _LEDGER,
        "LOG_CHANGED",
        "UPDATE {ledger} SET reason = ''",
        is_sealed=True,
    ),
    Way("the ends of a root emptied", _LEDGER, "LEDGER_DIFFERS", "UPDATE {ledger} SET ends = NULL", is_sealed=True),
    Way(
        "the first entry of the ledger removed",
        _LEDGER,
        "LOG_MISSING",
        "DELETE FROM {ledger} WHERE entry_id = (SELECT min(entry_id) FROM {ledger})",
    ),
    Way(
        "the last entry of the ledger removed",
        _LEDGER,
        "LOG_MISSING",
        "DELETE FROM {ledger} WHERE entry_id = (SELECT max(entry_id) FROM {ledger})",
    ),
    Way("the chain of the ledger removed", _LEDGER, "LOG_MISSING", "{delete_chain} = 'ce_ledger'"),
    Way(
        "an entry of the ledger declared to be removed by age",
        _CHAIN,
        "LOG_CHANGED",
        "DELETE FROM {ledger} WHERE entry_id = (SELECT min(entry_id) FROM {ledger}); UPDATE ce_chain SET removed_to ="
        " (SELECT min(entry_id) - 1 FROM {ledger}) WHERE table_name = 'ce_ledger'",
    ),
    *(
        Way(f"the {column} of a conversation changed", _CONVERSATIONS, "CONVERSATION_CHANGED", sql)
        for column in ("remote_jid", "channel", "workspace_id", "opened_by", "proof")
        for sql in (f"UPDATE ce_conversation SET {column} = 'eve' WHERE {{other}}",)
    ),
    *(
        Way(f"{table}: {change}", table, "ROW_CHANGED", f"UPDATE {table} SET {change}")
        for table, change in (
            (_DRAFTS, "editors = '[]'"),
            (_DRAFTS, "created_by = 'eve'"),
            (_REVIEWS, "author_name = 'eve'"),
            (_REVIEWS, "kind = 'RETURNED'"),
            (_REVIEWS, "edits_hash = 'x'"),
            (_REVIEWS, "made_at = '2020-01-01 00:00:00'"),
            (_GRADUAL, "share = 99"),
            (_GRADUAL, "participants = '[\"eve\"]'"),
            (_GRADUAL, "started_by = 'eve'"),
            (_RUNS, "passed = 7"),
            (_RUNS, "config_version = 1"),
            (_RESULTS, "passed = NOT passed"),
            (_RESULTS, "document_hash = 'x'"),
            (_CHANNELS, "workspace_id = 'eve'"),
            (_CHANNELS, "provider = 'slack'"),
            (_CHANNELS, "secrets = '[]'"),
            (_CHANNELS, "settings = '[]'"),
            (_CHANNELS, "is_enabled = NOT is_enabled"),
            (_CHANNELS, "opt_out_words = ''"),
            (_SCHEDULES, "publish_at = '2020-01-01 00:00:00'"),
            (_SCHEDULES, "author_name = 'eve'"),
            (_SCHEDULES, "edits_hash = 'x'"),
            (_SCHEDULES, "audience = '[]'"),
            (_SCHEDULES, "status = 'CANCELLED'"),
        )
    ),
    Way("a run that has ended runs again", _RUNS, "ROW_CHANGED", "UPDATE ce_test_run SET status = 'RUNNING'"),
    *(
        Way(f"{table}: a row removed", table, "ROW_MISSING", f"DELETE FROM {table}")
        for table in (_REVIEWS, _GRADUAL, _RESULTS, _CHANNELS, _SCHEDULES)
    ),
    Way(
        "an approval added",
        _REVIEWS,
        "ROW_ADDED",
        "INSERT INTO ce_draft_review (draft_id, kind, author_name, made_at, text, edits_hash, table_name, row_pk,"
        " reviewers, reviewer_group) SELECT draft_id, kind, 'eve', made_at, text, edits_hash, table_name, row_pk,"
        " reviewers, reviewer_group FROM ce_draft_review",
    ),
    Way(
        "an erasure invented",
        _ERASURES,
        "ROW_CHANGED",
        'INSERT INTO ce_erasure (conversation_id, created_at, "by", reason, last_turn_no, last_addition, counts, proof)'
        " SELECT conversation_id, created_at, 'eve', '', 3, 0, '[]', 'x' FROM ce_conversation WHERE {other}",
    ),
    Way(
        "a retention run invented",
        _CUTS,
        "ROW_CHANGED",
        'INSERT INTO ce_chain_cut (kind, "before", looked_to, created_at, proof)'
        " SELECT 'TURNS', created_at, 0, created_at, 'x' FROM ce_conversation WHERE {other}",
    ),
    Way(
        "a later beginning of a conversation invented",
        _BASES,
        "ROW_ADDED",
        "INSERT INTO ce_chain_base (conversation_id, turn_no, hash, created_at, proof)"
        " SELECT conversation_id, 1, chain_head, created_at, '' FROM ce_conversation WHERE {other}",
    ),
    Way("everybody gets a gradual release", _HEAD, "HEAD_CHANGED", "UPDATE ce_config_head SET audience = 'x'"),
    Way("an earlier release in force", _HEAD, "HEAD_CHANGED", "UPDATE ce_config_head SET config_version = 1"),
    Way(
        "a classifier of phrases added",
        "ce_phrase_model",
        "ROW_ADDED",
        "INSERT INTO ce_phrase_model (name, weights, used_at, proof)"
        " SELECT 'x', chain_head, created_at, '' FROM ce_conversation WHERE {other}",
    ),
    Way(
        "a vector of a phrase added",
        "ce_phrase_vector",
        "ROW_CHANGED",
        "INSERT INTO ce_phrase_vector (name, vector, made_at, proof)"
        " SELECT 'x', chain_head, created_at, 'x' FROM ce_conversation WHERE {other}",
    ),
    Way("a sealed state removed", _STATES, "LOG_MISSING", "DELETE FROM ce_sealed_state WHERE table_name = 'ce_draft'"),
    Way("a sealed state changed", _STATES, "LOG_CHANGED", "UPDATE ce_sealed_state SET hashes = '{{}}'", is_sealed=True),
    Way(
        "a view changed", "ce_audit", "VIEW_CHANGED", "DROP VIEW ce_audit; CREATE VIEW ce_audit AS SELECT 1 AS audit_id"
    ),
    Way("a view removed", "ce_llm_call_log", "VIEW_CHANGED", "DROP VIEW ce_llm_call_log"),
    Way(
        "a function of the views changed",
        "ce_readable",
        "VIEW_CHANGED",
        "CREATE OR REPLACE FUNCTION ce_readable(document text) RETURNS text LANGUAGE sql AS 'SELECT document'",
        only_on="postgresql",
    ),
)
_TABLES = {
    "turns": _TURNS,
    "blobs": _BLOBS,
    "releases": _RELEASES,
    "history": _HISTORY,
    "accesses": _ACCESSES,
    "feedback": _FEEDBACK,
    "ledger": _LEDGER,
}


def run_verify(*options: str) -> tuple[int, list[dict[str, Any]]]:
    out = StringIO()
    code = 0
    try:
        call_command("audit_verify", "--json", "--workers", "1", *options, stdout=out)
    except SystemExit as end:
        code = int(str(end.code))
    return code, json.loads(out.getvalue())["findings"]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Two conversations, releases, feedback, accesses and roots of three days; gives the turns of the first one."""
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    with change_set(author="ada", reason="polite"):
        CeResponse.objects.filter(intent_code="FEES").update(exact_text="No fees, promised.")
    caller.say("fees")
    caller.say("hours")
    Caller().say("hours")
    turns = list(
        CeConversationHistory.objects.filter(conversation_id=caller.conversation_id)
        .order_by("turn_no")
        .values_list("pk", flat=True)
    )
    conversation = CeConversationHistory.objects.get(pk=turns[0]).conversation_id
    store_feedback(conversation, None, "participant", FeedbackInput("THUMBS_DOWN", comment="no"))
    for reader in ("ada", "ben"):
        CeAccessLog.objects.create(
            reader=reader, kind="TURN", conversation_id=conversation, turn_no=1, search="participant=anna"
        )
    draft = CeDraft.objects.create(title="Fees", created_by="ada", editors=["ada"])
    add_entry(draft, ReviewKind.APPROVED, "ben")
    CeDraftSchedule.objects.create(draft=draft, publish_at=database_time() + timedelta(days=9), author_name="ada")
    CeChannel.objects.create(name="shop", provider="telegram", secrets={"token": "SHOP_TOKEN"})
    CeGradualRelease.objects.create(
        config_version=2, parent_version=1, parent_hash="", key="k", share=10, started_by="ada", status="COMPLETE"
    )
    make_test()
    run_tests()
    today = database_time()
    for days in (2, 1, 0):
        monkeypatch.setattr(ledger, "database_time", lambda at=today - timedelta(days=days): at)
        list(ledger.write_root())
    return turns


@contextmanager
def rolled_back() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def tamper(way: Way, turns: list[int]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(hash), max(hash) FROM ce_release_blob")
        blob, other_blob = cursor.fetchone()
        is_postgresql = connection.vendor == "postgresql"
        conversation = f"(SELECT conversation_id FROM ce_conversation_history WHERE history_id = {turns[0]})"
        sql = way.sql.format(
            **_TABLES,
            first=turns[0],
            second=turns[1],
            last=turns[-1],
            at_first=f"WHERE history_id = {turns[0]}",
            other=f"conversation_id <> {conversation}",
            of_other=f"h.conversation_id <> {conversation}",
            delete_chain="DELETE FROM ce_chain WHERE table_name",
            at_blob=f"hash = '{blob}'",
            blob=f"(SELECT data FROM ce_release_blob WHERE hash = '{other_blob}')",
            newest="WHERE config_version = (SELECT max(config_version) FROM ce_release)",
            # Where the hash is in a stored seal.
            head="substring(h.seal from 35 for 32)" if is_postgresql else "substr(h.seal, 35, 32)",
        )
        with ExitStack() as stack:
            stack.enter_context(allow_forging(_TURNS))
            if way.is_sealed:
                stack.enter_context(allow_forging(way.table))
            for statement in sql.split("; "):
                cursor.execute(statement)
                assert cursor.rowcount or "VIEW" in statement or "FUNCTION" in statement, statement


def test_every_way_to_tamper_is_named_and_nothing_else(world: list[int]) -> None:
    assert run_verify() == (0, [])
    missed = []
    for way in (way for way in WAYS if way.only_on in ("", connection.vendor)):
        with rolled_back():
            tamper(way, world)
            code, findings = run_verify()
        if code != 1 or not any(
            finding["table"] == way.table and finding["row"] and way.code in ("", finding["code"])
            for finding in findings
        ):
            missed.append((way.name, findings))
    assert missed == []
    assert run_verify() == (0, [])


def test_a_change_of_any_table_is_named_or_documented_as_not_covered() -> None:
    tables = {*connection.introspection.django_table_names(), "django_migrations"}
    history = {table for table in tables if table.endswith("_history") and table != _TURNS}
    configuration = {table.removesuffix("_history") for table in history}
    documented = {table for group in UNSEALED.values() for table in group}
    named = {way.table for way in WAYS} | set(test_signed_rows.CHANGES)
    assert tables - history - configuration - documented <= named
    assert documented <= tables


@pytest.mark.parametrize(
    ("change", "is_lawful"),
    [
        ("user_input = 'else'", False),
        ("status = 'FAILED'", False),
        ("seal = NULL, created_at = '2020-01-01 00:00:00'", False),
        ("events = events || ' '", False),
        ("recording = NULL, events = NULL, user_input = NULL", True),
    ],
)
def test_the_database_refuses_to_change_a_turn_but_not_to_empty_it(
    world: list[int], change: str, is_lawful: bool
) -> None:
    refused = nullcontext() if is_lawful else pytest.raises(DatabaseError, match="append-only")
    with refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE ce_conversation_history SET {change} WHERE history_id = %s", [world[0]])


def test_without_a_root_the_command_warns(world: list[int]) -> None:
    out = StringIO()
    CeLedger.objects.all().purge()
    with suppress(SystemExit):
        call_command("audit_verify", "--workers", "1", stdout=out)
    assert "No daily root has been written yet" in out.getvalue()


def test_what_does_not_exist_is_an_error_and_never_intact(world: list[int]) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    known = str(CeConversationHistory.objects.get(pk=world[0]).conversation_id)
    for options in (["--conversation", unknown], ["--conversation", known, "--turn", "99"], ["--turn", "1"]):
        with pytest.raises(CommandError) as error:
            run_verify(*options)
        assert error.value.returncode == 2
    assert run_verify("--conversation", known, "--turn", "1") == (0, [])
