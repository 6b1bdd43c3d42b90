"""The pages of the reports that are declared as topics: each number leads to as many turns, each table is a file."""

import csv
import io
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from audit.feedback.store import FeedbackInput, store_feedback
from audit.models import CeAccessLog, CeTurnCount, CeTurnIndex
from audit.record.events import read_document
from audit.record.milestones import MODEL_ERROR_STAGES
from audit.reports.counting import count_new_turns
from audit.reports.job import count_again
from audit.reports.page import ReportTable
from audit.reports.topics import FEEDBACK, MODELS, TIMES, TOPICS, UNKNOWN, ReportTopic
from convengine.engine.turn.codec import dumps, loads
from convengine.server.sessions.models import CeConversationHistory
from tests.audit.reports.counts import count, count_listed_turns
from tests.audit.reports.test_page import list_numbers, reader, talk
from tests.record import call

__all__ = ["reader"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("changeable_turns")]


@pytest.fixture
def world(db: None) -> None:
    """Conversations with unknown messages, ratings, model calls and a slow turn."""
    talk("hours|what?|fees", "fees|my cvv", "What? |hours fees")
    turns = list(CeConversationHistory.objects.order_by("pk"))
    rate(turns[0], "THUMBS_UP")
    rate(turns[2], "THUMBS_DOWN", "Too dear.")
    rate(turns[3], "THUMBS_DOWN")
    add_calls(turns[0], ("main", "org/small", True), ("main", "org/small", False))
    add_calls(turns[3], ("main", "org/small", True), ("spare", "large", True))
    CeTurnIndex.objects.create(turn_id=turns[0].turn_id, kind="STAGE", value=MODEL_ERROR_STAGES[0], role="")
    CeConversationHistory._base_manager.filter(pk=turns[4].pk).update(duration_ms=2400)
    list(count_again())
    list(count_new_turns(timedelta()))


def rate(turn: CeConversationHistory, thumb: str, comment: str = "") -> None:
    store_feedback(
        uuid.UUID(str(turn.conversation_id)), None, "ada", FeedbackInput(thumb, str(turn.turn_id), comment=comment)
    )


def add_calls(turn: CeConversationHistory, *calls: tuple[str, str, bool]) -> None:
    first, *rest = read_document(CeConversationHistory._base_manager.get(pk=turn.pk).events)
    stored = [
        call(provider=provider, model=model, temperature=0, success=success, latency_ms=700, cost=0.25)
        for provider, model, success in calls
    ]
    document = dumps([{**first, "calls": stored}, *rest])
    CeConversationHistory._base_manager.filter(pk=turn.pk).update(
        events=document, model_calls=len(calls), cost=0.25 * len(calls)
    )


def address_of(topic: ReportTopic) -> str:
    return reverse(f"admin:audit_ceaudit_{topic.name}")


def read_table(reader: Client, topic: ReportTopic, name: str) -> ReportTable:
    tables: list[ReportTable] = reader.get(address_of(topic)).context["tables"]
    return next(table for table in tables if table.name == name)


def read_values(table: ReportTable) -> dict[str, dict[str, Any]]:
    return {row.name: {name: number.value for name, number in row.numbers.items()} for row in table.rows}


@pytest.mark.dialects
@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
@pytest.mark.parametrize("query", [{}, {"days": "1", "intent": "fees"}], ids=["all", "filtered"])
def test_every_number_leads_to_as_many_turns(reader: Client, topic: ReportTopic, query: dict[str, str]) -> None:
    context = reader.get(address_of(topic), query).context
    numbers = [number for name in ("whole", "periods", "tables") for number in list_numbers(context[name])]
    linked = {number.url: number.value for number in numbers if number.url and number.measure.unit != "ms"}
    assert len(linked) >= (1 if query else 3)
    for url, value in linked.items():
        assert count_listed_turns(reader, url) == value, url


@pytest.mark.usefixtures("world")
def test_states_of_unknown_messages_are_listed(reader: Client) -> None:
    context = reader.get(address_of(UNKNOWN)).context
    unknown = next(table for table in context["tables"] if table.name == "unknown_state")
    turns = context["whole"].numbers["not_understood"].value
    assert sum(row.numbers["not_understood"].value for row in unknown.rows) == turns


@pytest.mark.dialects
@pytest.mark.usefixtures("world")
def test_models_have_their_calls_failures_and_costs(reader: Client) -> None:
    values = read_values(read_table(reader, MODELS, "model"))
    assert list(values) == ["main/org/small", "spare/large"]
    small = values["main/org/small"]
    assert (small["model_calls"], small["failed_calls"], small["turns"], float(small["cost"])) == (3, 1, 2, 0.75)
    assert 630 <= small["median_ms"] < 800


@pytest.mark.dialects
@pytest.mark.usefixtures("world")
def test_slow_turns_and_steps_are_listed(reader: Client) -> None:
    count("STEP", "RulesStep:2000", 1, days=0, release=1)
    context = reader.get(address_of(TIMES)).context
    assert context["whole"].numbers["slow"].value == 1
    assert context["whole"].numbers["p95_ms"].value >= 2240
    steps = read_table(reader, TIMES, "step")
    assert "Rules" in [row.name for row in steps.rows]
    assert not any(number.url for row in steps.rows for number in row.numbers.values())
    mean = context["whole"].numbers["mean_ms"]
    assert count_listed_turns(reader, mean.url) == mean.base


@pytest.mark.dialects
@pytest.mark.usefixtures("world")
def test_answers_have_their_ratings_and_comments(reader: Client) -> None:
    context = reader.get(address_of(FEEDBACK)).context
    answers = next(table for table in context["tables"] if table.name == "answer")
    assert {(row.numbers["negative"].value, row.numbers["positive"].value) for row in answers.rows} >= {(2, 0), (0, 1)}
    assert [(line.comment, line.feedback_type) for line in context["comments"]] == [("Too dear.", "THUMBS_DOWN")]
    assert CeAccessLog.objects.filter(search__contains="feedback").exists()


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
def test_charts_and_tables_are_files(reader: Client, topic: ReportTopic) -> None:
    context = reader.get(address_of(topic), {"channel": "api"}).context
    for chart in context["charts"]:
        answer = reader.get(address_of(topic) + chart.svg_url)
        assert answer["Content-Type"].startswith("image/svg+xml")
        assert answer["Content-Disposition"].endswith('.svg"')
        assert chart.title in answer.content.decode()
    for table in context["tables"]:
        lines = list(csv.reader(io.StringIO(reader.get(address_of(topic) + table.csv_url).content.decode())))
        assert len(lines) == 1 + len(table.rows) + table.more
    periods = list(csv.DictReader(io.StringIO(reader.get(address_of(topic), {"format": "csv"}).content.decode())))
    assert len(periods) == 7
    assert list(periods[0]) == ["period", *(measure.name for measure in topic.measures)]
    for form in ("csv", "svg"):
        assert reader.get(address_of(topic), {"format": form, "part": "nothing"}).status_code == 404


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
def test_the_number_of_queries_is_fixed(reader: Client, topic: ReportTopic) -> None:
    reader.get(address_of(topic))
    with CaptureQueriesContext(connection) as few:
        reader.get(address_of(topic), {"days": "90"})
    for number in range(5):
        count("STATE", f"STATE_{number}", 3, days=number, release=number, intent=f"INTENT_{number}")
        count("NOT_UNDERSTOOD", f"STATE_{number}", 2, days=number, release=number, intent=f"INTENT_{number}")
        count("MODEL", f"main/model-{number}", 2, days=number, release=number, intent=f"INTENT_{number}")
        count("ANSWER_DOWN", f"ce_response:{number}", 2, days=number, release=number, intent=f"INTENT_{number}")
        count("STEP", f"Step{number}:20", 2, days=number, release=number, intent=f"INTENT_{number}")
    with CaptureQueriesContext(connection) as full:
        reader.get(address_of(topic), {"days": "90"})
    assert len(full) == len(few)


@pytest.mark.parametrize("topic", TOPICS, ids=[topic.name for topic in TOPICS])
def test_without_turns_the_page_says_so(reader: Client, topic: ReportTopic) -> None:
    assert "No turns in this period." in reader.get(address_of(topic)).content.decode()


@pytest.mark.usefixtures("world")
def test_the_command_lists_the_groups_of_a_dimension(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("report", "--by", "model", "--json")
    groups = {group["model"]: group for group in loads(capsys.readouterr().out)["groups"]}
    assert groups["main/org/small"]["model_calls"] == 3
    assert 630 <= groups["main/org/small"]["p95_ms"] < 800


@pytest.mark.dialects
@pytest.mark.parametrize("damage", ['[{"calls": null}]', '[{"calls": [{"model": 5, "latency_ms": null}]}]', "[7"])
def test_a_damaged_document_does_not_keep_others_from_being_counted(damage: str) -> None:
    talk("hours", "fees")
    damaged, whole = CeConversationHistory.objects.order_by("pk")
    add_calls(whole, ("main", "small", True))
    CeConversationHistory._base_manager.filter(pk=damaged.pk).update(events=damage, model_calls=1)
    list(count_again())
    models = CeTurnCount.objects.filter(is_hour=False, kind=CeTurnCount.MODEL).values_list("value", "turns")
    assert ("main/small", 1) in models
