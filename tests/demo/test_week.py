"""The sample week of the demonstration: the engine has it on the clock of the last days, and one button removes it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth import get_user_model

from audit.inbox.job import update_inbox
from audit.integrity.verify import verify_other_tables
from audit.models import CeInboxGroup, CeLedger, CeTurnCount, CeTurnIndex
from audit.reports.week import summarise_week
from config_admin.commands.management.commands import demo_week
from config_admin.commands.management.commands.demo_week import play_week
from config_admin.models import CeIntentClassifier
from config_admin.releases.models import CeRelease
from convengine.engine.turn.turn import TurnRequest
from convengine.server.admin_site.record_columns import answer_text
from convengine.server.database.sql import database_time
from convengine.server.extensions.registry import Registry
from convengine.server.sessions.models import SAMPLE, CeConversation, CeConversationHistory
from convengine.server.turns.take_turn import take_turn
from tests.demo.test_readme import fits
from tests.demo.test_with_a_model import Says, model
from tests.sign_in import sign_in_superuser

pytestmark = [pytest.mark.usefixtures("helpdesk")]
#: A Saturday.
END = datetime(2026, 11, 28, 18, tzinfo=UTC)


def read_talks() -> list[list[tuple[str, str]]]:
    """What was said and answered, by conversation, in order of time."""
    conversations = CeConversation.objects.filter(channel=SAMPLE).order_by("created_at")
    return [
        [
            (turn.user_input or "", answer_text(turn.assistant_output))
            for turn in CeConversationHistory.objects.filter(conversation=conversation).order_by("turn_no")
        ]
        for conversation in conversations
    ]


def list_places() -> list[tuple[str, str]]:
    """The intents and states after each turn of the week, in order of time."""
    return list(CeConversationHistory.objects.order_by("created_at").values_list("intent_code", "state_code"))


def test_the_week_shows_what_the_pages_look_like_in_use_and_can_be_removed(settings: Any, tmp_path: Path) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "DEMO": True}
    settings.VAR_DIR = tmp_path
    demo_week.unfinished_week().write_text(datetime.now(UTC).isoformat())
    phrases = set(CeIntentClassifier.objects.filter(enabled=True).values_list("pk", flat=True))
    play_week(datetime.now(UTC))
    for _ in update_inbox():
        pass

    turns = CeConversationHistory.objects.all()
    assert 60 <= CeConversation.objects.filter(channel=SAMPLE).count() <= 80
    assert set(turns.values_list("status", flat=True)) == {"OK"}
    ages = [database_time() - at for at in turns.values_list("created_at", flat=True)]
    assert timedelta(hours=20) < min(ages)
    assert max(ages) < timedelta(days=9)
    # No phrase is off that was on before, and the two releases are in the week.
    assert set(CeIntentClassifier.objects.filter(enabled=True).values_list("pk", flat=True)) == phrases
    made = CeRelease.objects.order_by("-pk").values_list("created_at", flat=True)[:2]
    assert [(database_time() - at).days for at in made] == [2, 4]
    assert summarise_week().turns > 60
    assert CeInboxGroup.objects.filter(messages__gt=2).exists()
    client = sign_in_superuser()
    assert "came with the demonstration" in client.get("/admin/").content.decode()

    removed = client.post("/admin/audit/ceaudit/sample/", follow=True)

    for _ in update_inbox():
        pass
    assert not demo_week.unfinished_week().exists()
    listed = CeLedger.objects.filter(table_name="ce_conversation").values_list("by", "reason").distinct().get()
    assert listed == (get_user_model().objects.get().get_username(), "the demonstration's sample week")
    assert "sample conversations were removed" in removed.content.decode()
    assert "came with the demonstration" not in removed.content.decode()
    for table in (CeConversation, CeConversationHistory, CeTurnIndex):
        assert not table._default_manager.exists()
    assert not CeTurnCount.objects.filter(channel=SAMPLE).exists()
    assert not CeInboxGroup.objects.filter(messages__gt=0).exists()
    assert verify_other_tables().findings == []


def test_every_message_of_the_week_has_the_answer_that_a_reader_expects() -> None:
    expected = yaml.safe_load(Path(__file__).with_name("week.yaml").read_text())
    play_week(END)

    talks = read_talks()
    assert [[said for said, _ in talk] for talk in talks] == [[said for said, _ in talk] for talk in expected]
    pairs = [pair for talk, wanted in zip(talks, expected, strict=True) for pair in zip(talk, wanted, strict=True)]
    assert [(said, answer) for (said, answer), (_, wanted) in pairs if not fits(answer, wanted)] == []


@pytest.mark.long
@pytest.mark.parametrize("days", range(1, 7))
def test_the_week_goes_the_same_way_on_every_day_of_the_week(days: int) -> None:
    play_week(END)
    places = list_places()
    CeConversation.objects.all().delete()

    play_week(END + timedelta(days=days, hours=days * 3))

    assert list_places() == places


def test_the_week_costs_no_model_call(helpdesk: Registry) -> None:
    with model(helpdesk, Says("broken", 500)) as server:
        play_week(END)

        assert server.requests == []


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> set[int]:
    """Numbers of turns, counted from 1, in which the process stops once."""
    stops: set[int] = set()
    taken: list[str] = []

    def take(request: TurnRequest) -> None:
        taken.append(request.message or "")
        if len(taken) in stops:
            raise KeyboardInterrupt
        take_turn(request)

    monkeypatch.setattr(demo_week, "take_turn", take)
    return stops


@pytest.mark.parametrize("stops", [{1}, {2}, {3, 4}, {20, 60, 70, 100}], ids=str)
def test_a_week_that_was_stopped_goes_on_where_it_ended(stopping: set[int], stops: set[int]) -> None:
    stopping |= stops
    for _ in stops:
        with pytest.raises(KeyboardInterrupt):
            play_week(END)
    play_week(END)

    expected = yaml.safe_load(Path(__file__).with_name("week.yaml").read_text())
    assert [[said for said, _ in talk] for talk in read_talks()] == [[said for said, _ in talk] for talk in expected]
    assert CeRelease.objects.filter(author="mia").count() == 2
    assert set(CeConversationHistory.objects.values_list("status", flat=True)) == {"OK"}
    turns = set(CeConversationHistory.objects.values_list("turn_id", flat=True))
    assert set(CeTurnIndex.objects.values_list("turn_id", flat=True)) <= turns
    assert verify_other_tables().findings == []
