"""Single messages as people type them, each behind the same clean beginning of a dialogue.

A file is one trade: its flow documents, and its situations. A situation has the messages before, what the form holds
then, and messages that are each sent from there: what each `gives` to the form (null takes a value away; nothing else
may change), and where it leads (`out`, one of several).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from django.conf import settings
from django.db import transaction
from django.test import override_settings
from django.utils.dateparse import parse_datetime

from config_admin.flows.mapping import COLLECT, CONFIRM, DONE
from convengine.engine.forms.asking import get_texts
from convengine.engine.understanding.language import find_language
from convengine.json_value import Json
from tests.api import Caller
from tests.dialogues.play import FOLDER, is_handed_over, store_flows

MESSAGES = FOLDER / "messages"
_OUTCOMES = {COLLECT: "asks", CONFIRM: "confirm", DONE: "done"}


@dataclass(frozen=True)
class Probe:
    """A message that was sent, and what went wrong; nothing if all is as wanted."""

    situation: str
    text: str
    miss: str
    #: The message changed a field to a value that it does not mean.
    is_silently_wrong: bool = False


def play_messages(file: Path) -> Iterator[Probe]:
    """Store the flows of a file, and send its messages."""
    trade = yaml.safe_load(file.read_text("utf-8"))
    store_flows(trade)
    with override_settings(CONVENGINE={**settings.CONVENGINE, "CLOCK_AT": parse_datetime(trade["clock"])}):
        for situation in trade["situations"]:
            yield from _play_situation(situation, trade["flows"])


def _play_situation(situation: Mapping[str, Json], flows: list[Mapping[str, Json]]) -> Iterator[Probe]:
    caller, held = Caller(), {}
    for text in situation["turns"]:
        held = _find_held_values(caller.say(text), flows)
    assert held == situation.get("held", held), f"{situation['name']}: the beginning gave {held}"
    for probe in situation["probes"]:
        with transaction.atomic():
            answer = caller.say(probe["say"])
            transaction.set_rollback(True)
        misses = "; ".join(_find_misses(probe, held, answer, flows))
        yield Probe(situation["name"], probe["say"], misses, _is_wrong(probe, held, _find_held_values(answer, flows)))


def _find_held_values(answer: Mapping[str, Json], flows: list[Mapping[str, Json]]) -> dict[str, Json]:
    paths = {field["name"] for flow in flows if flow["code"] == answer["intent"] for field in flow.get("fields", ())}
    return {path: value for path, value in answer["context"].items() if path in paths and value not in (None, "", [])}


def _is_wrong(probe: Mapping[str, Json], held: Mapping[str, Json], values: Mapping[str, Json]) -> bool:
    return any(value not in (held.get(path), probe["gives"].get(path)) for path, value in values.items())


def _find_misses(
    probe: Mapping[str, Json], held: Mapping[str, Json], answer: Mapping[str, Json], flows: list[Mapping[str, Json]]
) -> Iterator[str]:
    outcome, values = _find_outcome(answer, flows), _find_held_values(answer, flows)
    wanted = {path: value for path, value in {**held, **probe["gives"]}.items() if value is not None}
    if outcome in ("asks", "confirm") and values != wanted:
        yield f"holds {values}, wanted {wanted}"
    outcomes = [probe["out"]] if isinstance(probe["out"], str) else probe["out"]
    if outcome not in outcomes:
        yield f"{outcome}, wanted {' or '.join(outcomes)}: {answer['payload']['value']}"


def _find_outcome(answer: Mapping[str, Json], flows: list[Mapping[str, Json]]) -> str:
    said = str(answer["payload"]["value"])
    if is_handed_over(answer, said, flows):
        return "handed_over"
    if answer["state"] == CONFIRM and not _asks_for_confirmation(said, flows):
        return "asks"
    return _OUTCOMES.get(answer["state"], "stopped")


def _asks_for_confirmation(said: str, flows: list[Mapping[str, Json]]) -> bool:
    """False where it asks what to change, or whether to stop."""
    return any(
        (flow.get("confirmation") or get_texts(find_language(flow["locale"]))["confirm"]) in said for flow in flows
    )
