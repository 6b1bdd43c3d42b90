"""A conversation, or some of its turns, as a scenario file that `manage.py scenarios` plays (docs/scenarios.md).

It is played before it is offered: in memory, on the releases of its turns, with nothing stored or called.
"""

from collections.abc import Sequence

from django.http import HttpResponse

from audit.export.scenario import turn_entries
from audit.export.scenario.configuration import export_rate_limit, export_tables
from audit.export.scenario.recorded_turns import (
    NotExportable,
    RecordedTurn,
    export_container_answers,
    export_model_answers,
    export_task_answers,
    export_tool_answers,
    has_model,
    read_recorded_turns,
    read_time_before,
)
from convengine.engine.rules.conditions.values import write_text
from convengine.engine.text.compare import shorten
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.stage import stage_label
from convengine.json_value import Json
from convengine.play.expectations import UNSCRIPTED_CALL, Miss, find_misses
from convengine.play.in_memory import DATABASE_KEYS, DATABASE_TURN_KEYS, MemoryPlayer, build_test
from convengine.play.loading import dump_yaml
from convengine.play.scenario import BEGINNING
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation


def scenario_name(conversation: CeConversation, first: int | None = None, last: int | None = None) -> str:
    """The id of the scenario, which is also the name of its file."""
    some = f"-turns-{first or 1}-{last or conversation.last_turn_no}" if first or last else ""
    return f"conversation-{str(conversation.pk)[:8]}{some}"


def build_scenario(conversation: CeConversation, turns: list[RecordedTurn], name: str) -> dict[str, Json]:
    """The world of some turns of a conversation, and what they did."""
    start = turn_entries.export_start(turns[0].recorded, read_time_before(turns[0]))
    range_text = f"turn {turns[0].turn_no}" if len(turns) == 1 else f"turns {turns[0].turn_no} to {turns[-1].turn_no}"
    origin = f"What happened on {turns[0].recorded.now:%Y-%m-%d}, on release {turns[0].recorded.config_version}."
    if start:
        origin += " It begins in the middle of the conversation, with the session of that moment."
    document = {
        "id": name,
        "title": f"Saved from conversation {conversation.pk}, {range_text}",
        "covers": ["saved"],
        "why": origin,
        "conversation_id": str(conversation.pk),
        "settings": export_rate_limit(),
        "model": None if has_model(turns) else False,
        "tables": export_tables(turns[0].recorded.config_version),
        "conversation": start,
        "llm": export_model_answers(turns),
        "tasks": export_task_answers(turns),
        "tools": export_tool_answers(turns),
        "containers": export_container_answers(turns),
        "turns": [
            turn_entries.export_turn(turn, before, conversation)
            for before, turn in zip([None, *turns], turns, strict=False)
        ],
    }
    scenario: dict[str, Json] = to_plain({key: value for key, value in document.items() if value not in (None, {}, [])})
    return scenario


def leave_out_rows(document: dict[str, Json], *expectations: str) -> dict[str, Json]:
    """A copy of the document without its rows, which the releases have, and without the named expectations."""
    turns = [
        {
            **{key: value for key, value in turn.items() if key not in DATABASE_TURN_KEYS},
            "expect": {key: value for key, value in turn["expect"].items() if key not in expectations},
        }
        for turn in document["turns"]
    ]
    return {**{key: value for key, value in document.items() if key not in DATABASE_KEYS}, "turns": turns}


def make_yaml_response(document: dict[str, Json]) -> HttpResponse:
    """The document as a file to download, with its ID as the name."""
    disposition = f'attachment; filename="{document["id"]}.yaml"'
    headers = {"Content-Disposition": disposition}
    return HttpResponse(dump_yaml(document), content_type="application/yaml", headers=headers)


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
    return f"“{shorten(write_text(value), 200)}”"
