"""Two weeks of conversations with the demonstration, by real turns on a shifted clock, and releases among them.

`python manage.py shell -c "from tests.two_weeks import seed_two_weeks; seed_two_weeks()"` fills the database of the
environment. The numbers are the same each time.
"""

import random
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from unittest.mock import patch

from django.conf import settings
from django.test import override_settings

from audit.inbox.job import update_inbox
from audit.reports.counting import count_new_turns
from config_admin.models import CeIntentClassifier, CeResponse
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from convengine.engine.turn.turn import TurnRequest
from convengine.server.turns.take_turn import take_turn

DAYS = 14
CONVERSATIONS_OF_A_DAY = 30
#: Days ago, who and why. The first one of these makes power outages unknown.
BAD_RELEASE = (6, "ben", "Shorter phrases")
_OUTAGE = ("my power is out", "the electricity is gone", "there is a blackout")
_KNOWN = (
    *("where is my order", "what are your opening hours", "explain my bill", "which tariffs do you have"),
    *("how long does delivery take", "how long is the warranty", "how do I send my meter reading", "I am moving house"),
    *("are you open on Sunday", "my parcel arrived damaged", "do you take direct debit", "I want a refund"),
)
_UNKNOWN = (
    *("do you sell gift cards", "do you sell gift cards", "can I buy a gift card", "gift cards please"),
    *("is there a student discount", "do students get a discount"),
    *("can I pick it up in the shop",),
)


def seed_two_weeks(days: int = DAYS, conversations: int = CONVERSATIONS_OF_A_DAY) -> None:
    """Play the conversations of the days up to now, the oldest first; count them, and fill the inbox."""
    choose = random.Random(7)
    for day in range(days, 0, -1):
        if day == BAD_RELEASE[0]:
            with shift_clock(timedelta(days=-day)), change_set(Origin.ADMIN, *BAD_RELEASE[1:]):
                for phrase in CeIntentClassifier.objects.filter(intent_code="FAQ_OUTAGE"):
                    phrase.enabled = False
                    phrase.save()
        if day == 2:
            for number in range(3):
                with (
                    shift_clock(timedelta(days=-day, seconds=number)),
                    change_set(Origin.ADMIN, "ana", "Typing mistakes"),
                ):
                    answer = CeResponse.objects.exclude(exact_text=None).order_by("pk")[number]
                    answer.exact_text = f"{answer.exact_text} "
                    answer.save()
        for number in range(conversations):
            moment = timedelta(days=-day) + timedelta(days=1) * (number + 1) / (conversations + 1)
            with shift_clock(moment):
                _play_conversation(choose)
    for _ in (*count_new_turns(timedelta()), *update_inbox()):
        pass


def _play_conversation(choose: random.Random) -> None:
    conversation_id = str(uuid.UUID(int=choose.getrandbits(128), version=4))
    for _ in range(choose.choice((1, 1, 2))):
        kinds = choose.random()
        texts = _OUTAGE if kinds < 0.2 else _UNKNOWN if kinds < 0.28 else _KNOWN
        take_turn(TurnRequest(conversation_id=conversation_id, message=choose.choice(texts)))


@contextmanager
def shift_clock(offset: timedelta) -> Iterator[None]:
    """The clocks of the database and of the process go wrong by so much."""

    class ShiftedDatetime(datetime):
        """The present is another time."""

        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + offset

    shifted = {**settings.CONVENGINE, "CLOCK_OFFSET_SECONDS": offset.total_seconds()}
    with patch("django.utils.timezone.datetime", ShiftedDatetime), override_settings(CONVENGINE=shifted):
        yield
