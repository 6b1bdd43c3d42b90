"""Codes of events in words, for sentences; an unknown code stays unchanged."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.turn.labels import LIFECYCLE_REASONS

#: By name, then by code; a code that begins with one of these and a colon has its words, and then the rest.
PHRASES: Mapping[str, Mapping[str, str]] = {
    "source": {
        "REGEX": "by patterns",
        "LLM": "by the model",
        "REGEX_FALLBACK": "by patterns, because the model gave no result",
        "REGEX_GUARD": "by patterns, which overrule the model here",
        "RULE": "by a rule",
    },
    "reset": {
        "INPUT_PARAM:reset": "the caller sent the parameter reset",
        "INPUT_PARAM:restart": "the caller sent the parameter restart",
        "INPUT_PARAM:conversation_reset": "the caller sent the parameter conversation_reset",
        "USER_TEXT_COMMAND": "the message is a reset command",
        "DIALOGUE_ACT_RESET": "the user wants to start over",
        "INTENT_RESOLVED_RESET": "the recognised intent resets the conversation",
    },
    "decision": {
        "EXECUTE_PENDING_ACTION": "run the proposed action, because the user said yes",
        "REJECT_PENDING_ACTION": "cancel the proposed action, because the user said no",
        "FILL_PENDING_SLOT": "use the message as the value that was asked for",
        "RECLASSIFY_INTENT": "look for the intent of the message",
    },
    "refused": {
        "AMBIGUOUS": "it may mean several values",
        "INVALID_DATE": "there is no such day",
        "INVALID_TIME": "there is no such time",
        "WEEKDAY_MISMATCH": "the weekday does not fit the date",
        "DAY_MISSING": "the day is missing",
        "TIME_MISSING": "the time is missing",
        "DATE_MISSING": "the day is missing",
        "OUT_OF_BOUNDS": "it is outside of the limits",
        "WRONG_UNIT": "the unit is another one",
        "UNIT_MISSING": "the unit is missing",
        "NOT_WHOLE": "it is no whole number",
        "NOT_AN_OPTION": "it is none of the options",
        "TOO_SHORT": "it is too short",
        "TOO_LONG": "it is too long",
        "WRONG_CHECK_DIGITS": "its check digits are wrong",
        "INVALID_PHONE": "it is no valid phone number",
        "INVALID_EMAIL": "it is no valid e-mail address",
        "INVALID_POSTCODE": "it is no valid post code",
        "INVALID_IBAN": "it is no valid IBAN",
        "PATTERN_MISMATCH": "it does not have the required form",
        "VALUE_VIOLATES_SCHEMA": "the field does not allow it",
        "VALUE_INVALID": "it is no value of this kind",
        "NEGATED": "the user denies it",
    },
    "cleared": {
        "DONE": "it was done",
        "CANCEL": "it was cancelled or left",
        "RESTART": "it begins again",
    },
    "changed_by": {"TRANSFORMER": "the transformer", "HOOK": "the hook", "TASK": "the task"},
    "code": {"HOOK": "The hook", "TASK": "The task"},
    "joined": {
        "DIGRESSION": "the message asked something in between",
        "STALE": "the answer begins a new session in place of an old one",
    },
    "lock": {"SCHEMA_INCOMPLETE": "its form is not complete"},
    "kept": {
        "POLICY_DECISION": "the message answers an open question",
        "SCHEMA_INCOMPLETE": "its form is being filled in",
    },
    "unchanged": {
        "NO_RESOLVER_MATCHED": "no other intent was recognised",
        "reset_only": "the message only asked to start over",
        "session_ends": "the session ends here",
        "FORM_CONFIRMED": "the message confirms the form",
        "FORM_LEAVE_ASKED": "the user is first asked whether to stop",
        "FORM_DONE": "the form is done, and nothing is there to cancel or change it",
        "FORM_LEFT": "the user stopped",
        "FORM_STAYS": "the user goes on with the form",
        "DIGRESSION": "the message is a question in between",
        "resume_offered": "the user is first asked whether to continue",
    },
    "agent": {
        "LLM_NOT_CONFIGURED": "no model is configured",
        "no allowed intents": "there is no intent to choose from",
        "blank text": "the message is empty",
    },
    "rejected": {
        "low confidence": "its confidence is too low",
        "blank intent": "it named no intent",
        "invalid json": "its answer is not valid JSON",
        "needsClarification without question": "it asked for a clarification without a question",
        "Intent not in allowed intents": "this intent is not allowed here",
    },
    "skipped": {
        "GUARDRAIL": "the guardrail requires an approval",
        "EXPIRED": "it was no longer open when it was confirmed",
        "RULE": "a rule cancelled it",
        "AMBIGUOUS_OR_NO_KEY": "it is not clear which action is meant",
        "NO_REFERENCE": "the pending action names no task",
        "ALREADY_CLAIMED": "another turn started it, and its outcome is unknown",
    },
    "planner": {
        "GUARDRAIL": "the guardrail denied it",
        "LLM_NOT_CONFIGURED": "no model is configured",
        "RESET_ONLY": "the message only asked to start over",
        "REPLY_OVERRIDE": "the answer was already decided",
        "DIGRESSION": "the message is a question in between",
    },
    "planner_end": {"MAX_LOOPS": "it reached its limit of rounds"},
    "guardrail": {"SENSITIVE_ACTION_APPROVAL_REQUIRED": "it is sensitive and was not approved"},
    "answered_by": {
        "DISAMBIGUATION": "with the question which action is meant",
        "AGENT": "with the model's question",
        "SESSION": "with a text about the session",
        "RESET": "with the text for a reset",
        "RESUME": "with the offer to resume",
        "GUARDRAIL": "with the text of the guardrail",
    },
    "lifecycle": LIFECYCLE_REASONS,
    "read_by": {"OPTION": "by the option that the user selected"},
    "status": {
        "SKIPPED_SCOPE_MISMATCH": "it does not apply to this intent and state",
        "SKIPPED_BY_GUARDRAIL": "the guardrail denied it",
    },
    "matched_on": {"TEXT": "the message", "ACTION": "the action", "TOOL": "the tool"},
    "fail_mode": {"OPEN": "so the message was allowed", "CLOSED": "so the message was blocked"},
    "meant": {
        "RESPONSE": "The user answered the open question",
        "MODIFICATION": "The user wants a change to the current task",
        "CONFIRMATION": "The user accepted the proposed end",
        "NEW_TASK": "The user started something new",
        "ABANDON": "The user gave up",
        "UNCLEAR": "It is unclear whether the user continues or starts something new",
    },
    "failure": {
        "LEASE_EXPIRED": "the server process ended before the turn did",
    },
}


def find_phrase(name: str, code: Any) -> str:
    """The words for a code."""
    return PHRASES[name].get(str(code), str(code))
