"""What if over the demonstration's recorded turns: exact, without effect, and in time."""

import time
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import CeTurnIndex
from audit.replay.replay import find_subjects, play_elsewhere, restore_recording
from audit.search.query import SearchQuery
from audit.what_if.engine import ComparedTurn, ConfigurationPair, DifferenceKind
from audit.what_if.selection import TurnKey, select_turns
from config_admin.drafts.open_draft import open_draft
from config_admin.models import CeDraft, CeResponse, CeRule
from config_admin.releases.change_set import change_set
from config_admin.releases.content import content_of
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.extensions.registry import Registry
from convengine.server.interfaces.configuration import (
    ConfigurationName,
    UnsavedRows,
    configuration,
    named_configurations,
)
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.audit.what_if.tripwire import set_tripwire

pytestmark = pytest.mark.usefixtures("shared_helpdesk")
LIVE = ConfigurationName("live")
#: Greetings, two topics, refusals, slips, an executed task, and what nobody understands.
LINES = (
    ("Hiya :)", "Hi, I'd like to CANCEL my order pls", "hmm, which one was it", "11111", "51007", "erm", "no"),
    ("where's my order 48392?", "cancel it", "yes please", "yes", "Thank you very much!"),
    ("sing me a song", "cancel order 51007", "no thanks", "Cancel order 60415", "bye"),
)


def hold_conversations(secret: str, turns: int) -> None:
    """Conversations of at least so many turns."""
    done = 0
    while done < turns:
        for lines in LINES:
            customer = Caller(secret)
            done += sum(bool(customer.say(line)) for line in lines)


def read(unsaved: UnsavedRows | None = None) -> Snapshot:
    return named_configurations().read(LIVE, unsaved)


def compare(new: Snapshot, old: Snapshot | None, keys: list[TurnKey]) -> list[ComparedTurn]:
    return list(ConfigurationPair(new, old).compare_turns(keys))


def change_answer() -> UnsavedRows:
    """The answer to what nobody understands, in other words."""
    row = CeResponse.objects.get(description="nobody understood")
    return {"ce_response": {row.pk: {**content_of(row), "exact_text": "Pardon?"}}}


def list_deciding_rules(keys: list[TurnKey]) -> list[int]:
    """The rules that decided something in these turns."""
    turns = CeConversationHistory.objects.filter(pk__in=[key.history_id for key in keys]).values_list("turn_id")
    values = CeTurnIndex.objects.filter(kind="ce_rule", turn_id__in=turns).values_list("value", flat=True)
    return sorted({int(value) for value in values})


def run_all(keys: list[TurnKey], snapshot: Snapshot) -> dict[int, Any]:
    """An independent replay of every turn: where it leads, what it says and does."""
    outcomes = {}
    for record in CeConversationHistory.objects.filter(pk__in=[key.history_id for key in keys]).defer(None):
        recorded = restore_recording(record)
        turn, _ = play_elsewhere(recorded, snapshot, find_subjects(recorded, configuration().at))
        where = None if turn.error else (turn.session.intent, turn.session.state, turn.session.context)
        outcomes[record.pk] = (turn.error, None if turn.error else turn.seen.answer, where)
    return outcomes


@pytest.fixture
def keys(customer: Caller) -> list[TurnKey]:
    # Each line is said twice: what it does the second time may be something else.
    hold_conversations(customer.secret, 30)
    return select_turns(SearchQuery(), 1000)


def test_what_is_unchanged_differs_nowhere_and_calls_nothing(keys: list[TurnKey], shared_helpdesk: Registry) -> None:
    assert {key.conversation_id for key in keys} == set(
        CeConversationHistory.objects.values_list("conversation_id", flat=True)
    )
    live = read()
    with set_tripwire(shared_helpdesk):
        for old in (live, None):
            assert {result.kind for result in compare(live, old, keys)} == {DifferenceKind.SAME}


@pytest.mark.parametrize("count", [3, pytest.param(1000, marks=pytest.mark.nightly)])
def test_one_changed_rule_gives_the_turns_of_an_independent_replay(
    keys: list[TurnKey], shared_helpdesk: Registry, count: int
) -> None:
    live = read()
    changed = 0
    before = run_all(keys, live)
    for rule in list_deciding_rules(keys)[:count]:
        new = read({"ce_rule": {rule: None}})
        after = run_all(keys, new)
        expected = {pk for pk in before if before[pk] != after[pk]}
        with set_tripwire(shared_helpdesk):
            results = compare(new, live, keys)
        needs = {result.key.history_id for result in results if result.kind is DifferenceKind.NEEDS_MODEL}
        differing = {
            result.key.history_id
            for result in results
            if result.kind not in (DifferenceKind.SAME, DifferenceKind.NEEDS_MODEL)
        }
        assert differing == expected - needs, rule
        causes = {result.cause for result in results if result.differs}
        assert causes <= {("ce_rule", str(rule))}
        changed += bool(expected)
    assert changed


def test_the_queries_do_not_grow_with_the_turns(keys: list[TurnKey]) -> None:
    live = read()
    with CaptureQueriesContext(connection) as queries:
        compare(live, live, keys)
    # The turns, and the release that they ran on.
    assert len(queries) == 2


@pytest.mark.nightly
def test_a_thousand_turns_take_less_than_a_minute(customer: Caller) -> None:
    hold_conversations(customer.secret, 1000)
    keys = select_turns(SearchQuery(), 1000)
    live = read()
    began = time.process_time()
    results = compare(read(change_answer()), live, keys)
    assert time.process_time() - began < 60
    assert len(results) >= 1000
    assert {result.kind for result in results if result.differs} == {DifferenceKind.ANSWER}


@pytest.mark.nightly
def test_over_a_thousand_turns_a_draft_differs_exactly_where_an_independent_replay_does(
    customer: Caller, shared_helpdesk: Registry
) -> None:
    hold_conversations(customer.secret, 1000)
    keys = select_turns(SearchQuery(), 1000)
    assert len(keys) >= 1000
    live, draft = read(), CeDraft.objects.create(title="Without a rule")
    name = ConfigurationName("draft", draft.pk)
    with set_tripwire(shared_helpdesk):
        assert {result.kind for result in compare(named_configurations().read(name), live, keys)} == {
            DifferenceKind.SAME
        }
    rule = list_deciding_rules(keys)[0]
    with open_draft(draft.pk, writing=True), change_set():
        CeRule.objects.filter(pk=rule).update(enabled=False)
    new = named_configurations().read(name)
    before, after = run_all(keys, live), run_all(keys, new)
    with set_tripwire(shared_helpdesk):
        results = compare(new, live, keys)
    by_kind = {kind: {result.key.history_id for result in results if result.kind is kind} for kind in DifferenceKind}
    expected = {pk for pk in before if before[pk] != after[pk]} - by_kind[DifferenceKind.NEEDS_MODEL]
    assert expected
    assert set(before) - by_kind[DifferenceKind.SAME] - by_kind[DifferenceKind.NEEDS_MODEL] == expected
