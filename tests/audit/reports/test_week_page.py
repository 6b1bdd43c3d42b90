"""The page about the last seven days: for readers of conversations only, and reading it is logged."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from audit.models import CeAccessLog, CeInboxGroup
from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.audit.reports.counts import blame_releases, count, count_turns
from tests.config_admin.builders import make
from tests.sign_in import sign_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def week() -> int:
    """A week that a release made worse; gives its number."""
    with change_set(Origin.ADMIN, "ben", "Shorter phrases") as change:
        make(m.CeIntent)
    assert change.release
    count_turns(300, 20, days=9, release=change.release.pk - 1)
    count_turns(300, 80, days=2, release=change.release.pk)
    for kind, value, number in (
        ("FORM_IS_COMPLETED", "1:", 12),
        ("FORM_IS_LEFT", "1:phone", 8),
        ("OUTCOME", "GIVEN_UP", 2),
    ):
        count(kind, value, number, days=2, release=change.release.pk)
    conversation = CeConversation.objects.create(intent_code="UNKNOWN", state_code="UNKNOWN", remote_jid="1")
    turn = CeConversationHistory.objects.create(
        conversation=conversation, turn_no=1, config_version=1, user_input="do you sell <gift> cards"
    )
    now = timezone.now()
    CeInboxGroup.objects.create(
        fingerprint="1", leader=turn.pk, messages=40, wordings=3, this_week=31, first_at=now, last_at=now
    )
    return change.release.pk


def read_page() -> tuple[Any, str]:
    page: Any = sign_in("quinn", "qa").get(reverse("admin:audit_ceaudit_week"))
    return page.context, re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page.content.decode()))


def test_what_matters_is_on_it(week: int, monkeypatch: pytest.MonkeyPatch) -> None:
    blame_releases(monkeypatch)
    context, text = read_page()

    assert "Turns 300 300 before" in text
    assert "do you sell &lt;gift&gt; cards" in text
    (flow,) = context["flows"]
    assert (flow.name, [number.value for number in flow.numbers.values()]) == ("HOURS", [300, 300, 20, 12, 2, 0, 0])
    assert all(bool(number.url) == bool(number.value) for number in flow.numbers.values())
    assert (
        "Not understood: 26.7 % of 300 turns in these seven days, 6.7 % in the same days a week before. "
        f"It got worse with release {week} by ben on"
    ) in text
    assert "“Shorter phrases”" in text
    assert "it would answer 31 of 80 messages" in text


def test_a_week_without_turns_says_so() -> None:
    _, text = read_page()

    assert "Nobody has written in the last two weeks." in text
    assert "No group of such messages is open in the inbox." in text


@pytest.mark.parametrize(("group", "status"), [("qa", 200), ("operator", 403)])
def test_readers_of_conversations_see_it(group: str, status: int) -> None:
    client, address = sign_in("quinn", group), reverse("admin:audit_ceaudit_week")

    assert client.get(address).status_code == status
    assert CeAccessLog.objects.filter(reader="quinn", path=address).exists() is (status == 200)
