"""Conversations in the notation of scenario files (docs/scenarios.md), many to a file that they share a bot with.

A file has `flows` by name (one may be `like` an earlier one), `beginnings` (turns by name), `conversations`, and
`tables` with rows that all of them have. A conversation has a title, its `flows` (names or documents; by default the
first of the file), further rows in `tables`, and its turns, which follow those of the beginning that it names as
`after`. With `each`, it is played once for each entry: `$each` stands for the entry, or `$key` for its keys.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from config_admin.releases.change_set import change_set
from config_admin.validation.stored_columns import control_plane
from convengine.json_value import Json
from convengine.play.expectations import find_misses
from convengine.play.loading import read_scenario, read_yaml
from convengine.play.report_format import format_miss
from convengine.play.runner import ScenarioPlayer
from convengine.play.seen_turn import SeenTurn
from convengine.play.stubs import build_stubs
from tests.dialogues.rows.worlds import make_flows

#: Keys of a conversation that are those of a scenario, and all of them.
_SCENARIO_KEYS = ("llm", "tasks", "tools", "containers", "extensions")
_KEYS = {"title", "flows", "tables", "each", "after", "turns", "books", *_SCENARIO_KEYS}


def list_conversations(*files: Path) -> list[object]:
    """The conversations of files as parameters of a test, with what they share written out."""
    return [conversation for file in files for conversation in _read_file(file)]


def _read_file(file: Path) -> Iterator[object]:
    document = read_yaml(file)
    flows, beginnings = _write_out(document.get("flows", {})), document.get("beginnings", {})
    for written in document["conversations"]:
        assert written.keys() <= _KEYS, written.keys() - _KEYS
        beginning = beginnings[written["after"]] if "after" in written else []
        cases = written.get("each", [{}])
        for case in cases:
            values = case if isinstance(case, dict) else {"each": case}
            conversation = _fill_in(written, values)
            names = conversation.get("flows", list(flows)[:1])
            yield pytest.param(
                {
                    **conversation,
                    "tables": {**document.get("tables", {}), **conversation.get("tables", {})},
                    "flows": [flows[name] if isinstance(name, str) else _inherit(name, flows) for name in names],
                    "turns": [*beginning, *conversation["turns"]],
                },
                id="-".join([file.stem, written["title"], *(str(value) for value in [*values.values()][:1])]),
            )


def _write_out(flows: Mapping[str, Mapping[str, Json]]) -> dict[str, Json]:
    documents: dict[str, Json] = {}
    for name, flow in flows.items():
        documents[name] = _inherit(flow, documents)
    return documents


def _inherit(flow: Mapping[str, Json], flows: Mapping[str, Json]) -> dict[str, Json]:
    """The document of a flow, with the keys of the one that it is `like`."""
    own = {key: value for key, value in flow.items() if key != "like"}
    return {**flows[flow["like"]], **own} if "like" in flow else own


def _fill_in(value: Json, case: Mapping[str, Json]) -> Json:
    if isinstance(value, dict):
        return {key: _fill_in(inner, case) for key, inner in value.items() if key != "each"}
    if isinstance(value, list):
        return [_fill_in(inner, case) for inner in value]
    if not isinstance(value, str):
        return value
    if value.startswith("$") and value[1:] in case:
        return case[value[1:]]
    return re.sub(r"\$(\w+)", lambda match: str(case.get(match[1], match[0])), value)


def make_bot(conversation: Mapping[str, Json]) -> None:
    """Store the flows and the rows of a conversation."""
    if flows := conversation["flows"]:
        make_flows(*flows)
    if tables := conversation.get("tables"):
        with change_set(reason="more rows"):
            for table, rows in tables.items():
                for row in rows:
                    control_plane()[table]._default_manager.create(**row)


def play_conversation(conversation: Mapping[str, Json]) -> list[SeenTurn]:
    """Take the turns over the API, each as expected, with the bot that is stored; gives them."""
    given = {key: conversation[key] for key in _SCENARIO_KEYS if key in conversation}
    title = conversation["title"]
    scenario = read_scenario(
        {"id": "of-many", "title": title, "model": "llm" in given, "turns": conversation["turns"], **given}
    )
    player, seen_turns = ScenarioPlayer({}, build_stubs(scenario)), []
    for turn in scenario.turns:
        seen = player.play(turn)
        misses = [format_miss(miss) for miss in find_misses(turn.expect, seen)]
        assert not misses, "\n".join([f"After {turn.user!r}:", *misses, "", *seen.explanation])
        seen_turns.append(seen)
    return seen_turns
