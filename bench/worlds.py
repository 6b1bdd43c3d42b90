"""Configurations of any size in which the same conversation runs in the same way."""

from collections.abc import Iterator
from typing import Any

from config_admin import models as m
from config_admin.releases.change_set import change_set

#: The messages with their intents. Every topic has its answer.
TOPICS = {
    "DELIVERY": "Hello, when does the parcel arrive that I ordered on Monday?",
    "RETURNS": "I would like to send something back, how does that work?",
    "OPENING_HOURS": "Thanks. What are your opening hours at the weekend?",
    "WARRANTY": "And how long is the warranty on a washing machine?",
}
MESSAGES = tuple(TOPICS.values())
_PATTERNS = {"DELIVERY": r"\bparcel\b", "RETURNS": r"\bsend .{0,20}back\b", "OPENING_HOURS": r"opening hours",
             "WARRANTY": r"\bwarranty\b|\bguarantee\b"}  # fmt: skip
_PHASES = ("PRE_RESPONSE_RESOLUTION", "POST_CLASSIFIER_INTENT", "POST_DIALOGUE_ACT", "PRE_RESPONSE_RESOLUTION")
_TEXT_TYPES = ("REGEX", "CONTAINS", "STARTS_WITH", "EXACT")
#: Minimum number of rules and message patterns: those of the conversation.
FEWEST = 10


def load(rules: int, patterns: int) -> list[str]:
    """Replace all rows by a world, as one release; returns its messages.

    `rules` are in three parts: those that every turn tests, a fifth of the others that test the user's text in every
    scope, and the rest in scopes of their own. `patterns` are phrases, and policies by a fifth.
    """
    with change_set(author="bench", reason=f"{rules} rules, {patterns} message patterns"):
        clear_rows()
        m.CeIntent.objects.bulk_create(
            m.CeIntent(intent_code=code, description=f"The customer asks about {code.lower()}.")
            for code in (*TOPICS, *(f"TOPIC_{index}" for index in range(20)))
        )
        m.CeResponse.objects.bulk_create(_responses())
        m.CeIntentClassifier.objects.bulk_create(_classifiers(patterns))
        m.CePolicy.objects.bulk_create(_policies(patterns // 5))
        m.CeRule.objects.bulk_create([*_tested_rules(), *make_other_rules(rules - FEWEST)])
    return list(MESSAGES)


def clear_rows() -> None:
    """Remove the rows of the previous world."""
    for model in (m.CeRule, m.CePolicy, m.CeIntentClassifier, m.CeResponse, m.CeOutputSchema, m.CeIntent):
        model._default_manager.all().delete()


def _responses() -> Iterator[m.CeResponse]:
    for code in TOPICS:
        yield m.CeResponse(
            intent_code=code,
            state_code="ANY",
            response_type="EXACT",
            exact_text=f"About {code.lower()}: this is what we can tell you, {{{{ inputParams.tier }}}} customer.",
        )
    yield m.CeResponse(intent_code="UNKNOWN", state_code="UNKNOWN", response_type="EXACT", exact_text="Sorry?")


def _classifiers(patterns: int) -> Iterator[m.CeIntentClassifier]:
    for code, pattern in _PATTERNS.items():
        yield m.CeIntentClassifier(intent_code=code, state_code="IDLE", rule_type="REGEX", pattern=pattern)
    for index in range(patterns - patterns // 5 - len(_PATTERNS)):
        kind = _TEXT_TYPES[index % 4]
        yield m.CeIntentClassifier(
            intent_code=f"TOPIC_{index % 20}", state_code="IDLE", rule_type=kind, pattern=_never(kind, index)
        )


def _policies(count: int) -> Iterator[m.CePolicy]:
    for index in range(count):
        kind = _TEXT_TYPES[index % 4]
        yield m.CePolicy(rule_type=kind, pattern=_never(kind, index), response_text="I cannot help with that.")


def _never(kind: str, index: int) -> str:
    """A pattern that matches none of our messages."""
    word = f"subject{index}"
    return rf"\b{word}s?\b.*\b(please|now|today)\b" if kind == "REGEX" else f"about {word}"


def _tested_rules() -> Iterator[m.CeRule]:
    yield make_rule(
        match_pattern="ANY", action="SET_INPUT_PARAM", action_value="tier:gold", phase="POST_CLASSIFIER_INTENT"
    )
    yield make_rule(
        rule_type="JSON_PATH",
        match_pattern="$[?(@.intent == 'DELIVERY')]",
        action="SET_CONTEXT",
        action_value="delivery.asked:true",
    )
    for field in ("tier", "country", "channel"):
        yield make_rule(
            rule_type="JSON_PATH",
            match_pattern=f"$[?(@.inputParams.{field} == 'special' && @.intent != 'UNKNOWN')]",
            action_value="SPECIAL",
        )
    for index in range(FEWEST - 5):
        yield make_rule(rule_type="REGEX", match_pattern=_never("REGEX", index))


def make_other_rules(count: int) -> Iterator[m.CeRule]:
    """Rules that never match. Each turn tests a fifth of them."""
    for index in range(count):
        if index % 5 == 0:
            yield make_rule(rule_type="REGEX", match_pattern=_never("REGEX", index))
            continue
        path = index % 2 == 0
        yield make_rule(
            intent_code=f"TOPIC_{index % 20}",
            state_code=f"STATE_{index % 7}",
            phase=_PHASES[index % 4],
            rule_type="JSON_PATH" if path else "REGEX",
            match_pattern=f"$.context.field{index}" if path else _never("REGEX", index),
        )


def make_rule(**values: Any) -> m.CeRule:
    """A rule with the usual values in all columns that are not given."""
    usual = {"intent_code": "ANY", "state_code": "ANY", "rule_type": "EXACT", "action": "SET_STATE"}
    return m.CeRule(**{**usual, "action_value": "OTHER", **values})
