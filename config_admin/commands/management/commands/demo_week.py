"""`manage.py demo_week`: the sample week of the demonstration, played by the engine on the clock of the last days."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any

import yaml
from django.conf import settings
from django.test import override_settings

from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.tables.classifier.model import CeIntentClassifier
from convengine.engine.errors import ConversationClosed
from convengine.engine.turn.turn import TurnRequest
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.deployment.folders import find_shipped
from convengine.server.interfaces.turn_reports import turn_reports
from convengine.server.sessions.models import SAMPLE, CeConversation
from convengine.server.turns.take_turn import take_turn

#: The week began so many days ago; it ended yesterday.
DAYS = 8
#: The conversations of a day are spread over so many hours, and a user writes again after so long.
_IS_OPEN, _PAUSE = timedelta(hours=11), timedelta(seconds=20)


class Command(ExactCommand):
    """Plays the week once."""

    help = "Play the sample week of the demonstration. `demo` does it at the first start."

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the turns of the week and publish its releases, in their order."""
        if not CeConversation.objects.filter(channel=SAMPLE).exists():
            play_week()


def play_week() -> None:
    """Let the engine answer the conversations of the week, and publish its releases among them."""
    week = yaml.safe_load((find_shipped("fixtures") / "demo" / "week.yaml").read_text())
    conversations, releases = week["conversations"], list(week["releases"])
    for number, texts in enumerate(conversations):
        at = _find_offset(number / len(conversations))
        while releases and at > -timedelta(days=releases[0]["days_ago"]):
            _publish(releases.pop(0))
        # The server runs already: its job may close such an old conversation before it is over.
        with suppress(ConversationClosed):
            _talk(texts, at)
    turn_reports().count_stored_turns()


def _talk(texts: Sequence[str], at: timedelta) -> None:
    conversation_id = str(uuid.uuid4())
    for position, text in enumerate(texts):
        with shift_clock(at + position * _PAUSE):
            take_turn(TurnRequest(conversation_id, text, channel=SAMPLE))


def _find_offset(share: float) -> timedelta:
    """When a share of the week was over, counted from now."""
    day, of_day = divmod(share * (DAYS - 1), 1)
    return timedelta(days=day - DAYS + 1) - _IS_OPEN * (1 - of_day)


def _publish(release: dict[str, Any]) -> None:
    with (
        shift_clock(-timedelta(days=release["days_ago"])),
        change_set(Origin.ADMIN, release["author"], release["reason"]),
    ):
        for phrase in CeIntentClassifier.objects.filter(intent_code=release["intent"]):
            phrase.enabled = release["is_enabled"]
            phrase.save()


@contextmanager
def shift_clock(offset: timedelta) -> Iterator[None]:
    """The clock of the database is wrong by so much."""
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": offset.total_seconds()}):
        yield
