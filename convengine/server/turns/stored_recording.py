"""The recording of a turn: everything that the turn read and was answered, enough to run it again."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from convengine.engine.redaction import Redaction
from convengine.engine.turn.codec import compress, decompress, dumps, loads
from convengine.engine.turn.conversation import Conversation, Loaded
from convengine.engine.turn.recording import Recording
from convengine.engine.turn.releases import ReleaseChoice
from convengine.engine.turn.session import Exchange
from convengine.engine.turn.turn import Turn, TurnRequest

#: The version of recordings. A turn replays equally within one version.
_FORMAT = 1
#: Common text of recordings. Never changed: a recording is read with the text that it was written with.
_WORDS = (
    b'"dialogue_act_guard_applied":false,"dialogue_act_regex_confidence":0.7,"resolved_user_input":"","awaiting":"FORM",'
    b'"collected":{},"action_key":"","status":"OPEN","DERIVED","TEMPLATE","JSON","tool","task","container","memory_store",'
    b'{"format":1,"turn":{"id":"","no":1,"configVersion":1,"now":"2026-01-01T00:00:00.000000+00:00"},"request":{'
    b'"conversation_id":"","message":"","input_params":{},"ignored_params":[],"channel":"api","workspace_id":"default",'
    b'"new":false},"loaded":{"conversation":{"conversation_id":"","workspace_id":"default","channel":"api",'
    b'"remote_jid":"","status":"RUNNING","intent_code":"UNKNOWN","state_code":"IDLE","context_json":{"mcp":{"previous":{'
    b'"error":false,"status":"NO_TOOLS_FOR_SCOPE","turnId":"","outcome":"NO_TOOLS","lastToolCode":null},"lifecycle":{'
    b'"error":false,"phase":"POST_AGENT_MCP","status":"NO_TOOLS_FOR_SCOPE","turnId":"","blocked":false,'
    b'"outcome":"NO_TOOLS","finished":true,"toolExecuted":false}},"memory":{"session_summary":"intent=UNKNOWN, '
    b'state=IDLE, user=, recentTurns=[{u=,a=}, {u=,a=}], response="},"intent_lock":{"locked":false,"reason":null},'
    b'"pending_clarification":{"reason":null,"question":null}},"input_params_json":{},"last_user_text":"",'
    b'"last_assistant_json":{"type":"TEXT","value":""},"version":1,"turn_count":1,"context_epoch":0,'
    b'"lifecycle":"RUNNING","lifecycle_detail":{},"context_summary":"GOAL: \\nENTITIES: none\\nDECISIONS: none\\n'
    b'PENDING: none\\nTURNS: ","preferences":{},"mounted_kb_id":null,"created_at":"2026-01-01T00:00:00.000000+00:00"},'
    b'"history":[["",""],["",""]],"previous_turn":{"mcp_status":"NO_TOOLS_FOR_SCOPE",'
    b'"rule_phase":"PRE_RESPONSE_RESOLUTION","dialogue_act":"QUESTION","policy_decision":"RECLASSIFY_INTENT",'
    b'"post_intent_rule":false,"routing_decision":"CONTINUE_STANDARD_FLOW","guardrail_blocked":false,'
    b'"correction_applied":false,"dialogue_act_regex":"QUESTION","intent_resolved_by":"CLASSIFIER",'
    b'"dialogue_act_source":"REGEX","resolved_user_input":"","rule_agent_post_mcp":false,"sanitized_user_text":"",'
    b'"rule_execution_origin":"RULES_STEP","rule_execution_source":"RulesStep","rule_agent_post_intent":false,'
    b'"skip_intent_resolution":false,"skip_schema_extraction":false,"dialogue_act_confidence":0.7,'
    b'"rule_tool_post_execution":false,"dialogue_act_guard_applied":false,"dialogue_act_regex_confidence":0.7},'
    b'"memory_recall":null,"created":false},"tape":[["memory.read",null,{"text":null,"stores":[],"faults":[]}],'
    b'["model.configured",null,false],["transform","LLM",{"payload":null,"transformer":null,"errorType":null,'
    b'"errorMessage":null}],["transform","FINAL",{"payload":null,"transformer":null,"errorType":null,'
    b'"errorMessage":null}],["memory.write",null,{"text":null,"stores":[],"faults":[]}]]}'
)


@dataclass(frozen=True)
class StoredRecording:
    turn_id: str
    turn_no: int
    config_version: int
    now: datetime
    request: TurnRequest
    loaded: Loaded
    tape: list[list[Any]]
    release_choice: ReleaseChoice | None = None


def write_recording(turn: Turn, tape: Recording, redaction: Redaction) -> tuple[bytes, str | None]:
    """The turn's recording as compressed bytes, and why it cannot be replayed, if something was redacted."""
    loaded = turn.ports.conversations.load()
    document = {
        "format": _FORMAT,
        "turn": {
            "id": turn.turn_id,
            "no": turn.turn_no,
            "configVersion": turn.snapshot.config_version,
            "now": turn.ports.clock.now().isoformat(),
            **({"releaseChoice": turn.release_choice.to_json()} if turn.release_choice else {}),
        },
        "request": turn.request,
        # Other sequences than lists cost a Python call each.
        "loaded": {**vars(loaded), "history": list(map(list, loaded.history))},
        "tape": tape.entries,
    }
    text = dumps(document)
    if not redaction.touches(text):
        return compress(text, _WORDS), None
    masked = redaction.document(loads(text))
    note = None if masked == loads(text) else "Redaction masked a part of what the turn read or was answered."
    return compress(dumps(masked), _WORDS), note


def read_recording(data: bytes | memoryview) -> StoredRecording:
    """Parse a recording. Raises ValueError for another format, and for damaged bytes."""
    try:
        document = decompress(data, _WORDS)
        if document.get("format") == _FORMAT:
            return _parse_recording(document)
    except (AttributeError, LookupError, TypeError, ValueError) as damage:
        raise ValueError(
            "The recording of the turn is damaged. `convengine manage audit_verify` says what is. Restore it from a "
            "backup."
        ) from damage
    raise ValueError(f"This recording has format {document.get('format')!r}; this version reads {_FORMAT}.")


def _parse_recording(document: dict[str, Any]) -> StoredRecording:
    """The recording from its JSON document. Raises LookupError, TypeError or ValueError for a damaged one."""
    turn, request, loaded = document["turn"], document["request"], document["loaded"]
    row = loaded["conversation"]
    if row.get("created_at"):
        row["created_at"] = datetime.fromisoformat(row["created_at"])
    return StoredRecording(
        turn["id"],
        turn["no"],
        turn["configVersion"],
        datetime.fromisoformat(turn["now"]),
        TurnRequest(**{**request, "ignored_params": tuple(request["ignored_params"])}),
        Loaded(
            Conversation(**row),
            tuple(Exchange(*(past.values() if isinstance(past, dict) else past)) for past in loaded["history"]),
            loaded["previous_turn"],
            loaded["memory_recall"],
            loaded["created"],
        ),
        document["tape"],
        ReleaseChoice.read(turn.get("releaseChoice")),
    )
