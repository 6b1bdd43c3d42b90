"""No message takes long, whatever anybody writes, and four times the length takes about four times as long."""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any, NamedTuple

import pytest

from config_admin.flows.mapping import COLLECT, write_rows
from config_admin.models import CeConfig
from config_admin.transfer.apply_import import add_rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import load_encoder
from convengine.play.play import PlayedConversation, PlayedMessage, play
from convengine.server.interfaces.configuration import configuration
from convengine.server.wiring import OutsideWorld
from tests.api import Caller
from tests.hostile_messages import HostileMessage, make_messages
from tests.pace import allow

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
#: The seconds of processor time that a turn takes at most, by the length of its message.
MOST_SECONDS = {1_000: 0.3, 4_000: 0.3, 16_000: 1.0}
#: Four times the length takes at most so many times as long; less than this time is not compared.
MOST_GROWTH, NOTICED = 5, 0.05
SEED = 67

ALL_KINDS: Sequence[Mapping[str, Any]] = [
    {"name": "name", "title": "Name", "type": "text"},
    {
        "name": "size",
        "title": "Size",
        "type": "choice",
        "options": [
            {"value": "S", "label": "Small"},
            {"value": "M", "label": "Mittel groß"},
            {"value": "L", "label": "Large"},
        ],
    },
    {"name": "day", "title": "Day", "type": "date"},
    {"name": "hour", "title": "Uhrzeit", "type": "time"},
    {"name": "start", "title": "Start", "type": "datetime"},
    {"name": "length", "title": "Length", "type": "duration"},
    {"name": "people", "title": "People", "type": "number"},
    {"name": "price", "title": "Preis", "type": "money", "currency": "EUR"},
    {"name": "phone", "title": "Phone", "type": "phone"},
    {"name": "mail", "title": "E-mail", "type": "email"},
    {"name": "postcode", "title": "Postcode", "type": "postcode"},
    {"name": "account", "title": "Account", "type": "iban"},
    {"name": "breakfast", "title": "Breakfast", "type": "yes_no"},
    {"name": "plate", "title": "Plate", "type": "pattern", "pattern": r"[A-Z]{2}-\d+"},
]
VISIT = [field for field in ALL_KINDS if field["name"] in ("name", "day", "people")]
ANSWERS = ("Ann Hill", "5.3.2026", "4")


class Context(NamedTuple):
    """Where a conversation stands: what was said in it, or the field that was asked for."""

    language: str
    said: tuple[str, ...] = ()
    asked: str = ""

    @property
    def name(self) -> str:
        return f"{self.language}-{self.asked or (self.said or ('nothing',))[-1]}"


CONTEXTS = (
    Context("en"),
    Context("en", ("parking",)),
    Context("en", ("book a visit", *ANSWERS)),
    Context("en", ("book a visit", *ANSWERS, "no")),
    *(
        Context("en", asked=name)
        for name in ("name", "postcode", "size", "day", "people", "phone", "mail", "breakfast")
    ),
    Context("de"),
    Context("de", ("parken",)),
    Context("de", ("Besuch buchen", *ANSWERS)),
    *(Context("de", asked=name) for name in ("name", "hour", "start", "price", "plate")),
)


class Turns:
    """The contexts, ready for one message each."""

    def __init__(self) -> None:
        _add_flows()
        self._snapshot: Snapshot = configuration().current()
        self._conversations = {context: self._begin(context) for context in CONTEXTS}

    def _begin(self, context: Context) -> PlayedConversation:
        if context.asked:
            code, asked = f"REGISTER_{context.language.upper()}", {"pending_slot": context.asked}
            return PlayedConversation.begin(NOW, intent_code=code, state_code=COLLECT, context_json=asked)
        conversation = PlayedConversation.begin(NOW)
        for text in context.said:
            (played,) = play(self._snapshot, conversation, [PlayedMessage(text)], OutsideWorld())
            conversation = played.after
        return conversation

    def measure(self, context: Context, text: str) -> float:
        """The processor time of the turn of a message, with its masks and its account."""
        began = time.process_time()
        (played,) = play(self._snapshot, self._conversations[context], [PlayedMessage(text)], OutsideWorld())
        assert played.error is None
        assert played.seen.body["payload"]
        assert [*played.seen.read_explanation()]
        return time.process_time() - began


def _add_flows() -> None:
    for language, visit, parking in (("en", "book a visit", "parking"), ("de", "Besuch buchen", "parken")):
        _add_flow(language, "REGISTER", f"register everything {language}", ALL_KINDS)
        _add_flow(language, "VISIT", visit, VISIT)
        for place in ("CAR", "BIKE"):
            _add_flow(language, f"PARK_{place}", parking, VISIT[:1])


def _add_flow(language: str, code: str, phrase: str, fields: Sequence[Mapping[str, Any]]) -> None:
    flow = {
        "code": f"{code}_{language.upper()}",
        "title": phrase.capitalize(),
        "kind": "collect",
        "locale": language,
        "phrases": [phrase],
        "fields": [*fields],
        "confirmation": "OK?",
        "on_no": "ASK_WHAT_TO_CHANGE",
        "answer": "Done.",
    }
    add_rows(write_rows(flow), author="ada", reason="a flow")


class Measured(NamedTuple):
    """A message in a context, with the processor time of its turn by its length."""

    context: Context
    message: HostileMessage
    seconds: Mapping[int, float]

    def list_faults(self) -> Iterator[str]:
        """What is too slow, and what grows too fast."""
        name = f"{self.context.name}: {self.message.kind} {self.message.write(60)!r}"
        for size, seconds in self.seconds.items():
            if seconds > MOST_SECONDS[size] and seconds > allow(MOST_SECONDS[size]):
                yield f"{name} takes {seconds:.2f} s for {size} characters"
        short, long = self.seconds[4_000], self.seconds[16_000]
        if long > MOST_GROWTH * max(short, NOTICED):
            yield f"{name} grows from {short:.2f} s to {long:.2f} s"


def measure_turns(seed: int, count: int) -> Iterator[Measured]:
    """Play messages, each in a context and in three lengths. What looks slow is played twice more."""
    turns, contexts = Turns(), Random(seed)
    for context in CONTEXTS:
        turns.measure(context, "hello")
    for message in make_messages(seed, count):
        context = contexts.choice(CONTEXTS)
        seconds = {size: turns.measure(context, message.write(size)) for size in MOST_SECONDS}
        for _ in range(2):
            if any(True for _ in Measured(context, message, seconds).list_faults()):
                seconds = {
                    size: min(least, turns.measure(context, message.write(size))) for size, least in seconds.items()
                }
        yield Measured(context, message, seconds)


@pytest.mark.slow
def test_no_turn_takes_long() -> None:
    measured = measure_turns(SEED, 10)

    assert [fault for each in measured for fault in each.list_faults()] == []


def test_no_call_takes_long_either() -> None:
    patterns = "\\b\\d{16}\\b\n(a+)+$"
    CeConfig.objects.create(config_type="AUDIT", config_key="REDACT_PATTERNS", config_value=patterns)
    _add_flows()
    load_encoder()  # As servers do before they serve.
    caller, size = Caller(), 4_000
    caller.say("book a visit")

    def measure(text: str) -> float:
        began = time.process_time()
        assert caller.say(text)["success"]
        return time.process_time() - began

    for message in make_messages(SEED, 10):
        text = message.write(size)

        # The first one has the phrases learned.
        assert min(measure(text) for _ in range(2)) < allow(MOST_SECONDS[size])


@pytest.mark.nightly
def test_none_of_six_thousand_turns_takes_long() -> None:
    measured = measure_turns(SEED + 1, 2_000)

    assert [fault for each in measured for fault in each.list_faults()] == []
