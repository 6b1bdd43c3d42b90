"""A conversation, or some of its turns, as a scenario file that `manage.py scenarios` plays (docs/scenarios.md)."""

from django.http import HttpResponse

from audit.export.scenario import configuration, external_answers, turn_entries
from audit.export.scenario.recorded_turns import RecordedTurn, read_time_before
from convengine.engine.turn.codec import to_plain
from convengine.json_value import Json
from convengine.play.in_memory import DATABASE_KEYS, DATABASE_TURN_KEYS
from convengine.play.loading import dump_yaml
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
        "settings": configuration.export_rate_limit(),
        "model": None if external_answers.has_model(turns) else False,
        "tables": configuration.export_tables(turns[0].recorded.config_version),
        "conversation": start,
        "llm": external_answers.export_model_answers(turns),
        "tasks": external_answers.export_task_answers(turns),
        "tools": external_answers.export_tool_answers(turns),
        "containers": external_answers.export_container_answers(turns),
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
