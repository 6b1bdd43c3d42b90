"""Labels of codes and steps for pages, where the identifier is shown beside the label."""

import re

from convengine.engine.turn.enums import Lifecycle

#: Acronyms, which keep their capitals.
_ACRONYMS = frozenset(["api", "db", "http", "id", "json", "kb", "llm", "mcp", "sql"])
#: Codes of the engine; codes of intents and states are names of analysts.
_CODES = {"UNKNOWN": "Unknown", "ANY": "Any"}
#: States of the engine whose code does not say what they are.
_STATES = {"HAND_OVER": "Handed over", "INTENT_COLLISION": "Asked which intent"}
#: Steps whose name does not say what they do.
STEPS = {
    "LoadOrCreateConversationStep": "Load the conversation",
    "CacheInspectAuditStep": "Record the start data",
    "PersistConversationBootstrapStep": "Store a new conversation",
    "AuditUserInputStep": "Record the message",
    "PolicyEnforcementStep": "Policies",
    "InteractionPolicyStep": "Routing",
    "CorrectionStep": "Corrections",
    "ActionLifecycleStep": "Status of the pending action",
    "DisambiguationStep": "Choice of action",
    "IntentResolutionStep": "Intent",
    "ResetResolvedIntentStep": "Reset by intent",
    "FallbackIntentStateStep": "Default intent and state",
    "AddContainerDataStep": "Data sources",
    "SchemaExtractionStep": "Form fields",
    "AutoAdvanceStep": "Form status",
    "ToolOrchestrationStep": "Direct tool call",
    "McpToolStep": "Planner",
    "ResponseResolutionStep": "Answer",
    "PersistConversationStep": "Store the turn",
    "PipelineEndGuardStep": "Final check",
}
#: Purposes of model calls whose code does not say what is asked.
_PURPOSES = {
    "INTENT_AGENT": "Intent",
    "COLLISION": "Choice of intent",
    "SCHEMA_EXTRACTION": "Form fields",
    "DISAMBIGUATION": "Choice of action",
    "MCP_PLAN": "Planner",
    "RESPONSE_TEXT": "Answer",
    "RESPONSE_JSON": "Answer as JSON",
    "DOCUMENTS": "Answer from documents",
    "UNITS": "Session units",
    "DRIFT": "Topic drift",
}
#: Why the lifecycle of a session changed, by the reason in the event.
LIFECYCLE_REASONS = {
    "begun": "the conversation started",
    "question": "a question waits for its answer",
    "response": "the user answered",
    "reset": "the conversation was reset",
    "mode_review": "the result was presented for review",
    "mode_final": "the answer is final",
    "confirmed": "the user accepted the end",
    "abandoned": "the user gave up",
    "modification": "the user wants a change",
    "continuation": "the user continues",
    "unclear": "it is not clear what the user wants",
    "new_task": "the message starts something new",
    "resume_offered": "the user is asked whether to continue",
    "resumed": "the user resumed the session",
    "reopened": "a message arrived after the end of the session",
    "proposed_by_rule": "a rule proposed the end",
    "explicit_reset": "the user wants to start over",
    "stale": "it was inactive for too long",
    "timeout": "it was idle for too long",
    "erased": "its content was erased",
    "topic_drift": "the topic changed",
    "interrupted": "a newer message stopped the turn",
    "handled_elsewhere": "the message was handled elsewhere",
}


def in_words(name: str) -> str:
    """`HTTP_TIMEOUT` as `HTTP timeout`, `SchemaExtraction` as `Schema extraction`."""
    spaced = name.replace("_", " ") if "_" in name or name.isupper() else re.sub(r"(?<!^)(?=[A-Z])", " ", name)
    words = [word.upper() if word in _ACRONYMS else word for word in spaced.lower().split()]
    return f"{words[0][:1].upper()}{words[0][1:]}{''.join(f' {word}' for word in words[1:])}"


def step_label(name: str) -> str:
    """A step by its class name: `SchemaExtractionStep` as `Form fields`."""
    return STEPS.get(name) or (in_words(name.removesuffix("Step")) if name else "")


def purpose_label(purpose: str | None) -> str:
    """The purpose of a model call: `RESPONSE_TEXT` as `Answer`."""
    return _PURPOSES.get(purpose or "") or in_words(purpose or "call")


def lifecycle_label(name: str) -> str:
    """The label of a lifecycle; an unknown one as it is."""
    lifecycle = Lifecycle.read(name)
    return lifecycle.label if lifecycle else name


def lifecycle_reason(reason: str) -> str:
    """Why the lifecycle changed, in words; a deployment's own reason stays unchanged."""
    return LIFECYCLE_REASONS.get(reason, reason.replace("_", " "))


def code_label(code: str | None) -> str:
    """An intent or a state: the engine's own in words, those of analysts unchanged."""
    return _CODES.get(code or "UNKNOWN", code or "")


def state_label(state: str | None) -> str:
    """A state in words: the engine's own by name, those of analysts by the words of their code."""
    return _CODES.get(state or "UNKNOWN") or _STATES.get(state or "") or in_words(state or "")


def error_label(error: str | None) -> str:
    """An error code in words: `TOOL_TIMEOUT` as `Tool timeout`."""
    return in_words(error) if error else ""


def format_percent(share: float | None) -> str:
    """A share as all pages write it, such as `26.7 %`; a dash for none. A whole number was chosen, not measured."""
    if share is None:
        return "–"
    return join_unit(share if isinstance(share, int) else f"{share:.1f}", "%")


def format_confidence(confidence: float) -> str:
    """A confidence from 0 to 1, such as `83.4 %`. It shows all recorded digits, so that readers can compare two."""
    return join_unit(f"{100 * confidence:.1f}".removesuffix(".0"), "%")


def join_unit(number: object, unit: str) -> str:
    """A number with its unit, between which no line breaks."""
    return f"{number}\N{NO-BREAK SPACE}{unit}" if unit else f"{number}"


def describe_position(intent: str | None, state: str | None) -> str:
    """An intent and a state in words: "Intent FEES, state IDLE"."""
    known_intent, known_state = (code not in (None, "", "UNKNOWN") for code in (intent, state))
    if not known_intent and not known_state:
        return "No intent recognised"
    first = f"Intent {intent}" if known_intent else "No intent"
    return f"{first}, {f'state {state}' if known_state else 'no state'}"
