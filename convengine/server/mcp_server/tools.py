"""The engine's tools as an MCP server: each is one call of the REST API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from convengine.json_value import Json

_ID = {"type": "string", "format": "uuid", "description": "Of an answer of take_turn."}
_TURN = {"type": "integer", "minimum": 1, "description": "The number of the turn, `turnNo` of its answer."}


class ApiCall(NamedTuple):
    method: str
    path: str
    query: Mapping[str, Json] = {}
    body: Json = None
    #: A repeated call with the same key has no second effect.
    idempotency_key: str | None = None


@dataclass(frozen=True)
class ServedTool:
    """A tool as clients see it, and the call that it makes."""

    name: str
    description: str
    properties: Mapping[str, Json]
    required: tuple[str, ...]
    read_only: bool
    call: Callable[[Mapping[str, Json]], ApiCall]

    @property
    def input_schema(self) -> dict[str, Json]:
        return {
            "type": "object",
            "properties": dict(self.properties),
            "required": list(self.required),
            "additionalProperties": False,
        }


def _turn(args: Mapping[str, Json]) -> ApiCall:
    body = {name: value for name, value in args.items() if name != "idempotencyKey"}
    return ApiCall("POST", "/api/v1/conversation/message", body=body, idempotency_key=args.get("idempotencyKey"))


def _audit(args: Mapping[str, Json], what: str) -> ApiCall:
    query = {name: value for name, value in args.items() if name != "conversationId"}
    return ApiCall("GET", f"/api/v1/conversation/audit/{quote(str(args['conversationId']), safe='')}/{what}", query)


def _configuration(args: Mapping[str, Json]) -> ApiCall:
    table = args.get("table")
    query = {name: value for name, value in args.items() if name != "table"}
    return ApiCall("GET", f"/api/v1/config/{quote(str(table), safe='')}" if table else "/api/v1/config", query)


TOOLS = (
    ServedTool(
        "take_turn",
        "Send one message of a conversation and get the engine's answer. Without conversationId a conversation begins; "
        "send its id with the next message. Needs the key's scope `turns`.",
        {
            "message": {"type": ["string", "null"], "description": "What the user says."},
            "conversationId": _ID,
            "inputParams": {"type": "object", "description": "Facts and controls for rules and templates."},
            "reset": {"type": "boolean", "description": "Start the conversation over."},
            "idempotencyKey": {
                "type": "string",
                "minLength": 1,
                "maxLength": 128,
                "description": "The same key and arguments within 24 hours give the stored answer; for a second try.",
            },
        },
        ("message",),
        False,
        _turn,
    ),
    ServedTool(
        "read_trace",
        "What happened in a turn: its steps with their stages, times and payloads. Needs the key's scope `audit`.",
        {"conversationId": _ID, "turn": _TURN},
        ("conversationId", "turn"),
        True,
        lambda args: _audit(args, "trace"),
    ),
    ServedTool(
        "read_why",
        "Why each configuration row of a turn won or not: every decision with its candidates, the values compared and "
        "the reasons. Needs the key's scope `audit`.",
        {
            "conversationId": _ID,
            "turn": _TURN,
            "limit": {"type": "integer", "minimum": 1, "description": "Rows a decision."},
        },
        ("conversationId", "turn"),
        True,
        lambda args: _audit({"limit": 50, **args}, "why"),
    ),
    ServedTool(
        "list_configuration",
        "The tables of the configuration in force; with `table` its rows, of an intent and state if given. `next` of a "
        "page is `after` of the next. Needs the key's scope `config`.",
        {
            "table": {"type": "string", "description": "Such as ce_rule; left out: the list of tables."},
            "intent": {"type": "string"},
            "state": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500},
            "after": {"type": "string"},
        },
        (),
        True,
        _configuration,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
