"""Play a scenario before it is offered: in memory, on the releases of its turns, with nothing stored or called."""

import json
from collections.abc import Sequence

from audit.export.scenario.document import build_scenario, leave_out_rows, scenario_name
from audit.export.scenario.recorded_turns import NotExportable, read_recorded_turns
from convengine.engine.text.compare import shorten
from convengine.engine.turn.stage import stage_label
from convengine.json_value import Json
from convengine.play.expectations import UNSCRIPTED_CALL, Miss, find_misses
from convengine.play.in_memory import MemoryPlayer, build_test
from convengine.play.scenario import BEGINNING
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation


def build_passing_scenario(
    conversation: CeConversation, first: int | None = None, last: int | None = None, named: str = ""
) -> dict[str, Json]:
    """The scenario of the turns from `first` to `last`, which was played and passed; None does not limit the range.

    `named` is its id; without it, the id tells conversation and turns. Raises NotExportable.
    """
    turns = read_recorded_turns(conversation, first, last)
    document = build_scenario(conversation, turns, named or scenario_name(conversation, first, last))
    check_scenario(document, [(turn.turn_no, turn.recorded.config_version) for turn in turns], conversation)
    return document


def check_scenario(document: dict[str, Json], played: Sequence[tuple[int, int]], conversation: CeConversation) -> None:
    """Raises NotExportable, with the reason in plain words, unless the scenario passes.

    `played` has the number and the release of each of its turns.
    """
    # Some calls of models follow a turn.
    scenario = build_test(leave_out_rows(document, "llm_calls"))
    player = MemoryPlayer(
        scenario,
        configuration().at(played[0][1]),
        BEGINNING,
        workspace=conversation.workspace_id,
        channel=conversation.channel,
    )
    for turn, (number, release) in zip(scenario.turns, played, strict=True):
        player.snapshot = configuration().at(release)
        for miss in find_misses(turn.expect, player.play(turn).seen):
            raise NotExportable(_describe_failure(number, miss))


def _describe_failure(number: int, miss: Miss) -> str:
    """Why the file is not offered: what a turn did otherwise than it was recorded."""
    return (
        f"Turn {number} does not play as it was recorded: {_describe_difference(miss)}. A test of it would fail, so "
        "the file is not offered. The turn depended on something outside of its record, such as code or a database "
        "fault of that day."
    )


def _describe_difference(miss: Miss) -> str:
    """What was expected and what happened, in words that end a sentence."""
    where, expected, actual = miss.where, miss.expected, miss.actual
    key = where.removeprefix("expect.").split(".")[0].split("[")[0]
    if where == UNSCRIPTED_CALL:
        return f"it makes a call that is not recorded, {_quote(actual)}"
    if key in ("success", "http_status", "error"):
        failed = key == "error" or expected in (False, None) or (key == "http_status" and expected != 200)
        return "it failed, and succeeds when it is played" if failed else "it succeeded, and fails when it is played"
    if key == "audit_stages_in_order":
        return f"it was recorded with the event “{stage_label(str(expected))}”, which is missing when it is played"
    if noun := _NOUNS.get(key):
        return f"{noun} is {_quote(actual)}, and was {_quote(expected)}"
    return f"{key} is {_quote(actual)}, and was {_quote(expected)}"


#: The expectations of saved turns in words.
_NOUNS = {
    "response": "the answer",
    "intent": "the intent",
    "state": "the state",
    "tool_calls": "the list of tool calls",
    "task_calls": "the list of task calls",
}


def _quote(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"“{shorten(text, 200)}”"
