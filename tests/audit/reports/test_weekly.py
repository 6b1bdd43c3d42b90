"""The weekly page: the five things that matter, in one file without anything outside of it."""

import re
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from audit.models import CeInboxGroup
from audit.reports.weekly import render_weekly_page
from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.audit.reports.counts import count, count_turns
from tests.config_admin.builders import make

pytestmark = pytest.mark.django_db


@pytest.fixture
def week() -> int:
    """A week that a release made worse; gives its number."""
    with change_set(Origin.ADMIN, "ben", "Shorter phrases") as change:
        make(m.CeIntent)
    assert change.release
    count_turns(300, 20, days=9, release=change.release.pk - 1)
    count_turns(300, 80, days=2, release=change.release.pk)
    for kind, number in (("STARTED", 20), ("COMPLETED", 12), ("LEFT", 5), ("GAVE_UP", 2)):
        count(f"FORM_{kind}", "1:", number, days=2, release=change.release.pk)
    conversation = CeConversation.objects.create(intent_code="UNKNOWN", state_code="UNKNOWN", remote_jid="1")
    turn = CeConversationHistory.objects.create(
        conversation=conversation, turn_no=1, config_version=1, user_input="do you sell <gift> cards"
    )
    now = timezone.now()
    CeInboxGroup.objects.create(
        fingerprint="1", leader=turn.pk, messages=40, wordings=3, this_week=31, first_at=now, last_at=now
    )
    return change.release.pk


def read_text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_the_five_things_are_on_it(week: int) -> None:
    text = read_text(render_weekly_page())

    assert "Turns 300 300 before" in text
    assert "do you sell &lt;gift&gt; cards" in text
    assert "HOURS 300 300 20 12 7 0" in text
    assert "Not understood: 6.7 % → 26.7 %" in text
    assert f"since release {week} by ben on" in text
    assert "“Shorter phrases”" in text
    assert "it would answer 31 of 80 messages" in text


def test_a_file_asks_for_nothing_and_links_nowhere(week: int) -> None:
    page = render_weekly_page(is_file=True)

    assert "@page { size: A4" in page
    assert not re.search(r"(src|href)=|url\(|@import", page)


def test_a_week_without_turns_says_so() -> None:
    text = read_text(render_weekly_page())

    assert "Nobody has written in the last two weeks." in text
    assert "Nothing waits to be taught." in text


def test_the_command_writes_the_file(week: int, tmp_path: Path) -> None:
    call_command("report", "--weekly", str(tmp_path / "week.html"))
    assert "Shorter phrases" in (tmp_path / "week.html").read_text()
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("report", "--weekly", str(tmp_path / "nowhere" / "week.html"))
