"""`manage.py demo_week`: the sample week of the demonstration, played by the engine on the clock of the last days."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.test import override_settings

from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from config_admin.tables.classifier import CeIntentClassifier
from convengine.engine.errors import ConvEngineError
from convengine.engine.turn.turn import TurnRequest
from convengine.server import wiring
from convengine.server.deployment.exact_command import ExactCommand
from convengine.server.deployment.folders import UNFINISHED_WEEK, find_shipped
from convengine.server.interfaces.turn_reports import turn_reports
from convengine.server.model_clients.offline import NoModel
from convengine.server.sessions.models import SAMPLE, CeConversation
from convengine.server.sessions.old_turns import remove_conversations
from convengine.server.turns.take_turn import take_turn

#: The week began so many days before its end; its last conversation is a day old then.
DAYS = 8
#: The conversations of a day are spread over so many hours, and a user writes again after so long.
_IS_OPEN, _PAUSE = timedelta(hours=11), timedelta(seconds=20)


class Command(ExactCommand):
    """Plays what is missing of the week."""

    help = "Play what is missing of the demonstration's sample week. `demo` does it when it starts."

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the turns of the week and publish its releases, in their order. Raises CommandError."""
        with _hold_week() as end:
            if end is None:
                return
            played, all_of_them = _samples().count(), len(_read_week()["conversations"])
            going_on = f"Going on with the sample week after {played} of its" if played else "Playing the sample week:"
            self.stdout.write(f"{going_on} {all_of_them} conversations (a few seconds) …")
            self.stdout.flush()
            try:
                play_week(end)
            except (ConvEngineError, DatabaseError) as error:
                raise CommandError(
                    f"The sample week is not complete, because of an error: {error}\nThe next start goes on with it."
                ) from error
            # Somebody may have removed the week meanwhile.
            unfinished_week().unlink(missing_ok=True)


def unfinished_week() -> Path:
    """The file that is there until the whole week is played. It holds the time at which the week ends."""
    return Path(settings.VAR_DIR) / UNFINISHED_WEEK


def play_week(end: datetime) -> None:
    """Play the conversations that are missing of the week before `end`, without a model, and count all.

    A process that was killed leaves half of a conversation, which is removed and played again. No job may run.
    """
    week = _read_week()
    conversations = week["conversations"]
    times = [end + _find_offset(number / len(conversations)) for number in range(len(conversations))]
    played = _remove_half(conversations)
    with wiring.replace_outside_world(wiring.OutsideWorld(model=NoModel())):
        for number in range(played, len(conversations)):
            for release in week["releases"]:
                published_at = end - timedelta(days=release["days_ago"])
                if times[max(number - 1, 0)] < published_at <= times[number]:
                    _publish(release, published_at)
            _talk(conversations[number], times[number])
    turn_reports().count_stored_turns()


@contextmanager
def _hold_week() -> Iterator[datetime | None]:
    """The end of the unfinished week, for one process at a time. Gives None if the week is finished, or not wanted."""
    import fcntl

    if not unfinished_week().is_file():
        yield None
        return
    with unfinished_week().open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # The process that held it may have finished the week.
        yield datetime.fromisoformat(file.read()) if unfinished_week().is_file() else None


def _samples() -> QuerySet[CeConversation]:
    return CeConversation.objects.filter(channel=SAMPLE).order_by("created_at")


def _remove_half(conversations: Sequence[Sequence[str]]) -> int:
    """Remove the conversation in which a process was killed. Returns how many are whole."""
    begun = list(_samples().values_list("pk", "turn_count"))
    if not begun or begun[-1][1] == len(conversations[len(begun) - 1]):
        return len(begun)
    with transaction.atomic():
        remove_conversations([begun[-1][0]], by="demo", reason="a conversation of the sample week that was cut short")
    return len(begun) - 1


def _read_week() -> dict[str, Any]:
    week: dict[str, Any] = yaml.safe_load((find_shipped("fixtures") / "demo" / "week.yaml").read_text())
    return week


def _talk(texts: Sequence[str], at: datetime) -> None:
    conversation_id = str(uuid.uuid4())
    for position, text in enumerate(texts):
        with set_clock(at + position * _PAUSE):
            take_turn(TurnRequest(conversation_id, text, channel=SAMPLE))


def _find_offset(share: float) -> timedelta:
    """When a share of the week was over, counted from its end."""
    day, of_day = divmod(share * (DAYS - 1), 1)
    return timedelta(days=day - DAYS + 1) - _IS_OPEN * (1 - of_day)


def _publish(release: dict[str, Any], at: datetime) -> None:
    with set_clock(at), change_set(Origin.ADMIN, release["author"], release["reason"]):
        is_enabled = release["is_enabled"]
        for phrase in CeIntentClassifier.objects.filter(intent_code=release["intent"], enabled=not is_enabled):
            phrase.enabled = is_enabled
            phrase.save()


@contextmanager
def set_clock(now: datetime) -> Iterator[None]:
    """Let the clock of the database go from another time."""
    seconds = (now - datetime.now(UTC)).total_seconds()
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": seconds}):
        yield
