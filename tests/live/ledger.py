"""What must be true of the stored record, whatever happened to the processes that wrote it."""

from collections import Counter
from collections.abc import Iterable

from audit.models import CeAudit, CeTurnIndex
from audit.record.events import StoredEvent
from audit.replay.replay import find_replay_difference
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeIdempotency
from convengine.server.turns.dead_turns import ENDED_CODES
from tests.live.client import Exchange, Talk
from tests.record import events


def check(talks: Iterable[Talk]) -> Counter[str]:
    """Hold everything that is stored of the talks to the laws; gives how many turns have which status."""
    counted: Counter[str] = Counter()
    for talk in talks:
        row = CeConversation.objects.get(pk=talk.conversation_id)
        records = list(row.turns.order_by("turn_no"))
        check_numbers(row, records)
        check_acknowledged(talk.acknowledged, records)
        check_row(row, records)
        check_audit(row, records)
        counted.update(record.error_code or record.status for record in records)
    check_nothing_is_left_over()
    return counted


def check_numbers(row: CeConversation, records: list[CeConversationHistory]) -> None:
    """Every turn number from 1 to the last has exactly one record, and a turn failed only because it did not end."""
    assert [record.turn_no for record in records] == list(range(1, row.last_turn_no + 1))
    assert {record.status for record in records} <= {"OK", "FAILED"}
    assert {record.error_code for record in records if record.status == "FAILED"} <= set(ENDED_CODES)
    assert row.lease_token is None


def check_acknowledged(acknowledged: Iterable[Exchange], records: list[CeConversationHistory]) -> None:
    """What a client was answered is what is stored."""
    by_number = {record.turn_no: record for record in records}
    for exchange in acknowledged:
        body = exchange.reply.body
        record = by_number[body["turnNo"]]
        assert record.status == "OK"
        assert (str(record.turn_id), record.user_input) == (body["turnId"], exchange.message)
        assert record.assistant_output == body["payload"]
        assert record.config_version == body["configVersion"]


def check_row(row: CeConversation, records: list[CeConversationHistory]) -> None:
    """The conversation is what the last committed turn made of it, and counts the committed turns."""
    committed = [record for record in records if record.status == "OK"]
    assert row.turn_count == row.version == len(committed)
    if committed:
        last = committed[-1]
        assert (row.intent_code, row.state_code) == (last.intent_code, last.state_code)
        assert (row.last_user_text, row.last_assistant_json) == (last.user_input, last.assistant_output)
    else:
        assert row.last_assistant_json is None


def check_audit(row: CeConversation, records: list[CeConversationHistory]) -> None:
    """A committed turn has its whole trail and can be run again; no trail is without a record."""
    trails: dict[int | None, list[StoredEvent]] = {}
    assert not CeAudit.objects.filter(conversation_id=row.pk, turn_no=None).exists()
    for event in events(conversation_id=row.pk):
        trails.setdefault(event.turn_no, []).append(event)
    assert trails.keys() == {record.turn_no for record in records}
    for record in records:
        trail = trails[record.turn_no]
        stages = [event.stage for event in trail]
        assert [event.seq for event in trail] == list(range(1, len(trail) + 1))
        assert {(event.turn_id, event.config_version) for event in trail} == {(record.turn_id, record.config_version)}
        assert stages.count("USER_INPUT") == 1
        if record.status == "OK":
            assert "ENGINE_RETURN" in stages
            assert find_replay_difference(record) is None
        else:
            assert stages[-1] == "ENGINE_UNKNOWN_FAILURE"
            assert trail[-1].payload_json["reason"] == record.error_code
            assert "ENGINE_RETURN" not in stages or stages.index("ENGINE_RETURN") < len(stages) - 1


def check_nothing_is_left_over() -> None:
    """Stored answers belong to turns that committed, index rows to turns that have a row."""
    # In this order: a server may still commit a turn whose caller gave up.
    indexed = {*CeTurnIndex.objects.values_list("turn_id", flat=True)}
    answered = {*CeIdempotency.objects.values_list("turn_id", flat=True)}
    status = dict(CeConversationHistory.objects.values_list("turn_id", "status"))
    assert indexed <= status.keys()
    assert {status.get(turn_id) for turn_id in answered} <= {"OK"}
