"""Map the settings of scenarios to settings of the product."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from convengine.engine.dialogue import settings as dialogue
from convengine.engine.forms.settings import EXTRACTOR
from convengine.engine.memory import settings as memory
from convengine.engine.pending_actions import settings as interaction
from convengine.engine.state_graph import allowed_moves as state_graph
from convengine.engine.steps.actions import guardrail
from convengine.engine.steps.interaction import step as policy
from convengine.engine.steps.tools import settings as tools
from convengine.engine.turn import audit_settings
from convengine.engine.turn.live_settings import Setting, UnreadableSetting
from convengine.json_value import Json
from convengine.play.schema import SCHEMA, ScenarioFileError

#: Names of live settings: the value is written as the setting's text.
LIVE: Mapping[str, Setting[Any]] = {
    "flow.dialogue_act.resolute": dialogue.RESOLUTE,
    "flow.dialogue_act.llm_threshold": dialogue.LLM_THRESHOLD,
    "flow.query_rewrite.enabled": dialogue.QUERY_REWRITE_ENABLED,
    "flow.interaction_policy.matrix": policy.MATRIX,
    "flow.interaction_policy.execute_pending_on_affirm": policy.EXECUTE_PENDING_ON_AFFIRM,
    "flow.interaction_policy.reject_pending_on_negate": policy.REJECT_PENDING_ON_NEGATE,
    "flow.interaction_policy.fill_pending_slot_on_non_new_request": policy.FILL_PENDING_SLOT_ON_NON_NEW_REQUEST,
    "flow.interaction_policy.require_resolved_intent_and_state": interaction.REQUIRE_RESOLVED_INTENT_AND_STATE,
    "flow.action_lifecycle.enabled": interaction.ACTION_LIFECYCLE_ENABLED,
    "flow.action_lifecycle.ttl_turns": interaction.TTL_TURNS,
    "flow.action_lifecycle.ttl_minutes": interaction.TTL_MINUTES,
    "flow.disambiguation.enabled": interaction.DISAMBIGUATION_ENABLED,
    "flow.disambiguation.max_options": interaction.MAX_OPTIONS,
    "flow.guardrail.enabled": guardrail.GUARDRAIL_ENABLED,
    "flow.guardrail.sanitize_input": guardrail.SANITIZE_INPUT,
    "flow.guardrail.require_approval_for_sensitive_actions": guardrail.REQUIRE_APPROVAL_FOR_SENSITIVE_ACTIONS,
    "flow.guardrail.approval_gate_fail_closed": guardrail.APPROVAL_GATE_FAIL_CLOSED,
    "flow.guardrail.sensitive_patterns": guardrail.SENSITIVE_PATTERNS,
    "flow.tool_orchestration.enabled": tools.ORCHESTRATION_ENABLED,
    "flow.state_graph.enabled": state_graph.STATE_GRAPH_ENABLED,
    "flow.conversation_history.max_turns": memory.HISTORY_MAX_TURNS,
    "flow.memory.enabled": memory.ENABLED,
    "flow.memory.summary_max_chars": memory.SUMMARY_MAX_CHARS,
    "flow.memory.recent_turns_for_summary": memory.RECENT_TURNS_FOR_SUMMARY,
    "audit.level": audit_settings.LEVEL,
    "audit.include_stages": audit_settings.INCLUDE_STAGES,
    "audit.exclude_stages": audit_settings.EXCLUDE_STAGES,
    "audit.include_intents": audit_settings.INCLUDE_INTENTS,
    "audit.exclude_intents": audit_settings.EXCLUDE_INTENTS,
    "audit.persist_meta": audit_settings.PERSIST_META,
    "audit.cache_inspector": audit_settings.CACHE_INSPECTOR,
}
#: Names whose values differ here: value -> text of the setting.
TRANSLATED: Mapping[str, tuple[Setting[Any], Mapping[Any, str]]] = {
    "flow.state_graph.soft_block_on_violation": (state_graph.ON_VIOLATION, {True: "SOFT_BLOCK", False: "AUDIT_ONLY"}),
    "audit.persistence.mode": (
        audit_settings.FLUSH,
        {"IMMEDIATE": "STEP", "STEP_BULK": "STEP", "DEFERRED_BULK": "TURN"},
    ),
}
_AUDIT = "audit.enabled"
#: The state graph in the original's properties: from -> list of to.
_TRANSITIONS = "flow.state_graph.allowed_transitions"
_RATE_LIMIT = "audit.rate_limit."


@dataclass(frozen=True)
class WorldSettings:
    #: Live settings, below the world's own `ce_config` rows: (TYPE, KEY) -> text.
    live: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Keys of `settings.CONVENGINE`.
    deployment: Mapping[str, Json] = field(default_factory=dict)
    #: Edges of the state graph: (from, to).
    transitions: Sequence[tuple[str, str]] = ()


def world_settings(given: Mapping[str, Json], *, with_defaults: bool = True) -> WorldSettings:
    """The given settings, which override the defaults of a world. Raises ScenarioFileError for an invalid value.

    Without `with_defaults`, only the given ones count, as for a tested bot.
    """
    # Without a prompt of the world, only the tables read a form: the scripted model knows the calls of the file alone.
    live: dict[tuple[str, str], str] = {_key(EXTRACTOR): "LLM"} if with_defaults else {}
    limit: dict[str, Json] = {}
    transitions: list[tuple[str, str]] = []
    enabled = True
    for name, value in [*(default_settings() if with_defaults else ()), *_flatten(given)]:
        if name in LIVE:
            live[_key(LIVE[name])] = _text(LIVE[name], name, value)
        elif name in TRANSLATED:
            setting, texts = TRANSLATED[name]
            live[_key(setting)] = texts[value]
        elif name == _AUDIT:
            enabled = value
        elif name == _TRANSITIONS:
            transitions += [(start, end) for start, ends in value.items() for end in ends]
        elif name.startswith(_RATE_LIMIT):
            limit[name.removeprefix(_RATE_LIMIT)] = value
    if not enabled:
        live[_key(audit_settings.LEVEL)] = "NONE"
    return WorldSettings(live, {"AUDIT_RATE_LIMIT": limit if limit.pop("enabled", False) else None}, transitions)


def default_settings(schema: Json = SCHEMA["$defs"]["settings"], prefix: str = "") -> Iterator[tuple[str, Json]]:
    """The default settings of a world: dotted name and value."""
    for key, inner in schema["properties"].items():
        if "properties" in inner:
            yield from default_settings(inner, f"{prefix}{key}.")
        elif "default" in inner:
            yield f"{prefix}{key}", inner["default"]


def _flatten(
    values: Mapping[str, Json], schema: Json = SCHEMA["$defs"]["settings"], prefix: str = ""
) -> Iterator[tuple[str, Json]]:
    """Every setting of a nested map by its dotted name."""
    for key, value in values.items():
        inner = schema["properties"][key]
        if "properties" in inner:
            yield from _flatten(value, inner, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _key(setting: Setting[Any]) -> tuple[str, str]:
    return setting.type.upper(), setting.key.upper()


def _text(setting: Setting[Any], name: str, value: Json) -> str:
    """The value as the setting's text. Raises ScenarioFileError when the setting cannot read it back."""
    several = isinstance(setting.default, tuple)
    separator = "\n" if setting.kind.name == "patterns" else ","
    plain = value if isinstance(value, str) else json.dumps(value)
    text = separator.join(value) if several else plain
    try:
        read_values = setting.kind.read(text)
    except UnreadableSetting as error:
        raise ScenarioFileError(f"settings.{name}", str(error)) from None
    if several and len(read_values) != len(value):
        raise ScenarioFileError(f"settings.{name}", "has an entry that this setting cannot hold.")
    return text
