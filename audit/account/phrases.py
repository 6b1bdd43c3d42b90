"""Codes of events in words, as sentences use them; a code that has none is said as it is."""

from collections.abc import Mapping
from typing import Any

#: By name, then by code; a code that begins with one of these and a colon has its words, and then what follows.
PHRASES: Mapping[str, Mapping[str, str]] = {
    "source": {
        "REGEX": "by the patterns",
        "LLM": "by the model",
        "REGEX_FALLBACK": "by the patterns, as the model gave nothing",
        "REGEX_GUARD": "by the patterns, which hold the model back here",
        "RULE": "by a rule",
    },
    "reset": {
        "INPUT_PARAM:reset": "the caller asked for it with the input param reset",
        "INPUT_PARAM:restart": "the caller asked for it with the input param restart",
        "INPUT_PARAM:conversation_reset": "the caller asked for it with the input param conversation_reset",
        "USER_TEXT_COMMAND": "the message says so",
        "DIALOGUE_ACT_RESET": "the message was taken as a wish to start over",
        "INTENT_RESOLVED_RESET": "the intent that was found is one that resets",
    },
    "decision": {
        "EXECUTE_PENDING_ACTION": "a yes to what was proposed, so the action is to run",
        "REJECT_PENDING_ACTION": "a no to what was proposed, so the action is not to run",
        "FILL_PENDING_SLOT": "the value that was asked for",
        "RECLASSIFY_INTENT": "something new, so the intent is looked for",
    },
    "lock": {"SCHEMA_INCOMPLETE": "data for it is still missing"},
    "kept": {
        "POLICY_DECISION": "the message answers what was waiting",
        "SCHEMA_INCOMPLETE": "its data is being collected",
    },
    "unchanged": {
        "NO_RESOLVER_MATCHED": "nothing named another one",
        "reset_only": "the message only asked to start over",
        "session_ends": "the session ends here",
        "resume_offered": "the user is first asked whether to go on",
    },
    "agent": {
        "LLM_NOT_CONFIGURED": "no model is configured",
        "no allowed intents": "there is no intent to choose from",
        "blank text": "the message is empty",
    },
    "rejected": {
        "low confidence": "it was not sure enough",
        "blank intent": "it named none",
        "invalid json": "its answer is no JSON",
        "needsClarification without question": "it wants to ask, and gave no question",
        "Intent not in allowed intents": "it is none that may be chosen",
    },
    "skipped": {
        "GUARDRAIL": "the guardrail holds it back until it is approved",
        "EXPIRED": "it was no longer open when it was confirmed",
        "RULE": "a rule took it back",
        "AMBIGUOUS_OR_NO_KEY": "it is not clear which action is meant",
        "NO_REFERENCE": "the row names no task",
        "ALREADY_CLAIMED": "another turn has begun it, and nobody knows how that ended",
    },
    "planner": {
        "GUARDRAIL": "the guardrail denied it",
        "LLM_NOT_CONFIGURED": "no model is configured",
        "RESET_ONLY": "the message only asked to start over",
        "REPLY_OVERRIDE": "the answer was settled already",
    },
    "planner_end": {"MAX_LOOPS": "it used up its rounds"},
    "guardrail": {"SENSITIVE_ACTION_APPROVAL_REQUIRED": "it is sensitive and was not approved"},
    "answered_by": {
        "DISAMBIGUATION": "with the question which action is meant",
        "AGENT": "with the model's question",
        "SESSION": "with a text about the session",
        "RESET": "with the text for a fresh start",
        "RESUME": "with the offer to go on where the user left",
        "GUARDRAIL": "with the text of the guardrail",
    },
    "lifecycle": {
        "question": "a question waits for its answer",
        "response": "the user answered",
        "reset": "the conversation was reset",
        "mode_review": "the result was presented for review",
        "mode_final": "the answer is a final one",
        "confirmed": "the user accepted the end",
        "abandoned": "the user gave it up",
        "modification": "the user wants a change",
        "continuation": "the user goes on",
        "unclear": "it is not clear what the user wants",
        "new_task": "the message begins something else",
        "resume_offered": "the user is asked whether to go on",
        "resumed": "the user goes on where it stood",
        "reopened": "a message came after its end",
        "proposed_by_rule": "a rule proposed the end",
        "explicit_reset": "the user wants to start over",
        "stale": "too much time went by",
        "topic_drift": "the topic changed",
        "interrupted": "a newer message stopped the turn",
        "handled_elsewhere": "the message was handled elsewhere",
    },
    "read_by": {"OPTION": "by the option that the user chose"},
    "status": {
        "SKIPPED_SCOPE_MISMATCH": "it does not belong to this intent and state",
        "SKIPPED_BY_GUARDRAIL": "the guardrail denied it",
    },
    "matched_on": {"TEXT": "the message", "ACTION": "the action", "TOOL": "the tool"},
    "fail_mode": {"OPEN": "so the message was let through", "CLOSED": "so the message was blocked"},
    "meant": {
        "RESPONSE": "an answer to the open question",
        "MODIFICATION": "a change to what is being done",
        "CONFIRMATION": "a yes to the end that was proposed",
        "NEW_TASK": "the beginning of something else",
        "ABANDON": "giving the task up",
        "UNCLEAR": "unclear",
    },
    "failure": {
        "LEASE_EXPIRED": "the process that ran it ended before the turn did",
    },
    "target": {
        "USER_TEXT": "the message",
        "RESOLVED_INPUT": "the message (rewritten if it was)",
        "DIALOGUE_ACT": "the dialogue act",
    },
}


def phrase(name: str, code: Any) -> str:
    """The words for a code."""
    return PHRASES[name].get(str(code), str(code))
