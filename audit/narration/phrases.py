"""Codes of events in words, for sentences."""

import re
from collections.abc import Mapping
from typing import Any

from convengine.engine.turn.labels import LIFECYCLE_REASONS

_CODE = re.compile(r"[A-Z][A-Z0-9_]+")
#: By name, then by code. What follows a code and a colon follows its words.
PHRASES: Mapping[str, Mapping[str, str]] = {
    "reset": {
        "INPUT_PARAM": "the caller sent the parameter",
        "USER_TEXT_COMMAND": "the message is a reset command",
        "DIALOGUE_ACT_RESET": "the user wants to start over",
        "INTENT_RESOLVED_RESET": "the recognised intent resets the conversation",
    },
    "signal": {
        "INPUT_PARAM": "the caller sent the parameter",
        "PHRASE": "the message matches",
    },
    "refused": {
        "AMBIGUOUS": "several values are possible",
        "INVALID_DATE": "there is no such day",
        "INVALID_TIME": "there is no such time",
        "WEEKDAY_MISMATCH": "the weekday does not fit the date",
        "DAY_MISSING": "the day is missing",
        "TIME_MISSING": "the time is missing",
        "DATE_MISSING": "the day is missing",
        "OUT_OF_BOUNDS": "it is outside of the limits",
        "WRONG_UNIT": "the unit is another one",
        "UNIT_MISSING": "the unit is missing",
        "NOT_WHOLE": "it is not a whole number",
        "NOT_AN_OPTION": "it is not one of the options",
        "TOO_SHORT": "it is too short",
        "TOO_LONG": "it is too long",
        "WRONG_CHECK_DIGITS": "its check digits are wrong",
        "INVALID_PHONE": "it is not a valid phone number",
        "INVALID_EMAIL": "it is not a valid e-mail address",
        "INVALID_POSTCODE": "it is not a valid postcode",
        "INVALID_IBAN": "it is not a valid IBAN",
        "PATTERN_MISMATCH": "it does not have the required form",
        "VALUE_VIOLATES_SCHEMA": "the field does not allow it",
        "VALUE_INVALID": "it is not a value of this kind",
    },
    "role": {
        "TAKEN": "value, taken",
        "OFFERED": "value, offered",
        "REFUSED": "value, refused",
        "PASSED_OVER": "value, passed over",
        "NAMED": "name of a field",
        "CUE": "says what is meant",
        "SMALL": "small word",
        "UNEXPLAINED": "not understood",
    },
    "move": {
        "AFFIRM": "yes",
        "PRAISE": "praise",
        "NEGATE": "no",
        "CORRECT": "a correction",
        "CLEAR": "removes a value",
        "SKIP": "skips the question",
        "ASK": "a question",
        "LEAVE": "wants to stop",
        "PERSON": "wants a person",
        "WAIT": "wants to wait",
        "REPEAT": "wants to hear it again",
        "GREET": "a greeting",
        "THANK": "thanks",
        "FAREWELL": "a goodbye",
        "RESTART": "wants to start over",
        "HELP": "wants help",
        "STAY": "wants to go on",
        "MORE": "wants the same again",
    },
    "cue": {
        "denial": "says that something is not meant",
        "rejection": "says that something does not suit",
        "supposition": "only supposes",
        "limit": "sets a limit",
        "elsewhere": "tells of others or of another time",
        "alternative": "offers a choice",
        "question": "asks",
        "why": "asks why",
        "request": "asks for something",
        "correction": "corrects",
        "clearing": "removes",
        "inclusion": "wants it included",
    },
    "taken": {
        "ASKED": "the bot had just asked for it",
        "LABEL": "the message names this field",
        "KIND": "this open field takes such a value",
        "CORRECTION": "it replaces an earlier value",
        "TEXT": "this field takes text as it was written",
        "PART": "these words are what the rest of the message does not explain, and this field takes text",
        "RELATION": "a word such as “to” or “from” marks these words as the text of this field",
        "MODEL": "the model pointed to these words",
        "OFFER": "the bot had asked whether it is meant, and the user said yes",
        "EARLIER": "an earlier message said it, before the bot asked what it means",
    },
    "offered": {
        "SUPPOSED": "the message only supposes it, so the bot asks first",
        "SIMILAR": "the words are only similar to an option, so the bot asks first",
        "MEANING": "the words mean about the same as this value, so the bot asks first",
        "UNEXPLAINED": "other words beside it were not understood, so the bot asks first",
        "UNCLEAR": "it may be meant for something else, so the bot asks first",
        "MODEL": "only the model understands the words like this, so the bot asks first",
    },
    "passed_over": {
        "denies": "the message says that it is not meant",
        "tells": "the message tells of others or of another time",
    },
    "assumed": {
        "month": "the month",
        "year": "the year",
        "half": "morning or afternoon",
        "country": "the country",
        "sum": "how many they are together",
        "zone": "the time in the zone of the conversation",
    },
    "cleared": {
        "DONE": "the form is finished",
        "CANCEL": "the form was left",
        "RESTART": "it begins again",
    },
    "changed_by": {"TRANSFORMER": "the transformer", "HOOK": "the hook", "TASK": "the task"},
    "code": {"HOOK": "the hook", "TASK": "the task"},
    "asked": {"LEAVE_QUESTION": "the question whether to stop"},
    "on_no": {
        "ASK_WHAT_TO_CHANGE": "the bot asks what to change",
        "RESTART": "the form begins again",
        "CANCEL": "the form ends",
    },
    "kept": {
        "SCHEMA_INCOMPLETE": "its form is not complete",
        "POLICY_DECISION": "the message concerns the current task",
        "FORM_CONFIRMED": "the message confirms the form",
        "FORM_LEAVE_ASKED": "the user is first asked whether to stop",
        "PERSON_WANTED": "the user asked for a person, and the form hands over itself",
        "FORM_DONE": "the form is done, and nothing is there to cancel or change it",
        "FORM_STAYS": "the user goes on with the form",
        "DIGRESSION": "the message is a question in between",
        "ASKED_OF_SECTION": "the message is what a section of a document is asked as",
        "resume_offered": "the user is first asked whether to continue",
    },
    "rejected": {
        "low confidence": "its confidence is too low",
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
    "planner_end": {"MAX_LOOPS": "it reached its limit of rounds"},
    "guardrail": {"SENSITIVE_ACTION_APPROVAL_REQUIRED": "it is sensitive and has no approval"},
    "answered_by": {
        "DISAMBIGUATION": "with the question which action is meant",
        "AGENT": "with the model's question",
        "SESSION": "with a text about the session",
        "FORM": "with a text of the form",
        "SMALL_TALK": "with small talk",
        "NOT_UNDERSTOOD": "with the text for a message that was not understood",
        "MODEL_UNAVAILABLE": "with the text for a model that cannot be reached",
        "HAND_OVER": "with the text for a person who takes over",
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
        "MODIFICATION": "The user wants a change to the current task",
        "CONFIRMATION": "The user accepted the proposed end",
        "NEW_TASK": "The message starts something new",
        "ABANDON": "The user wants to stop",
        "UNCLEAR": "It is unclear whether the user continues or starts something new",
    },
    "failure": {
        "LEASE_EXPIRED": "the server process ended or stood still before the turn ended",
        "TURN_TIMEOUT": "it did not end within its time limit, so the server ended the process that ran it",
    },
}

#: Lifecycle changes of nearly every turn, which are worth no sentence.
ROUTINE_MOVES = frozenset({"question", "response", "continuation"})


def find_phrase(name: str, code: Any) -> str:
    """The words for a code, with what follows its colon; an unknown code in lower case, another text unchanged.

    `name` is the key in PHRASES.
    """
    text, colon, rest = str(code).partition(":")
    words = PHRASES.get(name, {}).get(text) or (text.replace("_", " ").lower() if _CODE.fullmatch(text) else text)
    return f"{words} {rest}" if colon and text in PHRASES.get(name, {}) else f"{words}{colon}{rest}"
