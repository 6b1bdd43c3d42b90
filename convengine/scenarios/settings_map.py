"""The one mapping from the settings that scenarios name to the settings of the product (scenario format 3)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.domain.catalogue import audit, dialogue, interaction, memory, response, tools
from convengine.domain.settings import Setting, Unreadable
from convengine.scenarios.reading import Node
from convengine.scenarios.wording import known

Json = Any

#: A name that is a live setting: its value is written as the setting's text.
LIVE: Mapping[str, Setting[Any]] = {
    "flow.dialogue_act.resolute": dialogue.RESOLUTE,
    "flow.dialogue_act.llm_threshold": dialogue.LLM_THRESHOLD,
    "flow.query_rewrite.enabled": dialogue.QUERY_REWRITE_ENABLED,
    "flow.interaction_policy.matrix": interaction.MATRIX,
    "flow.interaction_policy.execute_pending_on_affirm": interaction.EXECUTE_PENDING_ON_AFFIRM,
    "flow.interaction_policy.reject_pending_on_negate": interaction.REJECT_PENDING_ON_NEGATE,
    "flow.interaction_policy.fill_pending_slot_on_non_new_request": interaction.FILL_PENDING_SLOT_ON_NON_NEW_REQUEST,
    "flow.interaction_policy.require_resolved_intent_and_state": interaction.REQUIRE_RESOLVED_INTENT_AND_STATE,
    "flow.action_lifecycle.enabled": interaction.ACTION_LIFECYCLE_ENABLED,
    "flow.action_lifecycle.ttl_turns": interaction.TTL_TURNS,
    "flow.action_lifecycle.ttl_minutes": interaction.TTL_MINUTES,
    "flow.disambiguation.enabled": interaction.DISAMBIGUATION_ENABLED,
    "flow.disambiguation.max_options": interaction.MAX_OPTIONS,
    "flow.guardrail.enabled": interaction.GUARDRAIL_ENABLED,
    "flow.guardrail.sanitize_input": interaction.SANITIZE_INPUT,
    "flow.guardrail.require_approval_for_sensitive_actions": interaction.REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS,
    "flow.guardrail.approval_gate_fail_closed": interaction.APPROVAL_GATE_FAIL_CLOSED,
    "flow.guardrail.sensitive_patterns": interaction.SENSITIVE_PATTERNS,
    "flow.tool_orchestration.enabled": tools.ORCHESTRATION_ENABLED,
    "flow.state_graph.enabled": response.STATE_GRAPH_ENABLED,
    "flow.conversation_history.max_turns": memory.HISTORY_MAX_TURNS,
    "flow.memory.enabled": memory.ENABLED,
    "flow.memory.summary_max_chars": memory.SUMMARY_MAX_CHARS,
    "flow.memory.recent_turns_for_summary": memory.RECENT_TURNS_FOR_SUMMARY,
    "audit.level": audit.LEVEL,
    "audit.include_stages": audit.INCLUDE_STAGES,
    "audit.exclude_stages": audit.EXCLUDE_STAGES,
    "audit.include_intents": audit.INCLUDE_INTENTS,
    "audit.exclude_intents": audit.EXCLUDE_INTENTS,
    "audit.persist_meta": audit.PERSIST_META,
    "audit.cache_inspector": audit.CACHE_INSPECTOR,
}
#: A name whose values have other names here: value -> text of the setting.
TRANSLATED: Mapping[str, tuple[Setting[Any], Mapping[Any, str]]] = {
    "flow.state_graph.soft_block_on_violation": (response.ON_VIOLATION, {True: "SOFT_BLOCK", False: "AUDIT_ONLY"}),
    "audit.persistence.mode": (audit.FLUSH, {"IMMEDIATE": "STEP", "STEP_BULK": "STEP", "DEFERRED_BULK": "TURN"}),
}
#: A name that is part of the deployment's rate limit of audit events.
RATE_LIMIT = ("enabled", "max_events", "window_ms", "per_conversation", "per_stage", "max_tracked_buckets")
#: Names that the original has and that change nothing here (R48): how rows are batched, and how listeners are told.
WITHOUT_EFFECT = frozenset(
    {
        *(f"audit.persistence.{key}" for key in ("jdbc_batch_size", "max_buffered_events", "flush_stages")),
        *(f"audit.persistence.{key}" for key in ("final_step_names", "flush_on_stop_outcome")),
        *(f"audit.dispatch.{key}" for key in ("async_enabled", "worker_threads", "queue_capacity")),
        *(f"audit.dispatch.{key}" for key in ("rejection_policy", "keep_alive_seconds")),
    }
)
_AUDIT = "audit.enabled"
#: The state graph as the original's properties have it: from -> list of to.
_TRANSITIONS = "flow.state_graph.allowed_transitions"
_NAMES = (
    *LIVE,
    *TRANSLATED,
    *WITHOUT_EFFECT,
    _AUDIT,
    _TRANSITIONS,
    *(f"audit.rate_limit.{key}" for key in RATE_LIMIT),
)

#: What a world has when it says nothing else: nothing that makes noise.
DEFAULTS: Mapping[str, Json] = {
    "flow": {
        "dialogue_act": {"resolute": "REGEX_ONLY", "llm_threshold": 0.90},
        "query_rewrite": {"enabled": False},
        "interaction_policy": {
            "execute_pending_on_affirm": True,
            "reject_pending_on_negate": True,
            "fill_pending_slot_on_non_new_request": True,
            "require_resolved_intent_and_state": True,
        },
        "action_lifecycle": {"enabled": True, "ttl_turns": 3, "ttl_minutes": 30},
        "disambiguation": {"enabled": True, "max_options": 5},
        "guardrail": {
            "enabled": True,
            "sanitize_input": True,
            "require_approval_for_sensitive_actions": False,
            "approval_gate_fail_closed": False,
            "sensitive_patterns": [],
        },
        "tool_orchestration": {"enabled": True},
        "state_graph": {"enabled": False, "soft_block_on_violation": False},
        "memory": {"enabled": False, "summary_max_chars": 1200, "recent_turns_for_summary": 3},
    },
    "audit": {
        "enabled": True,
        "level": "ALL",
        "persist_meta": True,
        "cache_inspector": False,
        "persistence": {"mode": "IMMEDIATE"},
        "dispatch": {"async_enabled": False},
    },
}


@dataclass(frozen=True)
class WorldSettings:
    """The settings of a world, as the product takes them."""

    #: Live settings, below the world's own `ce_config` rows: (TYPE, KEY) -> text.
    live: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Keys of `settings.CONVENGINE`.
    deployment: Mapping[str, Json] = field(default_factory=dict)
    #: Edges of the state graph: (from, to).
    transitions: Sequence[tuple[str, str]] = ()


def world_settings(given: Node) -> WorldSettings:
    """The defaults with the given settings on top. Raises ScenarioFileError for a name or value that is not known."""
    live: dict[tuple[str, str], str] = {}
    limit: dict[str, Json] = {}
    transitions: list[tuple[str, str]] = []
    switched_on = True
    for name, node in [*_flat(Node(DEFAULTS)), *_flat(given)]:
        if name in LIVE:
            live[_key(LIVE[name])] = _text(LIVE[name], node)
        elif name in TRANSLATED:
            setting, texts = TRANSLATED[name]
            live[_key(setting)] = _translated(texts, node)
        elif name == _AUDIT:
            switched_on = node.flag()
        elif name == _TRANSITIONS:
            transitions += [(start, end) for start, ends in node.entries().items() for end in ends.texts()]
        elif name.startswith("audit.rate_limit."):
            key = name.rpartition(".")[2]
            limit[key] = node.whole(1) if key in _RATE_LIMITS and "per_" not in key else node.flag()
    if not switched_on:
        live[_key(audit.LEVEL)] = "NONE"
    limited = limit.pop("enabled", False)
    return WorldSettings(live, {"AUDIT_RATE_LIMIT": {**_RATE_LIMITS, **limit} if limited else None}, transitions)


_RATE_LIMITS = {
    "max_events": 200,
    "window_ms": 1000,
    "per_conversation": True,
    "per_stage": True,
    "max_tracked_buckets": 20_000,
}


def _flat(node: Node, name: str = "") -> Iterator[tuple[str, Node]]:
    """Every setting of a nested map by its dotted name."""
    for key, inner in node.entries().items():
        full = f"{name}.{key}" if name else key
        if full in _NAMES:
            yield full, inner
        elif any(other.startswith(f"{full}.") for other in _NAMES):
            yield from _flat(inner, full)
        else:
            raise inner.error(known(full, _NAMES, "setting"))


def _key(setting: Setting[Any]) -> tuple[str, str]:
    return setting.type.upper(), setting.key.upper()


def _translated(texts: Mapping[Any, str], node: Node) -> str:
    if not isinstance(node.value, (str, bool)) or node.value not in texts:
        raise node.error(f"must be one of {', '.join(json.dumps(value) for value in texts)}.")
    return texts[node.value]


def _text(setting: Setting[Any], node: Node) -> str:
    """The value as the setting's text. Raises ScenarioFileError when the setting does not read it back."""
    several = isinstance(setting.default, tuple)
    separator = "\n" if setting.kind.name == "patterns" else ","
    plain = node.value if isinstance(node.value, str) else json.dumps(node.value)
    text = separator.join(node.texts()) if several else plain
    try:
        found = setting.kind.read(text)
    except Unreadable as error:
        raise node.error(str(error)) from None
    if several and len(found) != len(node.texts()):
        raise node.error("has an entry that this setting cannot hold.")
    return text
