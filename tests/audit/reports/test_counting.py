"""The counts of the reports: equal to a count of the records, however often and wherever the job ends."""

import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.db.models import F
from django.utils import timezone
from django.utils.timezone import get_current_timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from audit.feedback.store import FeedbackInput, store_feedback
from audit.models import (
    CeCountProgress,
    CeMcpUserFeedback,
    CeOutcome,
    CeTurnCount,
    CeTurnIndex,
)
from audit.record.days import find_day
from audit.record.events import read_document
from audit.record.form_steps import FORM_STAGES, FormProgress, split_steps
from audit.reports import count_outcomes, counting
from audit.reports.count_batch import BY_HOUR
from audit.reports.count_outcomes import ANSWERING
from audit.reports.counting import count_new_turns
from audit.reports.durations import BOUNDS
from audit.reports.job import count_again, update_counts
from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CeOutputSchema, CeResponse
from config_admin.releases.change_set import change_set
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.scope import HAND_OVER
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from convengine.server.sessions.old_turns import remove_old_turns
from convengine.server.turns.take_turn import take_turn
from tests.examples import count_examples
from tests.record import call as build_call
from tests.worlds import create_help_desk

pytestmark = [pytest.mark.django_db, pytest.mark.dialects, pytest.mark.usefixtures("changeable_turns")]
#: Conversations, each with its messages: a thumb rates the turn before, by one of two people.
MESSAGES = ("hours", "fees", "what?", "hours fees", "my cvv", "", "lost card", "1234", "person", "stop")
COUNTED_STAGES = ("NOT_UNDERSTOOD", "HAND_OVER_OFFERED")
RATINGS = ("up by ada", "down by ada", "up by bob", "down by bob")
WORLDS = st.lists(st.lists(st.sampled_from(MESSAGES + RATINGS), min_size=1, max_size=5), max_size=4)


@pytest.fixture(autouse=True)
def help_desk() -> None:
    create_help_desk()
    with change_set(reason="a form and a person"):
        CeIntent.objects.bulk_create(
            CeIntent(intent_code=code, description=code.lower()) for code in ("CARD", "PERSON")
        )
        for code, state, pattern in (("CARD", "COLLECT", "lost card"), ("PERSON", "HAND_OVER", "person")):
            CeIntentClassifier.objects.create(intent_code=code, state_code=state, rule_type="CONTAINS", pattern=pattern)
            CeResponse.objects.create(
                intent_code=code, state_code=state, response_type="EXACT", exact_text="{{ question | default('Yes.') }}"
            )
        CeOutputSchema.objects.create(intent_code="CARD", state_code="COLLECT", json_schema=CARD_FORM)


@pytest.fixture(autouse=True)
def _number_records_from_1() -> None:
    """The numbers of PostgreSQL go on from those of other tests, and a recount walks over all of them in batches."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for model in (CeConversationHistory, CeMcpUserFeedback):
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [model._meta.db_table, model._meta.pk.column])
            # Taken back with the transaction of the test.
            cursor.execute(f"ALTER SEQUENCE {cursor.fetchone()[0]} RESTART")


CARD_FORM = {
    "type": "object",
    "properties": {"number": {"type": "string", "pattern": "^[0-9]{4}$"}, "colour": {"type": "string"}},
    "required": ["number", "colour"],
    "x-clear": ["DONE", "CANCEL", "RESTART"],
    "x-on-leave": "LEAVE",
}


def count_records() -> Counter[tuple[Any, ...]]:
    """Every count, one record after the other."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for turn in CeConversationHistory.objects.select_related("conversation"):
        hour = turn.created_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        where = (hour, turn.conversation.channel, turn.config_version, turn.intent_code)
        counts[*where, "TURN", turn.status] += 1
        counts[*where, "STATE", turn.state_code] += 1
        if turn.error_code:
            counts[*where, "ERROR", turn.error_code] += 1
        if turn.turn_no == 1:
            counts[*where, "BEGUN", ""] += 1
        entries = CeTurnIndex.objects.filter(turn_id=turn.turn_id).values_list("kind", "value").distinct()
        counts.update((*where, *entry) for entry in entries if entry[0] != "STAGE" or entry[1] in COUNTED_STAGES)
        if turn.status in ("OK", "BLOCKED"):
            count_moves(counts, hour, turn)
            roles = CeTurnIndex.objects.filter(turn_id=turn.turn_id, kind="STAGE", value__in=FORM_STAGES)
            for step in (FormProgress.parse(text) for entry in roles for text in split_steps(entry.role)):
                counts[*where, f"FORM_{step.kind}", f"{step.schema}:{step.field}"] += 1
        ratings = CeMcpUserFeedback.objects.filter(turn_id=turn.turn_id, replaced_at=None)
        kinds = {rating.feedback_type for rating in ratings}
        counts.update((*where, "FEEDBACK", kind) for kind in kinds)
        answers = [f"{table}:{pk}" for table, pk in entries if table in ANSWERING]
        counts.update((*where, f"ANSWER_{kind.removeprefix('THUMBS_')}", row) for kind in kinds for row in answers)
        count_document(counts, where, turn, [stage for kind, stage in entries if kind == "STAGE"])
    for row in CeOutcome.objects.all():
        where = (row.hour, row.channel, row.config_version, row.intent_code)
        form = (f"FORM_IS_{row.outcome}", f"{row.schema_id}:{row.field}")
        counts[*where, *(form if row.schema_id else ("OUTCOME", row.outcome))] += 1
    only_by_day = Counter({key: turns for key, turns in counts.items() if key[-2] not in BY_HOUR})
    return +(counts - only_by_day) + sum_by_day(only_by_day)


def count_document(
    counts: Counter[tuple[Any, ...]], where: Any, turn: CeConversationHistory, stages: list[str]
) -> None:
    document = read_document(CeConversationHistory._base_manager.values_list("events", flat=True).get(pk=turn.pk))
    if turn.duration_ms is not None:
        counts[*where, "TIME", find_range(turn.duration_ms)] += 1
    if "NOT_UNDERSTOOD" in stages:
        counts[*where, "NOT_UNDERSTOOD", turn.state_code] += 1
    for timing in (entry["payload"]["stepList"] for entry in document if entry["stage"] == "PIPELINE_TIMING"):
        counts[*where, "STEP", ""] += 1
        steps: Counter[str] = Counter()
        for step in timing:
            steps[step["step"]] += step["durationMs"]
        counts.update((*where, "STEP", f"{name}:{find_range(took)}") for name, took in steps.items() if took >= 1)
    calls = [call for entry in document for call in entry.get("calls", ())]
    for call in calls:
        name = f"{call['provider']}/{call['model']}"
        counts[*where, "MODEL", name] += 1
        counts[*where, "MODEL_ERROR", name] += not call["success"]
        counts[*where, "MODEL_TIME", f"{name}:{find_range(call['latency_ms'])}"] += 1
    for name in {f"{call['provider']}/{call['model']}" for call in calls}:
        counts[*where, "MODEL_TURN", name] += 1
        counts[*where, "MODEL_TURN_FAILED", name] += any(stage.endswith("_LLM_ERROR") for stage in stages)
    if calls:
        counts[*where, "MODEL_CALLS", ""] += len(calls)
        counts[*where, "MODEL_FAILED", ""] += any(stage.endswith("_LLM_ERROR") for stage in stages)


def find_range(milliseconds: float) -> str:
    return str(max(bound for bound in BOUNDS if bound <= milliseconds))


def count_moves(counts: Counter[tuple[Any, ...]], hour: datetime, turn: CeConversationHistory) -> None:
    where = (hour, turn.conversation.channel, turn.config_version)
    if (turn.intent_before, turn.state_before) == (turn.intent_code, turn.state_code):
        return
    counts[*where, turn.intent_code, "ENTERED", turn.state_code] += 1
    if turn.intent_before and turn.state_before:
        counts[*where, turn.intent_before, "EXITED", turn.state_before] += 1
        moved = "\x1f".join((turn.intent_before, turn.state_before, turn.state_code))
        counts[*where, turn.intent_code, "MOVED", moved] += 1


def read_counts() -> Counter[tuple[Any, ...]]:
    columns = ("hour", "channel", "config_version", "intent_code", "kind", "value", "turns")
    hours, days = (
        Counter(
            {tuple(row): turns for *row, turns in CeTurnCount.objects.filter(is_hour=by_hour).values_list(*columns)}
        )
        for by_hour in (True, False)
    )
    assert {kind for *_, kind, _ in hours} <= BY_HOUR
    only_by_day = Counter({key: turns for key, turns in days.items() if key[-2] not in BY_HOUR})
    assert days - only_by_day == +sum_by_day(hours)
    return +hours + only_by_day


def sum_by_day(counts: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return sum_by(find_day, counts)


def sum_by(find_start: Any, counts: Counter[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    sums: Counter[tuple[Any, ...]] = Counter()
    for (hour, *key), turns in counts.items():
        sums[find_start(hour, get_current_timezone()), *key] += turns
    return sums


def talk(*conversations: list[str]) -> None:
    for messages in conversations:
        key = str(CeConversation().conversation_id)
        for message in messages:
            if message in RATINGS:
                rate(key, message)
            else:
                take_turn(TurnRequest(key, message))


def rate(key: str, rating: str) -> None:
    thumb, _, author = rating.partition(" by ")
    if CeConversationHistory.objects.filter(conversation_id=key).exists():
        store_feedback(uuid.UUID(key), None, author, FeedbackInput(f"THUMBS_{thumb.upper()}"))


def count_all() -> None:
    list(count_new_turns(timedelta()))


@settings(max_examples=count_examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(WORLDS)
@example([["lost card", "x", "y", "z", "w", "fees"], ["what?", "what?", "what?", "what?"]])
@example([["lost card", "1234", "up by ada"], ["hours", "down by bob", "what?", "my cvv", "stop"], ["person", "fees"]])
def test_the_counts_equal_the_records(monkeypatch: pytest.MonkeyPatch, world: list[list[str]]) -> None:
    monkeypatch.setattr(counting, "BATCH", 3)
    monkeypatch.setattr(counting, "SLICE", 2)
    monkeypatch.setattr(count_outcomes, "SLICE", 2)
    talk(*world)
    count_all()
    talk(["fees", "hours"])
    count_all()
    count_all()
    assert read_counts() == count_records()
    list(count_again())
    assert read_counts() == count_records()


def test_a_turn_is_counted_when_no_commit_can_precede_it() -> None:
    talk(["hours"])
    list(count_new_turns())
    assert not read_counts()
    CeCountProgress.objects.update(seen_at=F("seen_at") - timedelta(seconds=61))
    talk(["fees"])
    list(count_new_turns())
    assert sum(count for key, count in read_counts().items() if "TURN" in key) == 1


def test_a_job_that_is_killed_counts_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    talk(["hours", "what?"], ["fees"])
    left = 7

    def end_connection(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal left
        left -= 1
        if not left:
            raise OperationalError("the process was killed")
        return execute(sql, *rest)

    with connection.execute_wrapper(end_connection), pytest.raises(OperationalError):
        count_all()
    assert not read_counts()
    count_all()
    assert read_counts() == count_records()


def test_a_job_that_is_killed_after_it_wrote_its_counts_counts_nothing_twice() -> None:
    talk(["hours", "what?"], ["fees", "down by ada"])

    def end_connection(execute: Any, sql: str, *rest: Any) -> Any:
        if "UPDATE" in sql and "ce_count_progress" in sql and CeTurnCount.objects.filter(kind="TIME").exists():
            raise OperationalError("the process was killed")
        return execute(sql, *rest)

    with connection.execute_wrapper(end_connection), pytest.raises(OperationalError):
        count_all()
    count_all()
    assert read_counts() == count_records()


def test_calls_are_counted_by_model(monkeypatch: pytest.MonkeyPatch) -> None:
    talk(["hours"])
    turn = CeConversationHistory._base_manager.get()
    calls = [
        build_call(provider="main", model="org/small", success=ok, latency_ms=ms, cost=0.25, temperature=0)
        for ok, ms in ((True, 100), (False, 2400))
    ]
    document = [{**read_document(turn.events)[0], "calls": calls}, *read_document(turn.events)[1:]]
    CeConversationHistory._base_manager.update(events=dumps(document), model_calls=2, cost="0.5")
    count_all()
    assert read_counts() == count_records()
    assert CeTurnCount.objects.get(is_hour=False, kind="MODEL").amount == Decimal("0.5")
    durations = CeTurnCount.objects.filter(is_hour=False, kind="MODEL_TIME").values_list("value", flat=True)
    assert sorted(durations) == ["main/org/small:100", "main/org/small:2240"]


def test_what_looks_like_calls_in_a_payload_is_no_call() -> None:
    talk(["hours"])
    turn = CeConversationHistory._base_manager.get()
    call = build_call(provider="main", model="small", latency_ms=100)
    first, *rest = read_document(turn.events)
    for payload in ({"of": 1, "calls": [call]}, {"of": 1, "calls": 2}, {"of": 1, "calls": "many"}):
        document = [{**first, "payload": {**first["payload"], **payload}, "calls": [call]}, *rest]
        CeConversationHistory._base_manager.update(events=dumps(document), model_calls=1)
        count_all()
        list(count_again())
        assert CeTurnCount.objects.get(is_hour=False, kind="MODEL").turns == 1


def test_counts_stay_when_the_turns_are_removed() -> None:
    talk(["hours", "fees"])
    count_all()
    before = read_counts()
    CeConversation.objects.all().delete()
    count_all()
    assert read_counts() == before


def test_counts_of_removed_turns_stay_when_all_are_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", 3)
    talk(["hours", "fees", "up by ada"], ["what?"], ["lost card", "1234"])
    count_all()
    before = read_counts()
    CeConversation.objects.filter(turns__user_input__in=["hours", "what?"]).delete()
    list(count_again())
    assert read_counts() == before
    talk(["fees"])
    count_all()
    assert sum(read_counts().values()) > sum(before.values())


def test_a_hand_over_counts_once_when_retention_removed_its_turn() -> None:
    talk(["person", "fees", "fees", "fees"])
    CeConversationHistory.objects.update(intent_code="PERSON", state_code=HAND_OVER)
    spread_over_days()
    CeConversationHistory.objects.filter(turn_no=1).update(created_at=timezone.now() - timedelta(days=4))
    count_all()
    before = read_counts()
    CeConfig.objects.create(config_type="AUDIT", config_key="RETENTION_DAYS", config_value="3")
    list(remove_old_turns())
    assert CeConversationHistory.objects.earliest("turn_no").turn_no == 2
    list(count_again())
    assert read_counts() == before


def test_a_new_kind_of_count_is_counted_of_the_turns_that_are_stored() -> None:
    talk(["hours", "fees"], ["what?"])
    count_all()
    before = read_counts()
    CeTurnCount.objects.filter(kind="STATE").delete()
    CeConversation.objects.filter(turns__user_input="what?").delete()
    list(count_again())
    lost = before - read_counts()
    assert [(key[-2:], turns) for key, turns in lost.items()] == [(("STATE", "UNKNOWN"), 1)]


@pytest.mark.parametrize("days", range(4))
def test_a_recount_that_is_killed_loses_nothing(monkeypatch: pytest.MonkeyPatch, days: int) -> None:
    monkeypatch.setattr(counting, "BATCH", 2)
    talk(["hours", "what?", "down by bob"], ["fees", "my cvv"], ["lost card", "1234"])
    spread_over_days()
    count_all()
    before = read_counts()
    CeConversation.objects.filter(turns__user_input="fees").delete()
    talk(["fees"])
    for _, _ in zip(range(days), count_again(), strict=False):
        pass
    count_all()
    after = read_counts()
    assert before - after == Counter()
    list(count_again())
    assert read_counts() == after


def spread_over_days() -> None:
    """One turn a day, the last one today."""
    turns = list(CeConversationHistory.objects.order_by("-pk"))
    for days, turn in enumerate(turns):
        turn.created_at -= timedelta(days=days)
        turn.save(update_fields=["created_at"])


def test_hours_are_kept_for_a_month() -> None:
    talk(["hours", "fees"])
    count_all()
    old = timezone.now() - timedelta(days=CeTurnCount.HOURS_KEPT, hours=2)
    CeTurnCount.objects.update(hour=old)
    count_all()
    assert not CeTurnCount.objects.filter(is_hour=True).exists()
    assert CeTurnCount.objects.exists()


def test_an_upgrade_that_counts_something_new_counts_all_stored_turns() -> None:
    talk(["hours", "fees"], ["what?"])
    count_all()
    before = read_counts()
    CeTurnCount.objects.filter(kind="STATE").delete()
    list(update_counts())
    assert read_counts() == before
    CeTurnCount.objects.filter(kind="STATE").delete()
    list(update_counts())
    assert read_counts() != before


@pytest.mark.parametrize("is_first", [True, False])
def test_a_recount_leaves_new_turns_to_the_job_because_earlier_ones_may_not_be_stored_yet(is_first: bool) -> None:
    talk(["hours", "fees"])
    if not is_first:
        count_all()
    talk(["hours"])
    late = CeConversationHistory.objects.latest("history_id").history_id
    list(count_again())
    assert CeCountProgress.objects.get(pk=CeCountProgress.TURNS).counted < late
    count_all()
    assert read_counts() == count_records()


@pytest.mark.parametrize(
    "hour",
    [
        pytest.param(12, id="within the day of both zones"),
        pytest.param(18, id="when the day of one zone begins, which is late in that of the other"),
    ],
)
def test_days_follow_a_change_of_the_time_zone(hour: int) -> None:
    talk(["hours", "what?"], ["fees"])
    yesterday = timezone.now() - timedelta(days=1)
    CeConversationHistory.objects.update(created_at=yesterday.replace(hour=hour, minute=10))
    count_all()
    with timezone.override("Asia/Kolkata"):
        list(count_again())
        assert read_counts() == count_records()
