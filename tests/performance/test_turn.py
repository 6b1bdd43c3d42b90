"""P5, P6, P8 and the size of what is stored, by counted work."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, models
from django.utils import timezone

from audit.models import CeTurnIndex
from bench import worlds
from config_admin.drafts.open_draft import open_draft
from config_admin.drafts.schedule import schedule_draft
from config_admin.models import CeDraft, CeRule
from config_admin.releases.change_set import change_set
from config_admin.releases.models import CeRelease, CeReleaseBlob
from convengine.engine.turn.codec import dumps
from convengine.server.sessions.models import CeConversation, CeConversationHistory, CeMemory
from tests.api import Caller
from tests.config_admin.test_cases.builders import make_test
from tests.performance.counting import TurnWork, say, work_of

pytestmark = pytest.mark.django_db

#: Where every byte of a turn, or of an edit, ends up.
_STORED_BY_TURNS = (CeConversation, CeConversationHistory, CeTurnIndex, CeMemory)
_STORED_BY_EDITS = (CeRelease, CeReleaseBlob, CeRule.history.model)
#: Bytes of values that are not texts.
_SIZES = {models.UUIDField: 16, models.DateTimeField: 8, models.IntegerField: 4, models.BigIntegerField: 8}


def after_a_while(rules: int, patterns: int) -> TurnWork:
    """The work of turn 6 of a conversation in a world of that size."""
    worlds.load(rules, patterns)
    return work_of_turn_6()


def work_of_turn_6() -> TurnWork:
    """The work of turn 6 of a new conversation."""
    caller = Caller()
    for turn in range(1, 6):
        say(caller, turn)
    return work_of(caller, 6)


def flat(little: TurnWork, much: TurnWork) -> None:
    """No more work, line by line."""
    assert much.statements == little.statements
    assert (much.rows, much.rules, much.pattern_sets) == (little.rows, little.rules, little.pattern_sets)
    # What is computed once per release may fall into either turn.
    assert much.lines <= little.lines + 150


def test_P8_an_ordinary_turn_asks_at_most_four_statements() -> None:
    work = after_a_while(rules=50, patterns=20)

    # SQLite executes the statements of a commit one by one, and no network lies in between.
    most = 4 if connection.vendor == "postgresql" else 8
    assert len(work.statements) <= most, "\n".join(work.statements)
    assert work.rules > 0
    assert work.pattern_sets > 0


@pytest.mark.long
def test_P5_a_turn_does_the_same_work_with_10_000_rules_as_with_10() -> None:
    few = after_a_while(rules=10, patterns=10)
    many = after_a_while(rules=10_000, patterns=10)

    flat(few, many)


def test_P5_a_turn_does_the_same_work_with_1_000_message_patterns_as_with_10() -> None:
    few = after_a_while(rules=10, patterns=10)
    many = after_a_while(rules=10, patterns=1_000)

    flat(few, many)


def test_drafts_schedules_and_tests_cost_a_turn_nothing() -> None:
    after_a_while(rules=10, patterns=10)
    without = work_of_turn_6()
    make_test(tags=("smoke",))
    for number in range(10):
        draft = CeDraft.objects.create(title=f"Draft {number}")
        with open_draft(draft.pk, writing=True), change_set():
            CeRule.objects.update(priority=7 + number)
        schedule_draft(draft.pk, "ada", timezone.now() + timedelta(days=1))

    flat(without, work_of_turn_6())


def test_P6_turn_500_does_the_same_work_as_turn_30_and_asks_no_more_than_turn_5() -> None:
    worlds.load(rules=10, patterns=10)
    caller = Caller()
    for turn in range(1, 5):
        say(caller, turn)
    turn_5 = work_of(caller, 5)
    lengthen(caller, 29)
    turn_30 = work_of(caller, 30)
    lengthen(caller, 497)
    turn_498 = work_of(caller, 498)

    assert turn_30.statements == turn_5.statements
    flat(turn_30, turn_498)


def test_an_ordinary_turn_stores_less_than_40_KB_before_it_is_compressed() -> None:
    worlds.load(rules=1_000, patterns=100)
    caller = Caller()
    for turn in range(1, 25):
        say(caller, turn)
    before = count_stored_bytes(*_STORED_BY_TURNS)
    for turn in range(25, 29):
        say(caller, turn)

    assert (count_stored_bytes(*_STORED_BY_TURNS) - before) / 4 < 40 * 1024


@pytest.mark.long
def test_an_edit_of_one_rule_among_5_000_stores_less_than_100_KB() -> None:
    worlds.load(rules=5_000, patterns=10)
    before = count_stored_bytes(*_STORED_BY_EDITS)
    with change_set(author="ana", reason="one rule"):
        rule = CeRule.objects.order_by("rule_id")[2_500]
        rule.match_pattern = "something else"
        rule.save()

    assert 0 < count_stored_bytes(*_STORED_BY_EDITS) - before < 100 * 1024


def lengthen(caller: Caller, turns: int) -> None:
    """Let the conversation look like one of that many turns."""
    last = (
        CeConversationHistory.objects.filter(conversation_id=UUID(caller.conversation_id)).order_by("-turn_no").first()
    )
    assert last
    values = {field.attname: getattr(last, field.attname) for field in last._meta.fields}
    for name in ("history_id", "turn_id", "turn_no"):
        del values[name]
    CeConversationHistory.objects.bulk_create(
        CeConversationHistory(**values, turn_no=number) for number in range(last.turn_no + 1, turns + 1)
    )
    CeConversation.objects.filter(pk=caller.conversation_id).update(last_turn_no=turns)


def count_stored_bytes(*tables: type[models.Model]) -> int:
    """The bytes of all values in these tables, whatever a database adds to them."""
    return sum(
        size(field, value)
        for table in tables
        for row in table._default_manager.all()
        for field in table._meta.concrete_fields
        if (value := getattr(row, field.attname)) is not None
    )


def size(field: "models.Field[Any, Any]", value: Any) -> int:
    """The bytes of one value."""
    if isinstance(field, models.JSONField):
        return len(dumps(value).encode())
    if isinstance(value, (bytes, memoryview)):
        return len(value)
    return _SIZES.get(type(field)) or len(str(value).encode())
