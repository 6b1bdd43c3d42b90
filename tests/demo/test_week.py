"""The sample week of the demonstration: the engine has it on the clock of the last days, and one button removes it."""

from datetime import timedelta
from typing import Any

import pytest

from audit.inbox.job import update_inbox
from audit.integrity.verify import verify_other_tables
from audit.models import CeInboxGroup, CeTurnCount, CeTurnIndex
from audit.reports.week import summarise_week
from config_admin.commands.management.commands import demo_week
from config_admin.commands.management.commands.demo_week import play_week
from config_admin.models import CeIntentClassifier
from config_admin.releases.models import CeRelease
from convengine.engine.errors import ConversationClosed
from convengine.engine.turn.turn import TurnRequest
from convengine.server.database.sql import database_time
from convengine.server.sessions.models import SAMPLE, CeConversation, CeConversationHistory
from tests.sign_in import sign_in_superuser

pytestmark = [pytest.mark.usefixtures("helpdesk")]


def test_the_week_shows_what_the_pages_look_like_in_use_and_can_be_removed(settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "DEMO": True}
    phrases = set(CeIntentClassifier.objects.filter(enabled=True).values_list("pk", flat=True))
    play_week()
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
    assert "sample conversations were removed" in removed.content.decode()
    assert "came with the demonstration" not in removed.content.decode()
    for model in (CeConversation, CeConversationHistory, CeTurnIndex):
        assert not model._default_manager.exists()
    assert not CeTurnCount.objects.filter(channel=SAMPLE).exists()
    assert not CeInboxGroup.objects.filter(messages__gt=0).exists()
    assert verify_other_tables().findings == []


def test_a_conversation_that_is_closed_meanwhile_does_not_end_the_week(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []

    def take(request: TurnRequest) -> None:
        taken.append(request.conversation_id)
        if taken.count(request.conversation_id) == 2:
            raise ConversationClosed()

    monkeypatch.setattr(demo_week, "take_turn", take)
    play_week()

    assert len(set(taken)) >= 60
    assert max(map(taken.count, taken)) == 2
