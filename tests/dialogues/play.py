"""Whole dialogues as people type them, over flows that *Start a flow* makes and nothing else.

A file is one trade: its flow documents, and its dialogues. Each dialogue says which bookings are confirmed with which
values, how it ends, and which texts some answer contains.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from django.conf import settings
from django.test import override_settings
from django.utils.dateparse import parse_datetime

from config_admin import models as m
from config_admin.flows.flows import COLLECT, CONFIRM, DONE, write_rows
from config_admin.transfer.apply_import import add_rows
from convengine.engine.forms.asking import find_language, get_texts
from tests.api import Caller

Json = Any
FOLDER = Path(__file__).resolve().parent
SETTINGS: dict[tuple[str, str], str] = {}


@dataclass
class Played:
    """A dialogue that was played: each message with its answer, and what was confirmed."""

    name: str
    lines: list[str] = field(default_factory=list)
    confirmed: list[dict[str, Json]] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)


def list_trades(half: str) -> list[Path]:
    """The files of a half: `seen` or `unseen`."""
    return sorted((FOLDER / half).glob("*.yaml"))


def play_trade(file: Path) -> Iterator[Played]:
    """Store the flows of a file and play its dialogues, each as a conversation of its own."""
    trade = yaml.safe_load(file.read_text("utf-8"))
    store_flows(trade)
    clock = parse_datetime(trade["clock"])
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": clock}):
        for dialogue in trade["dialogues"]:
            yield _play_dialogue(dialogue, trade["flows"])


def store_flows(trade: Mapping[str, Json]) -> None:
    """Store the flows of a trade, and its settings."""
    own = {("Session", "TIME_ZONE"): trade["time_zone"], ("Session", "LOCALE"): trade["locale"]}
    for (kind, key), value in (SETTINGS | own).items():
        m.CeConfig.objects.create(config_type=kind, config_key=key, config_value=value)
    for flow in trade["flows"]:
        add_rows(write_rows(flow), author="ada", reason="a flow")


def _play_dialogue(dialogue: Mapping[str, Json], flows: list[Mapping[str, Json]]) -> Played:
    caller, played = Caller(), Played(dialogue["name"])
    values: dict[str, Json] = {}
    answer: dict[str, Json] = {}
    handed_over = False
    for text in dialogue["turns"]:
        answer = caller.say(text)
        if not answer.get("success"):
            played.misses.append(f"error: {answer}")
            return played
        said, state = str(answer["payload"]["value"]), answer["state"]
        played.lines += [f"> {text}", f"  {said}   [{answer['intent']}/{state}]"]
        if state == DONE and values:
            played.confirmed.append({"flow": answer["intent"], **values})
        values = answer["context"] if state == CONFIRM else {}
        handed_over = handed_over or is_handed_over(answer, said, flows)
    played.misses += _find_misses(dialogue, played, answer, handed_over)
    return played


def is_handed_over(answer: Mapping[str, Json], said: str, flows: list[Mapping[str, Json]]) -> bool:
    """True when an answer passes the user on to a person."""
    codes = [flow["code"] for flow in flows if flow["kind"] == "handover"]
    texts = [flow.get("hand_over") or get_texts(find_language(flow["locale"]))["hand_over"] for flow in flows]
    return answer["intent"] in codes or any(text in said for text in texts)


def _find_misses(dialogue: Mapping[str, Json], played: Played, answer: Json, handed_over: bool) -> Iterator[str]:
    wanted = dialogue.get("confirmed") or []
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
