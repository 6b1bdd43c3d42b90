"""What belongs to a topic, and what names it."""

import pytest

from config_admin import models as m
from config_admin.flows.topics.topic import Topic, collect_topic
from config_admin.releases.active import snapshots
from config_admin.releases.change_set import change_set
from tests.config_admin.builders import make
from tests.config_admin.flows.topics.builders import make_references, make_topic

pytestmark = pytest.mark.django_db


def collect() -> Topic:
    topic = collect_topic(snapshots.current(), "LOAN")
    assert topic is not None
    return topic


def test_all_rows_of_the_intent_belong_to_it_and_no_other() -> None:
    rows = make_topic()
    with change_set():
        make(m.CeResponse, intent_code="ANY", state_code="ANY", exact_text="Hello")
    own = {(table, pk) for table, members in collect().own.items() for pk in members}

    assert own == {(row._meta.db_table, row.pk) for row in rows.values()}
    assert collect().count == len(rows)


def test_rows_that_name_it_are_told_from_rows_that_may() -> None:
    make_topic()
    rows = make_references()
    with change_set():
        make(m.CeIntent, intent_code="HELP")
        text = make(m.CeResponse, intent_code="HELP", state_code="ANY", exact_text="Say LOAN for a loan.")
        make(m.CeResponse, intent_code="HELP", state_code="A", exact_text="We have loans.")
    topic = collect()

    assert set(topic.references["ce_rule"]) == {row.pk for row in rows.values()}
    assert {table: set(members) for table, members in topic.mentions.items()} == {"ce_response": {text.pk}}


def test_an_intent_that_is_not_there_has_no_topic() -> None:
    assert collect_topic(snapshots.current(), "LOAN") is None
