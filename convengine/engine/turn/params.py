"""Lifetime and owner of every known input param.

An unknown key belongs to the caller or a rule: it persists, and anybody may write it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from convengine.engine.text.compare import compose
from convengine.engine.turn.owned_params import TOPICS, Param

#: The allowed form of a key.
KEY_SHAPE = re.compile(r"^[A-Za-z0-9_.-]{1,120}$")
#: A caller approves a sensitive action with one of them.
APPROVAL_KEYS = frozenset({"approval_granted", "approvalGranted"})
#: How the language of the conversation was chosen. A reset keeps it.
LANGUAGE_STATE = "conversation_language"
RESET_KEYS = ("reset", "_reset", "restart", "conversation_reset")
_CALLER = "caller, rules"
#: All known keys: those of the engine, and those that callers and rules set.
PARAMS: Mapping[str, Param] = {
    **{key: param for topic in TOPICS.values() for key, param in topic.declared.items()},
    **dict.fromkeys(RESET_KEYS, Param("C", "caller", "ResetConversationStep")),
    **dict.fromkeys(
        ("force_intent_resolution", "resolve_intent", "switch_intent", "switch_flow", "switch_mode"),
        Param("CR", _CALLER, "IntentResolutionStep"),
    ),
    **dict.fromkeys(
        ("pending_action", "pendingAction", "pending_action_task"), Param("CR", _CALLER, "InteractionPolicyStep")
    ),
    **dict.fromkeys(sorted(APPROVAL_KEYS), Param("C", "caller", "GuardrailStep")),
    LANGUAGE_STATE: Param("E", "LanguageStep", "rules, templates", persists=True),
    "message_details": Param("C", "channels", "rules, templates, tasks"),
    **dict.fromkeys(("rule_id", "tool_code"), Param("C", "caller", "verbose matching")),
    "pending_action_key": Param("CR", _CALLER, "interaction and action steps", persists=True),
}

#: Keys that would nest the whole session inside itself; left out when input params are shown or stored.
NESTING = frozenset(
    {"session", "context", "schema_json", "schema_field_details", "missing_field_options", "mcp_observations"}
)
#: Keys that the context or the previous turn's record also has; a turn's events and its record do not repeat them.
REPEATED = frozenset({"memory_recall", "memory_session_summary", "previousTurn"})


def is_engine_owned(key: str) -> bool:
    """True for a key of the engine. The API drops such a param of a caller, and reports it."""
    known = PARAMS.get(key)
    return known is not None and "C" not in known.owner


_ONE_TURN = frozenset(key for key, known in PARAMS.items() if not known.persists)
_IN_NO_RECORD = NESTING | REPEATED


def is_turn_param(key: str) -> bool:
    """True for a key that is never written to `input_params_json`, and ignored if found there."""
    return key in _ONE_TURN


def keep_persistent(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params for `input_params_json`: those that are kept until the conversation ends."""
    return {key: value for key, value in params.items() if key not in _ONE_TURN}


def select_turn_facts(params: Mapping[str, Any]) -> dict[str, Any]:
    """The turn-lifetime params for the turn record, which the next turn reads as `previousTurn`; without nulls."""
    return {
        key: value
        for key, value in params.items()
        if value is not None and key in _ONE_TURN and key not in _IN_NO_RECORD
    }


def hide_internal(params: Mapping[str, Any]) -> dict[str, Any]:
    """The params for rules, prompts and audit: without keys that would nest the session inside itself."""
    return drop_keys(params, NESTING)


def drop_keys(params: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    remaining = dict(params)
    for key in keys:
        remaining.pop(key, None)
    return remaining


def remove_reserved(params: Mapping[str, Any], *, may_approve: bool) -> tuple[dict[str, Any], list[str]]:
    """A caller's params without reserved keys, and the removed names. Texts are composed, as the message's is.

    Reserved are the engine's keys and, unless the caller `may_approve`, approvals.
    """
    refused = frozenset() if may_approve else APPROVAL_KEYS
    allowed = {key: compose(value) for key, value in params.items() if not is_engine_owned(key) and key not in refused}
    return allowed, sorted(params.keys() - allowed.keys())
