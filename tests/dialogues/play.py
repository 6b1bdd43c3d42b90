"""Whole dialogues as people type them, over flows that *Start a flow* makes and nothing else.

A file is one trade: its flow documents, and its dialogues. Each dialogue says which bookings are confirmed with which
values, how it ends, and which texts some answer contains. The player says what the script says, and answers "Do you
mean …?" truly. A patient player also says the expected value once when a field is asked for again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from django.conf import settings
from django.test import override_settings
from django.utils.dateparse import parse_datetime

from config_admin import models as m
from config_admin.flows.mapping import COLLECT, CONFIRM, DONE, write_rows
from config_admin.transfer.apply_import import add_rows
from convengine.engine.forms.asking import get_texts
from convengine.engine.understanding.field import field_spec
from convengine.engine.understanding.language import find_language, get_tables
from convengine.engine.understanding.say import say_value
from convengine.json_value import Json
from tests.api import Caller

FOLDER = Path(__file__).resolve().parent
SETTINGS: dict[tuple[str, str], str] = {}
#: A dialogue that goes round in circles ends.
_MOST_LINES = 200


@dataclass
class Played:
    """A dialogue that was played: each message with its answer, and what was confirmed."""

    name: str
    lines: list[str] = field(default_factory=list)
    confirmed: list[dict[str, Json]] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)
    language: str = ""
    #: How often the bot asked whether it understood right.
    offers: int = 0
    #: A value was confirmed that the script does not mean, or a booking too many.
    is_silently_wrong: bool = False


def list_trades(half: str) -> list[Path]:
    """The files of a half: `seen` or `unseen`."""
    return sorted((FOLDER / half).glob("*.yaml"))


def play_trade(file: Path, *, is_patient: bool = False) -> Iterator[Played]:
    """Store the flows of a file and play its dialogues, each as a conversation of its own."""
    trade = yaml.safe_load(file.read_text("utf-8"))
    store_flows(trade)
    clock = parse_datetime(trade["clock"])
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": clock}):
        for dialogue in trade["dialogues"]:
            yield _Player(dialogue, trade, is_patient=is_patient).play()


def store_flows(trade: Mapping[str, Json]) -> None:
    """Store the flows of a trade, and its settings."""
    own = {("Session", "TIME_ZONE"): trade["time_zone"], ("Session", "LOCALE"): trade["locale"]}
    for (kind, key), value in (SETTINGS | own).items():
        m.CeConfig.objects.create(config_type=kind, config_key=key, config_value=value)
    for flow in trade["flows"]:
        add_rows(write_rows(flow), author="ada", reason="a flow")


class _Player:
    """One dialogue while it is played."""

    def __init__(self, dialogue: Mapping[str, Json], trade: Mapping[str, Json], *, is_patient: bool) -> None:
        self.dialogue, self.flows, self.locale = dialogue, trade["flows"], trade["locale"]
        self.wanted: list[dict[str, Json]] = dialogue.get("confirmed") or []
        self.is_patient = is_patient
        self.caller, self.played = Caller(), Played(dialogue["name"], language=find_language(trade["locale"]))
        self.values: dict[str, Json] = {}
        self.asked_before = ""
        self.helped: set[str] = set()
        self.handed_over = False

    def play(self) -> Played:
        """Say the script, and what the player adds to it."""
        answer: dict[str, Json] = {}
        queue = list(self.dialogue["turns"])
        while queue and len(self.played.lines) < _MOST_LINES:
            answer = self._say(queue.pop(0))
            if not answer.get("success"):
                self.played.misses.append(f"error: {answer}")
                return self.played
            queue[:0] = self._reply(answer)
        self.played.misses += _find_misses(self.dialogue, self.played, answer, self.handed_over)
        return self.played

    def _say(self, text: str) -> dict[str, Json]:
        answer: dict[str, Json] = self.caller.say(text)
        if answer.get("success"):
            said, state = str(answer["payload"]["value"]), answer["state"]
            self.played.lines += [f"> {text}", f"  {said}   [{answer['intent']}/{state}]"]
            if state == DONE and self.values:
                self.played.confirmed.append({"flow": answer["intent"], **self.values})
                self.helped = set()
            self.values = answer["context"] if state == CONFIRM else {}
            self.handed_over = self.handed_over or is_handed_over(answer, said, self.flows)
        return answer

    def _reply(self, answer: Mapping[str, Json]) -> list[str]:
        """What the player says besides the script: the true answer to an offer, or the expected value once more."""
        number = len(self.played.confirmed)
        wanted = self.wanted[number] if number < len(self.wanted) else {}
        state = answer["context"].get("dialogue", {})
        asked_before, self.asked_before = self.asked_before, state.get("asked_field") or ""
        if offered := state.get("offered"):
            self.played.offers += 1
            say = get_tables(self.locale).say
            return [say["yes"] if all(wanted.get(path) == value for path, value in offered.items()) else say["no"]]
        path = self.asked_before
        is_missed = path == asked_before and bool(state.get("misses"))
        if not (self.is_patient and path and is_missed and path not in self.helped):
            return []
        self.helped.add(path)
        value = wanted.get(path)
        return [self._write(answer["intent"], path, value)] if value is not None else []

    def _write(self, intent: str, path: str, value: Json) -> str:
        schema = m.CeOutputSchema.objects.get(intent_code=intent).json_schema
        return say_value(field_spec(path, schema["properties"][path]), value, self.locale)


def is_handed_over(answer: Mapping[str, Json], said: str, flows: list[Mapping[str, Json]]) -> bool:
    """True when an answer passes the user on to a person."""
    codes = [flow["code"] for flow in flows if flow["kind"] == "handover"]
    texts = [flow.get("hand_over") or get_texts(find_language(flow["locale"]))["hand_over"] for flow in flows]
    return answer["intent"] in codes or any(text in said for text in texts)


def _find_misses(dialogue: Mapping[str, Json], played: Played, answer: Json, handed_over: bool) -> Iterator[str]:
    wanted = dialogue.get("confirmed") or []
    open_bookings = list(wanted)
    for values in played.confirmed:
        meant = next((want for want in open_bookings if all(values.get(key) == want[key] for key in want)), None)
        played.is_silently_wrong = played.is_silently_wrong or meant is None
        open_bookings = [want for want in open_bookings if want is not meant]
    got = [{key: values.get(key) for key in want} for want, values in zip(wanted, played.confirmed, strict=False)]
    if len(played.confirmed) != len(wanted) or got != wanted:
        yield f"confirmed {got if len(got) == len(played.confirmed) else played.confirmed}, wanted {wanted}"
    spoken = "\n".join(line for line in played.lines if line.startswith("  "))
    for text in dialogue.get("says", ()):
        if text.lower() not in spoken.lower():
            yield f"never said: {text}"
    if dialogue["ends"] == "handed_over" and not handed_over:
        yield "not handed over"
    if dialogue["ends"] == "cancelled" and answer["state"] in (COLLECT, CONFIRM):
        yield "not cancelled"
