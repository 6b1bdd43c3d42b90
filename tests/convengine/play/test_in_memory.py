"""Scenarios in memory: the same verdict as over the API, and nothing is stored."""

from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from convengine.play import database
from convengine.play.expectations import find_misses
from convengine.play.in_memory import (
    MemoryPlayer,
    NeedsDatabase,
    build_test,
    list_reached_intents,
    play_first_message,
    require_in_memory,
)
from convengine.play.loading import load
from convengine.play.runner import open_world
from convengine.server.interfaces.configuration import configuration
from tests.cases import for_each
from tests.worlds import create_help_desk

SCENARIOS = Path(__file__).parents[2] / "scenarios"
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
#: A database is emptied after a test: not after each scenario.
SHARES = 4
pytestmark = pytest.mark.django_db


def is_playable(file: Path) -> bool:
    """True for a scenario whose turns need nothing but its first configuration."""
    scenario = load(file)
    keys = {key for turn in scenario.turns for key in turn.expect}
    edits = any(turn.before or turn.thread for turn in scenario.turns)
    return not edits and not keys & {"session", "decision", "reason"}


@cache
def list_playable_files() -> list[Path]:
    return [file for file in sorted(SCENARIOS.glob("*.yaml")) if is_playable(file)]


def test_most_scenarios_can_be_played_in_memory() -> None:
    assert len(list_playable_files()) > 50


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("share", range(SHARES))
def test_a_scenario_holds_in_memory_and_stores_nothing(share: int) -> None:
    @for_each("file", list_playable_files()[share::SHARES])
    def check(file: Path) -> None:
        scenario = load(file)
        with database.allow_emptying(), open_world(scenario):
            counts = count_rows()
            player = MemoryPlayer(scenario, configuration().current(), NOW)
            misses = {
                number: found
                for number, (turn, played) in enumerate(player.play_all(), start=1)
                if (found := list(find_misses(turn.expect, played.seen)))
            }
            assert count_rows() == counts
        assert misses == {}

    check()


def count_rows() -> dict[str, int]:
    tables = [model._meta.db_table for model in apps.get_models()]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(f"SELECT '{table}', COUNT(*) FROM {table}" for table in tables))
        return dict(cursor.fetchall())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tables", {"ce_intent": [{"intent_code": "A"}]}),
        ("configuration", "bot.yaml"),
        ("settings", {"flow": {"memory": {"enabled": True}}}),
        ("extensions", "real"),
        ("turns", [{"user": "x", "thread": {"remote_jid": "1"}}]),
        ("turns", [{"user": "x", "before": [{"delete": "ce_rule", "where": {}}]}]),
        ("turns", [{"user": "x", "expect": {"decision": "NEW"}}]),
    ],
)
def test_what_needs_a_database_is_refused_with_the_command_that_has_one(key: str, value: Any) -> None:
    with pytest.raises(NeedsDatabase, match="Run it with: convengine test"):
        require_in_memory({"id": "a", "title": "A", "turns": [{"user": "x"}], key: value})


def test_a_test_has_only_its_stubs_and_no_model_unless_it_scripts_one() -> None:
    document = {"id": "a", "title": "A", "turns": [{"user": "x"}]}
    assert (build_test(document).extensions, build_test(document).model) == ("stubs", False)
    scripted = build_test({**document, "llm": [{"when": {"purpose": "intent"}, "reply": "x"}]})
    assert scripted.model


@pytest.mark.parametrize(
    ("text", "intents"), [("hours", ("HOURS",)), ("hours and fees", ("HOURS", "FEES")), ("parking", ()), ("hello", ())]
)
def test_a_message_leads_to_an_intent_to_a_question_or_nowhere(text: str, intents: tuple[str, ...]) -> None:
    create_help_desk()
    before = {model: model._base_manager.count() for model in apps.get_models()}

    turn = play_first_message(configuration().current(), text, timezone.now())

    assert set(list_reached_intents(turn)) == set(intents)
    assert before == {model: model._base_manager.count() for model in apps.get_models()}
