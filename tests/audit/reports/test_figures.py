"""The figures of the reports, recounted by plain SQL on the record: it shares no code with the reports."""

import math
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from audit.record.days import choose_days
from audit.reports.measures import read_values
from audit.reports.report import ReportSelection, build_report, list_groups
from audit.reports.topics import DIMENSIONS
from tests.audit.reports.seeded_worlds import build_world

pytestmark = [pytest.mark.django_db, pytest.mark.dialects]
_DONE = "status IN ('OK', 'BLOCKED')"
#: What each measure counts, said once more.
FIGURES = {
    "turns": "SELECT count(*) FROM turn h",
    "conversations": "SELECT count(*) FROM turn h WHERE turn_no = 1",
    "not_understood": "SELECT count(*) FROM turn h WHERE {not_understood}",
    "all_handed_over": f"SELECT count(DISTINCT conversation_id) FROM turn h WHERE state_code = 'HAND_OVER' AND {_DONE}",
    "hand_over_offered": "SELECT count(*) FROM turn h WHERE {offered}",
    "failed": "SELECT count(*) FROM turn h WHERE status = 'FAILED'",
    "positive": "SELECT count(DISTINCT turn_id) FROM ce_mcp_user_feedback"
    " WHERE feedback_type = 'THUMBS_UP' AND replaced_at IS NULL",
    "negative": "SELECT count(DISTINCT turn_id) FROM ce_mcp_user_feedback"
    " WHERE feedback_type = 'THUMBS_DOWN' AND replaced_at IS NULL",
    "model_calls": "SELECT count(*) FROM ce_llm_call_log",
    "failed_calls": "SELECT count(*) FROM ce_llm_call_log WHERE NOT success",
    "slow": "SELECT count(*) FROM turn h WHERE duration_ms >= 2000",
}
_STAGES = {"not_understood": "NOT_UNDERSTOOD", "offered": "HAND_OVER_OFFERED"}


def query(sql: str) -> list[tuple[Any, ...]]:
    """What plain SQL says; `turn` are the turns without later additions."""
    for name, stage in _STAGES.items():
        sql = sql.replace(
            f"{{{name}}}", f"EXISTS (SELECT 1 FROM ce_audit a WHERE a.turn_id = h.turn_id AND a.stage = '{stage}')"
        )
    with connection.cursor() as cursor:
        cursor.execute(f"WITH turn AS (SELECT * FROM ce_conversation_history WHERE source <> 'ADDITION') {sql}")
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def count_by(column: str, where: str = "TRUE") -> dict[str, int]:
    sql = f"""SELECT {column}, count(*) FROM turn h JOIN ce_conversation c ON c.conversation_id = h.conversation_id
        WHERE {where} GROUP BY 1"""
    return {str(name): number for name, number in query(sql)}


def read_groups(dimension: str, measure: str) -> dict[str, int]:
    groups = list_groups(ReportSelection(*choose_days(30, timezone.now())), DIMENSIONS[dimension], has_durations=True)
    values = {group.name: read_values(group.totals)[measure] for group in groups}
    return {name: int(value) for name, value in values.items() if value}


def count_form_steps() -> Counter[str]:
    """The steps of forms by the texts of the index."""
    roles = query("""SELECT i.role FROM turn h JOIN ce_turn_index i ON i.turn_id = h.turn_id
        WHERE i.kind = 'STAGE' AND i.role LIKE '|%' AND h.status IN ('OK', 'BLOCKED')""")
    return Counter(step.partition("/")[2].partition(":")[0] for (role,) in roles for step in role.split("|") if step)


@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.nightly), pytest.param(3, marks=pytest.mark.nightly)]
)
def test_every_figure_is_what_plain_sql_counts(seed: int) -> None:
    build_world(seed)
    report = build_report(ReportSelection(*choose_days(30, timezone.now())), has_durations=True)
    figures = read_values(report.totals)

    figures["all_handed_over"] = (figures["handed_over"] or 0) + (figures["handed_over_failed"] or 0)

    expected: dict[str, Any] = {name: query(sql)[0][0] for name, sql in FIGURES.items()}
    steps = count_form_steps()
    expected |= {"forms_started": steps["STARTED"], "forms_completed": steps["COMPLETED"]}
    durations = sorted(duration for (duration,) in query("SELECT duration_ms FROM turn h"))
    expected["mean_ms"] = round(sum(durations) / len(durations))
    assert {name: figures[name] for name in expected} == expected
    for name, share in (("median_ms", 0.5), ("p95_ms", 0.95)):
        exact = durations[math.ceil(share * len(durations)) - 1]
        assert figures[name] == pytest.approx(exact, rel=0.125, abs=1)
    assert min(expected[name] for name in ("not_understood", "all_handed_over", "forms_started", "negative")) > 0
    outcomes = ("resolved", "all_handed_over", "given_up", "ended_not_understood", "open")
    assert sum(figures[name] or 0 for name in outcomes) == figures["conversations"]

    for dimension, column in (("intent", "h.intent_code"), ("release", "h.config_version"), ("channel", "c.channel")):
        assert read_groups(dimension, "turns") == count_by(column)
        assert read_groups(dimension, "not_understood") == count_by(column, "{not_understood}")
        assert read_groups(dimension, "failed") == count_by(column, "h.status = 'FAILED'")
    assert read_groups("state", "turns") == count_by("h.state_code")
    assert read_groups("error", "turns") == count_by("h.error_code", "h.error_code IS NOT NULL")
    assert read_groups("unknown_state", "not_understood") == count_by("h.state_code", "{not_understood}")


def test_every_day_and_every_hour_has_its_turns() -> None:
    build_world(1)
    now = timezone.now()
    times = [moment for (moment,) in query("SELECT created_at FROM turn h")]
    moments = [datetime.fromisoformat(str(moment)) for moment in times]
    moments = [moment if moment.tzinfo else moment.replace(tzinfo=UTC) for moment in moments]
    for days in (1, 2, 7, 30, 200):
        for period in build_report(ReportSelection(*choose_days(days, now))).periods:
            number = sum(period.since <= moment < period.until for moment in moments)
            assert period.totals.turns == number
    rolling = ReportSelection(now.replace(minute=0, second=0, microsecond=0) - timedelta(days=7), now)
    total = sum(period.totals.turns for period in build_report(rolling).periods)
    assert total == sum(rolling.since <= moment < rolling.until for moment in moments)
