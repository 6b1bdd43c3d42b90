"""What somebody changed in the stored record is found, and named; what the product does is no damage."""

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet

from audit import seal as seals
from audit.erasure import erase
from audit.integrity import chain_walk, verify
from audit.models import CeChainCut, CeErasure, CeTurnIndex
from audit.record import document_parts, removals, retention
from audit.record.document_parts import encode_parts as encode_parts_of
from audit.record.document_parts import read_parts
from audit.record.events import parse_entries
from audit.record.turn_index import hash_entries, read_index_entries
from audit.record.turn_log import add_outside
from audit.seal import SEALED, Seal, encode_parts
from config_admin.models import CeConfig, CeResponse
from config_admin.releases.models import CeRelease
from convengine.engine.steps.tools.stages import MCP_USER_FEEDBACK
from convengine.engine.turn.codec import dumps
from convengine.server.database.sql import database_time
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.threads import external_changes
from tests.api import Caller
from tests.database import allow_forging
from tests.record import entry as event_entry

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]
EVENT_CODES = ("EVENT_CHANGED", "EVENT_MISSING", "EVENT_ADDED", "EVENTS_SWAPPED", "EVENTS_UNREADABLE")


def verify_caller(caller: Caller) -> list[tuple[str, int | None, int | None]]:
    """What is wrong with the caller's conversation; looking at all of them must say the same."""
    findings = verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings
    assert [str(one) for report in verify.verify_range() for one in report.findings] == [str(one) for one in findings]
    return [(one.code, one.turn_no, one.seq) for one in findings]


@pytest.mark.dialects
@pytest.mark.django_db(transaction=True)
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
    assert (report.conversations, report.turns) == (1, 5)
    assert set(CeConversationHistory.objects.values_list("status", flat=True)) >= {"OK", "FAILED"}


def change(turn_no: int | None, change_entries: Callable[[list[Any]], list[Any]]) -> None:
    """What somebody with SQL makes of the events of a turn."""
    row = CeConversationHistory._base_manager.get(turn_no=turn_no)
    update(turn_no, events=dumps(change_entries(parse_entries(row.events) or [])))


def update(turn_no: int | None, **values: Any) -> None:
    CeConversationHistory._base_manager.filter(turn_no=turn_no).update(**values)


def reseal(turn_no: int, bit: int) -> bytes:
    """What somebody with SQL who knows the product makes of a seal: the present row, with a part removed lawfully."""
    row = CeConversationHistory.objects.defer(None).get(turn_no=turn_no)
    values = {name: getattr(row, name) for name in SEALED}
    release = configuration().content_hash(row.config_version)
    parts = encode_parts(values, release, encode_parts_of(read_parts(row.events)))
    return Seal.read(row.seal).cut(bit, parts).to_bytes()


@pytest.mark.dialects
def test_one_byte_of_one_event_is_found_wherever_it_stands(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    text = CeConversationHistory.objects.values_list("events", flat=True).get(turn_no=2)
    for at in range(0, len(text), 997):
        update(2, events=f"{text[:at]}{'x' if text[at] != 'x' else 'y'}{text[at + 1 :]}")
        codes = {(code, turn_no) for code, turn_no, _ in verify_caller(caller)}
        assert codes, at
        assert codes <= {(code, 2) for code in (*EVENT_CODES, "DECIDING_ROWS_CHANGED")}, at

    update(2, events=text)
    assert verify_caller(caller) == []


@pytest.mark.dialects
def test_an_event_that_was_taken_out_is_named(caller: Caller) -> None:
    caller.say("hours")
    text = CeConversationHistory.objects.values_list("events", flat=True).get()
    for entry in parse_entries(text)[::7]:
        change(1, lambda entries, seq=entry["seq"]: [one for one in entries if one["seq"] != seq])
        assert ("EVENT_MISSING", 1, entry["seq"]) in verify_caller(caller), entry["stage"]
        update(1, events=text)
    assert verify_caller(caller) == []


def test_two_events_that_were_swapped_are_named(caller: Caller) -> None:
    caller.say("hours")
    change(1, lambda entries: [*entries[:4], entries[5], entries[4], *entries[6:]])

    assert verify_caller(caller) == [("EVENTS_SWAPPED", 1, 5)]


def test_an_event_that_was_put_in_is_named(caller: Caller) -> None:
    caller.say("hours")
    change(1, lambda entries: [*entries, {**entries[0], "seq": 999}])

    assert verify_caller(caller) == [("EVENT_ADDED", 1, 999)]


@pytest.mark.dialects
def test_a_model_call_that_was_put_in_is_found(caller: Caller) -> None:
    caller.say("hours")
    change(1, lambda entries: [{**entries[0], "calls": [{"purpose": "INTENT"}]}, *entries[1:]])

    assert verify_caller(caller) == [("EVENT_CHANGED", 1, None)]


@pytest.mark.dialects
def test_a_changed_content_hash_of_a_release_is_found(caller: Caller) -> None:
    caller.say("hours")
    with allow_forging("ce_release"):
        QuerySet(CeRelease).update(content_hash="0" * 64)

    findings = verify.verify_conversation(uuid.UUID(caller.conversation_id)).findings
    assert [(one.code, one.turn_no) for one in findings][:2] == [("RECORD_CHANGED", 1), ("RELEASE_CHANGED", None)]


@pytest.mark.dialects
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("user_input", "something else"),
        ("assistant_output", {"type": "TEXT", "value": "Something else."}),
        ("facts", {}),
        ("recording", b"x"),
        ("recording", None),
        ("status", "FAILED"),
        ("turn_id", uuid.uuid4()),
        ("created_at", database_time),
        ("intent_before", "OTHER"),
        ("cost", Decimal("0.5")),
        ("source", "EXTERNAL"),
        ("intent_code", "OTHER"),
        ("duration_ms", -1),
    ],
)
@pytest.mark.parametrize("turn_no", [1, 3])
def test_a_changed_turn_record_is_named(caller: Caller, turn_no: int, column: str, value: Any) -> None:
    for _ in range(3):
        caller.say("hours")
    update(turn_no, **{column: value() if callable(value) else value})

    assert ("RECORD_CHANGED", turn_no, None) in verify_caller(caller)


@pytest.mark.dialects
def test_a_turn_record_that_was_taken_out_is_named(caller: Caller) -> None:
    for _ in range(4):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=2).delete()

    assert verify_caller(caller) == [("RECORD_MISSING", 2, None)]


@pytest.mark.dialects
def test_an_end_that_was_cut_off_is_found(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=3).delete()

    assert verify_caller(caller) == [("END_CUT", 3, None)]


@pytest.mark.dialects
def test_a_beginning_that_was_cut_off_is_found(caller: Caller) -> None:
    for _ in range(3):
        caller.say("hours")
    CeConversationHistory.objects.filter(turn_no=1).delete()

    assert verify_caller(caller) == [("RECORD_MISSING", 1, None)]


@pytest.mark.dialects
def test_a_removal_that_does_not_exist_excuses_no_other_words(caller: Caller) -> None:
    caller.say("hours")
    update(1, user_input="fees")
    update(1, seal=reseal(1, 32))

    assert ("SEAL_MISSING", 1, None) in verify_caller(caller)


OLD_CUTS = {
    seals.STEPS: CeChainCut.Kind.STEPS,
    seals.PROMPTS: CeChainCut.Kind.PROMPTS,
    seals.CALLS: CeChainCut.Kind.CALLS,
    seals.CONTENTS: CeChainCut.Kind.EVENTS,
    seals.ERASED: None,
}


def record_removal(caller: Caller, bit: int) -> None:
    """What explains that a part of all present turns is missing."""
    if kind := OLD_CUTS[bit]:
        removals.note_cut(kind, database_time() + timedelta(days=1))
        return
    erasure = CeErasure(conversation_id=caller.conversation_id, by="ada", reason="asked", last_turn_no=9)
    erasure.sign()
    erasure.save()


@pytest.mark.parametrize("bit", OLD_CUTS)
@pytest.mark.parametrize(
    "forged",
    [
        {"user_input": "I agree."},
        {"assistant_output": {"type": "TEXT", "value": "You agreed."}},
        {"duration_ms": 86_400_000},
        {"created_at": database_time},
        {"events": lambda: dumps([event_entry(1, "USER_INPUT", {"text": "I agree."})])},
        {"recording": b"x"},
    ],
    ids=lambda forged: next(iter(forged)),
)
def test_no_words_are_put_into_a_turn_as_if_a_part_of_it_had_been_removed(
    caller: Caller, bit: int, forged: dict[str, Any]
) -> None:
    """Somebody with SQL rewrites a turn that is older than a recorded removal, and seals it as the product does."""
    caller.say("hours")
    caller.say("hours")
    record_removal(caller, bit)
    assert verify_caller(caller) == []

    update(1, **{name: value() if callable(value) else value for name, value in forged.items()})
    with transaction.atomic():
        update(1, seal=reseal(1, bit))
        assert {turn_no for _, turn_no, _ in verify_caller(caller)} == {1}
        transaction.set_rollback(True)
    cut_turn(CeConversationHistory.objects.defer(None).get(turn_no=1), bit)
    assert {turn_no for _, turn_no, _ in verify_caller(caller)} == {1}


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(2, 8))])
def test_turns_that_lost_parts_in_any_order_are_verified_as_they_were_sealed(caller: Caller, seed: int) -> None:
    """After each removal the rest is intact, and a change of one byte of it is found."""
    random = Random(seed)
    heads = []
    for _ in range(3):
        caller.say("hours", inputParams={"vip": random.random() < 0.5})
        heads.append(bytes(CeConversation.objects.get().chain_head))
    for bit in OLD_CUTS:
        record_removal(caller, bit)
    for _ in range(4):
        row = CeConversationHistory.objects.defer(None).get(turn_no=random.randint(1, 3))
        cut_turn(row, random.choice([*OLD_CUTS]))
        assert verify_caller(caller) == []

        row.refresh_from_db()
        words = {
            name: getattr(row, name) for name in ("user_input", "events", "error_message", "status", "intent_code")
        }
        name = random.choice([name for name, text in words.items() if text])
        at = random.randrange(len(words[name]))
        forged = f"{words[name][:at]}{'x' if words[name][at] != 'x' else 'y'}{words[name][at + 1 :]}"
        update(row.turn_no, **{name: forged})
        assert {turn_no for _, turn_no, _ in verify_caller(caller)} == {row.turn_no}, (name, at)
        update(row.turn_no, **{name: words[name]})
    sealed = CeConversationHistory.objects.order_by("turn_no").values_list("seal", flat=True)
    assert [Seal.read(seal).hash for seal in sealed] == heads


def cut_turn(row: CeConversationHistory, bit: int) -> None:
    """What retention or an erasure does with one turn."""
    parts = {
        seals.STEPS: document_parts.STEPS,
        seals.PROMPTS: document_parts.PROMPTS,
        seals.CALLS: document_parts.CALLS,
    }
    if bit == seals.ERASED:
        erase._empty_rows([row])
    else:
        retention._cut_row(row, bit, parts.get(bit))


@pytest.mark.parametrize("bit", OLD_CUTS)
def test_an_index_entry_that_was_added_to_a_turn_without_a_part_is_found(caller: Caller, bit: int) -> None:
    caller.say("hours")
    record_removal(caller, bit)
    cut_turn(row := CeConversationHistory.objects.defer(None).get(), bit)
    assert verify_caller(caller) == []

    with transaction.atomic():
        CeTurnIndex.objects.create(turn_id=row.turn_id, at=row.created_at, kind="ce_rule", value="999", role="RULE")
        assert verify_caller(caller) == [("DECIDING_ROWS_CHANGED", 1, None)]
        transaction.set_rollback(True)
    CeTurnIndex.objects.filter(turn_id=row.turn_id).purge()
    # Retention removes the index with the contents.
    assert verify_caller(caller) == ([] if bit == seals.CONTENTS else [("DECIDING_ROWS_CHANGED", 1, None)])


@pytest.mark.dialects
def test_the_index_must_match_the_events(caller: Caller) -> None:
    caller.say("hours")
    row = CeTurnIndex.objects.first()
    with allow_forging("ce_turn_index"):
        QuerySet(CeTurnIndex).filter(pk=row.pk).update(value="999")
    assert verify_caller(caller) == [("DECIDING_ROWS_CHANGED", 1, None)]

    CeTurnIndex.objects.filter(pk=row.pk).purge()
    assert verify_caller(caller) == [("DECIDING_ROWS_CHANGED", 1, None)]


@pytest.mark.dialects
def test_an_index_with_the_hash_in_its_row_needs_no_reading_of_events(
    caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(text: object) -> list[object]:
        raise AssertionError("The events were read.")

    caller.say("hours")
    monkeypatch.setattr(chain_walk, "parse_entries", refuse)
    monkeypatch.setattr(chain_walk, "encode_stored_document", refuse)

    assert verify_caller(caller) == []


@pytest.mark.dialects
def test_the_hash_of_the_index_is_sealed(caller: Caller) -> None:
    caller.say("hours")
    row = CeTurnIndex.objects.first()
    CeTurnIndex.objects.filter(pk=row.pk).purge()
    entries = read_index_entries([row.turn_id])[row.turn_id]
    CeConversationHistory.objects.update(index_hash=hash_entries(entries))

    assert verify_caller(caller)[0] == ("RECORD_CHANGED", 1, None)


def test_seals_cost_few_bytes(caller: Caller) -> None:
    caller.say("hours")
    record = CeConversationHistory.objects.get()

    assert len(bytes(record.seal)) < 150
    assert not CeConversationHistory.additions.exists()


@pytest.mark.dialects
def test_the_record_of_a_turn_that_died_is_sealed_by_whoever_writes_it(caller: Caller) -> None:
    caller.say("hours")
    version = CeConversationHistory.objects.get().config_version
    # As a turn leaves it whose process died.
    info = {"turnId": str(uuid.uuid4()), "turnNo": 2, "head": f"{version}:0", "userText": "hours"}
    past = database_time() - timedelta(hours=1)
    CeConversation.objects.update(lease_token=uuid.uuid4(), lease_expires_at=past, lease_info=info, last_turn_no=2)

    caller.say("hours")

    assert list(CeConversationHistory.objects.order_by("turn_no").values_list("status", flat=True)) == [
        "OK",
        "FAILED",
        "OK",
    ]
    assert verify_caller(caller) == []
    change(2, lambda entries: [entries[0], {**entries[1], "payload": {}}])
    assert [code for code, *_ in verify_caller(caller)] == ["EVENT_CHANGED"]


@pytest.mark.dialects
def test_events_outside_of_turns_are_a_chain_of_their_own(caller: Caller) -> None:
    caller.say("hours")
    external_changes.close_session(caller.conversation_id, "default", "done")
    assert CeConversationHistory.additions.count() == 1
    assert verify_caller(caller) == []

    change(None, lambda entries: [{**entries[0], "payload": {"reason": "forged"}}])
    assert verify_caller(caller) == [("EVENT_CHANGED", None, None)]
    change(None, lambda entries: [])
    assert verify_caller(caller) == [("EVENT_CHANGED", None, None)]


@pytest.mark.dialects
def test_an_addition_that_was_taken_out_is_found_by_the_next(caller: Caller) -> None:
    caller.say("hours")
    for _ in range(3):
        with transaction.atomic():
            add_outside([(caller.conversation_id, MCP_USER_FEEDBACK, {})], database_time(), 1)
    CeConversationHistory.additions.filter(pk=CeConversationHistory.additions.order_by("pk")[1].pk).delete()

    assert verify_caller(caller) == [("CHAIN_BROKEN", None, None)]


@pytest.mark.dialects
def test_a_turn_handled_elsewhere_is_sealed(caller: Caller) -> None:
    caller.say("hours")
    external_changes.record_external_turn(caller.conversation_id, "default", "hello", "hi", None)
    caller.say("hours")

    assert verify_caller(caller) == []
    CeConversationHistory.objects.filter(turn_no=2).update(assistant_output={"type": "TEXT", "value": "no"})
    assert verify_caller(caller) == [("RECORD_CHANGED", 2, None)]


@pytest.mark.dialects
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
