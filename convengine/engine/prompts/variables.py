"""The names that templates may use: facts, params, context, and the names of the call."""

from collections.abc import Collection, Mapping

from convengine.engine.text.compare import shorten
from convengine.engine.turn.dialogue_state import DIALOGUE, DialogueState
from convengine.engine.turn.facts import collect_schema_values, collect_session_facts
from convengine.engine.turn.field_options import write_schema
from convengine.engine.turn.local_time import get_local_time
from convengine.engine.turn.params import hide_internal
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: Names of the open question of a form; they never hide a field of the context.
_FORM_NAMES = ("asked_field", "question", "refused", "misses", "form_summary")
#: Names of the engine that are often empty, as an answer expects.
OPTIONAL_NAMES = frozenset(
    {*_FORM_NAMES, "context_summary", "derivation_hint", "derivationHint", "help_text", "memory", "promptTemplateId"}
)
#: Names of the same value; a call may give it under any of them.
ALIASES: tuple[tuple[str, ...], ...] = (
    (
        "user_input", "userInput", "user_text", "userText", "input_text", "inputText", "input", "user_message",
        "userMessage",
    ),
    (
        "resolved_user_input", "resolvedUserInput", "resolved_input", "resolvedInput", "effective_input",
        "effectiveInput", "effective_user_input", "effectiveUserInput", "final_user_input", "finalUserInput",
    ),
    (
        "standalone_query", "standaloneQuery", "rewritten_query", "rewrittenQuery", "query_rewrite", "queryRewrite",
    ),
    ("context", "contextJson", "context_json"),
    ("known_facts",),
    ("json_schema", "jsonSchema", "data_schema", "dataSchema"),
    ("schema", "schemaJson", "schema_json"),
    ("container_data", "containerData"),
    ("allowed_intents", "allowedIntents"),
    ("pending_clarification", "pendingClarification"),
    ("conversation_history", "conversationHistory", "history"),
    ("mcp_tools", "tools", "available_tools", "tool_list", "mcpTools"),
    ("mcp_observations", "observations", "mcpObservations"),
    ("current_date", "currentDate"),
    ("current_datetime", "currentDatetime", "currentDateTime"),
    ("current_year", "currentYear"),
    ("current_timezone", "currentTimezone"),
    ("current_system_datetime", "currentSystemDatetime", "currentSystemDateTime"),
    ("current_system_timezone", "currentSystemTimezone"),
    ("context_summary", "contextSummary"),
    ("older_turns",),
    ("session_units", "sessionUnits"),
    ("memory",),
    ("derivation_hint", "derivationHint"),
    *((name,) for name in _FORM_NAMES),
)  # fmt: skip
#: Branches of the context that say what other names say, or how the engine got there.
_KEPT_BY_ENGINE = frozenset({DIALOGUE, "pending_clarification", "intent_lock", "memory", "session_units", "mcp"})
#: What is a fact of a call.
_CALL = ("toolCode", "args", "status", "result")
#: How much of each message and answer of an earlier turn a prompt shows.
_SIDE = 2000
_HISTORY = frozenset({"conversation_history", "conversationHistory", "history"})
#: Names that are defined even on the first turn of a first session.
_NOTHING_REMEMBERED: Mapping[str, Json] = {"session_summary": None, "recalled_summary": None}
_GROUP_OF = {name: group for group in ALIASES for name in group}
_OWN = frozenset(_GROUP_OF) - _HISTORY
#: Names that every template has, besides facts, params, context and fields.
FIXED = ("session", "inputParams", "safeInputParams", "rawInputParams", "metadata", "promptVars", "conversationId")


def list_known_names() -> frozenset[str]:
    return frozenset({*FIXED, *_GROUP_OF})


def build_variables(
    session: Session, turn: Turn, wanted: Collection[str] | None = None, /, **call: Json
) -> dict[str, Json]:
    """The names of one rendering. `call` adds names that only the caller knows.

    `wanted` are the template's root names: expensive values that are not among them are left out.

    The order of precedence is: names of the call, aliases, session facts, input params, context fields, form fields.
    """
    params, facts = session.input_params, collect_session_facts(session)
    variables: dict[str, Json] = {
        **collect_schema_values(session),
        **session.context,
        **params,
        **facts,
        "session": facts,
        "inputParams": hide_internal(params),
        "safeInputParams": hide_internal(params),
        "rawInputParams": params,
        "metadata": {},
    }
    everything = wanted is None or "promptVars" in wanted

    def takes(names: frozenset[str]) -> bool:
        return everything or not names.isdisjoint(wanted or ())

    own = _list_own_names(session, turn) if takes(_OWN) else {}
    history = {"conversation_history": list_history(session)} if takes(_HISTORY) else {}
    for given in (own, history, call):
        for name, value in given.items():
            variables.update(dict.fromkeys(_GROUP_OF.get(name, (name,)), value))
    if everything:
        variables["promptVars"] = dict(variables)
    return variables


def _list_own_names(session: Session, turn: Turn) -> dict[str, Json]:
    schema = session.resolved_schema
    question, memory = session.clarification, session.context.get("memory")
    # The time of the users, in the time zone of the conversation, and that of the system.
    local, system = get_local_time(turn), turn.ports.clock.now()
    return {
        "user_input": session.user_text,
        "resolved_user_input": session.resolved_user_input,
        "standalone_query": session.standalone_query,
        "context": session.context,
        "known_facts": _list_known_facts(session),
        "json_schema": write_schema(session, schema) if schema else None,
        "schema": collect_schema_values(session),
        "container_data": session.context.get("container_data", session.container_data),
        "allowed_intents": list_allowed_intents(turn.snapshot),
        "pending_clarification": question and {"question": question.question, "reason": question.reason},
        "mcp_observations": session.tools.mcp_observations or [],
        "context_summary": session.context_summary,
        "older_turns": max(session.turn_no - 1 - len(session.history), 0),
        "session_units": session.context.get("session_units", []),
        "memory": {**_NOTHING_REMEMBERED, **(memory if isinstance(memory, Mapping) else {})},
        "derivation_hint": "",
        "current_date": local.date().isoformat(),
        "current_datetime": local.isoformat(timespec="seconds"),
        "current_year": local.year,
        "current_timezone": local.tzname() or "",
        "current_system_datetime": system.isoformat(timespec="seconds"),
        "current_system_timezone": system.tzname() or "",
        **{name: value for name, value in _describe_question(session).items() if name not in session.context},
    }


def _list_known_facts(session: Session) -> dict[str, Json]:
    """The context without what the engine keeps there for itself, but with the last direct call of a tool."""
    facts = {name: value for name, value in session.context.items() if name not in _KEPT_BY_ENGINE}
    mcp = session.context.get("mcp")
    execution = mcp.get("toolExecution") if isinstance(mcp, Mapping) else None
    return {**facts, "tool": {key: execution.get(key) for key in _CALL}} if isinstance(execution, Mapping) else facts


def _describe_question(session: Session) -> dict[str, Json]:
    state = DialogueState.of(session)
    return {
        "asked_field": state.asked_field,
        "question": session.form_question,
        "refused": [refusal._asdict() for refusal in session.fields_read.refused],
        "misses": state.misses,
        "form_summary": session.form_summary,
    }


def list_history(session: Session, turns: int | None = None) -> list[Json]:
    """The newest earlier turns, oldest first, as prompts list them; without a number, all loaded turns."""
    past = (
        session.history if turns is None else session.history[len(session.history) - min(turns, len(session.history)) :]
    )
    return [
        {"user": shorten(exchange.user, _SIDE), "assistant": shorten(exchange.assistant, _SIDE)} for exchange in past
    ]


def list_allowed_intents(snapshot: Snapshot) -> list[Json]:
    """The intents to choose from, as prompts list them.

    `displayName` is blank if the row has none; small talk has none.
    """
    return snapshot.memo.get(
        "allowed_intents",
        lambda: [
            {
                "code": intent.intent_code,
                "name": intent.name,
                "displayName": (intent.display_name or "").strip(),
                "description": intent.description,
                "llmHint": intent.llm_hint,
                "priority": intent.priority,
            }
            for intent in snapshot.allowed_intents
        ],
    )
