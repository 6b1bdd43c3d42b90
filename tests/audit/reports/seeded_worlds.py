"""Worlds with all outcomes that reports count: real turns with the flows of a trade, the same for each seed."""

import random
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import yaml

from audit.feedback.store import FeedbackInput, store_feedback
from audit.inbox.job import update_inbox
from audit.reports.counting import count_new_turns
from config_admin import models as m
from config_admin.releases.change_set import change_set
from config_admin.releases.models import Origin
from convengine.engine.turn.turn import TurnRequest
from convengine.server.sessions.models import CeConversation
from convengine.server.turns.take_turn import take_turn
from tests.dialogues.play import FOLDER, store_flows
from tests.two_weeks import shift_clock

#: By seed, the dialogues of a trade.
TRADES = {1: "unseen/dentist", 2: "seen/fahrradverleih", 3: "unseen/workshop"}
_CONVERSATIONS, _DAYS = 12, 10
_UNKNOWN = ("do you sell gift vouchers", "gift vouchers please", "is there a loyalty card", "xqzt")
#: Blocked by the policy, failed without an answer, claimed by two intents, handed over.
_OTHER = ("my cvv is 123", "a ghost", "a ghost in the middle", "let me talk to a person")


def build_world(seed: int) -> None:
    """Play the conversations of two releases, rate some turns, count them and fill the inbox."""
    choose = random.Random(seed)
    trade = yaml.safe_load((FOLDER / f"{TRADES[seed]}.yaml").read_text("utf-8"))
    with shift_clock(timedelta(days=-_DAYS, hours=-1)):
        store_flows(trade)
        _store_outcomes()
    for number in range(_CONVERSATIONS):
        moment = timedelta(days=-_DAYS * (1 - number / _CONVERSATIONS))
        if number == _CONVERSATIONS // 2:
            with shift_clock(moment), change_set(Origin.ADMIN, "ben", "No phrases for questions"):
                phrases = m.CeIntentClassifier.objects.filter(rule_type="PHRASE").order_by("pk")
                for phrase in phrases[:3]:
                    phrase.enabled = False
                    phrase.save()
        dialogue = choose.choice(trade["dialogues"])["turns"]
        with shift_clock(moment):
            _play(choose, _mix(choose, dialogue))
    for _ in (*count_new_turns(timedelta()), *update_inbox()):
        pass


def _store_outcomes() -> None:
    with change_set(Origin.ADMIN, "ana", "Every outcome"):
        for code, state, pattern, text in (
            ("PERSON", "HAND_OVER", "to a person", "Somebody will be with you."),
            ("GHOST", "LOST", "ghost", ""),
            ("MIDDLE", "IDLE", "middle", "In the middle."),
        ):
            m.CeIntent.objects.create(intent_code=code, description=code.lower())
            m.CeIntentClassifier.objects.create(
                intent_code=code, state_code=state, rule_type="CONTAINS", pattern=pattern
            )
            if text:
                m.CeResponse.objects.create(intent_code=code, state_code=state, response_type="EXACT", exact_text=text)
        m.CePolicy.objects.create(rule_type="CONTAINS", pattern="cvv", response_text="No cards, please.")


def _mix(choose: random.Random, dialogue: Sequence[str]) -> list[str]:
    """A dialogue that may end early, or have other messages in between."""
    messages = list(dialogue[: choose.randint(1, len(dialogue))])
    for texts, share in ((_UNKNOWN, 0.4), (_OTHER, 0.4)):
        if choose.random() < share:
            messages.insert(choose.randint(0, len(messages)), choose.choice(texts))
    if choose.random() < 0.2:
        messages += ["??", "??", "??", "??"]
    return messages


def _play(choose: random.Random, messages: Sequence[str]) -> None:
    key = uuid.UUID(int=choose.getrandbits(128), version=4)
    for message in messages:
        _take(key, message)
        if choose.random() < 0.15:
            _rate(choose, key)
    if choose.random() < 0.3:
        CeConversation.objects.filter(pk=key).update(channel="web", remote_jid=f"visitor {choose.random()}")


def _take(key: uuid.UUID, message: str) -> Any:
    return take_turn(TurnRequest(conversation_id=str(key), message=message))


def _rate(choose: random.Random, key: uuid.UUID) -> None:
    for author in choose.sample(["ada", "bob"], choose.randint(1, 2)):
        thumb = choose.choice(("THUMBS_UP", "THUMBS_DOWN"))
        store_feedback(key, None, author, FeedbackInput(thumb, comment=choose.choice(("", "not what I asked"))))
