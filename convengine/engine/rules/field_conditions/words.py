"""A condition in words: "date is before today plus 2 days, and the message contains …"."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convengine.engine.rules.field_conditions.operators import Operator, describe_comparison, read_yes_no
from convengine.engine.rules.field_conditions.parser import Comparison, ConditionError, Group, parse_condition
from convengine.engine.turn.enums import DialogueAct

#: Facts with a name of their own; others keep their key.
NOUNS: Mapping[str, str] = {
    "userText": "the message",
    "resolvedUserInput": "the message (as rewritten)",
    "standaloneQuery": "the rewritten message",
    "intent": "the intent",
    "state": "the state",
    "turnNo": "the turn number",
    "lifecycle": "the lifecycle",
    "missingRequiredFields": "the list of missing fields",
    "pendingClarificationQuestion": "the clarifying question",
    "containerData": "the fetched data",
    "inputParams.dialogue_act": "the dialogue act",
}
#: Boolean facts: the words for true, and for false.
CLAIMS: Mapping[str, tuple[str, str]] = {
    "schemaComplete": ("the form is complete", "the form is not complete"),
    "hasAnySchemaValue": ("some fields are filled in", "no field is filled in"),
    "hasContainerData": ("fetched data is available", "no fetched data is available"),
    "intentLocked": ("the intent is locked", "the intent is not locked"),
}


def act_words(act: str) -> str | None:
    """The user's act in words, such as "the user says yes"; null for no act."""
    dialogue_act = DialogueAct.read(act)
    return f"the user {dialogue_act.help[:1].lower()}{dialogue_act.help[1:].rstrip('.')}" if dialogue_act else None


Json = Any
_NAMES = {
    **NOUNS,
    "message": "the message",
    "act": "the dialogue act",
    "acts": "the dialogue act",
    "memory": "the memory",
    "clock.now": "the time",
    "clock.today": "the day",
    "clock.weekday": "the weekday",
    "clock.hour": "the hour",
}
_PREFIXES = ("context.", "schemaJson.", "params.", "inputParams.")


@lru_cache(maxsize=8192)
def describe_condition(text: str) -> str | None:
    """A condition as a clause, beginning in lower case; null for one that cannot be read."""
    try:
        return _describe_group(parse_condition(text), nested=False)
    except ConditionError:
        return None


def describe_row(field: str, operator: Operator, value: Json, *, other: str | None = None) -> str:
    """One row in words. `other`: the field whose value is compared."""
    if field in CLAIMS and operator.name in ("isYes", "isNo", "is", "isNot"):
        claim = _read_claim(operator, value)
        if claim is not None:
            return CLAIMS[field][0 if claim else 1]
    if _NAMES.get(field) == "the dialogue act" and operator.name in ("is", "=") and (act := act_words(str(value))):
        return act
    other_name = name_field(other) if other else None
    return f"{name_field(field)} {describe_comparison(operator, value, field=other_name)}"


def name_field(field: str) -> str:
    """A field's name in words; one without words keeps its name."""
    if field in _NAMES:
        return _NAMES[field]
    return next((field.removeprefix(prefix) for prefix in _PREFIXES if field.startswith(prefix)), field)


def _read_claim(operator: Operator, value: Json) -> bool | None:
    """What a row says about a yes/no fact: that it is true, or false; null for neither."""
    if operator.name in ("isYes", "isNo"):
        return operator.name == "isYes"
    wanted = read_yes_no(value)
    return None if wanted is None else wanted is (operator.name == "is")


def _describe_group(group: Group, *, nested: bool) -> str:
    parts = [_describe_member(member) for member in group.members]
    if len(parts) == 1:
        words = parts[0]
    elif group.combinator == "and":
        words = (" and " if nested or group.negated else ", and ").join(parts)
    else:
        words = f"either {' or '.join(parts)}"
    if group.negated:
        return f"not ({words})"
    return f"({words})" if nested and len(parts) > 1 else words


def _describe_member(member: Group | Comparison) -> str:
    if isinstance(member, Group):
        return _describe_group(member, nested=True)
    return describe_row(
        member.field, member.operator, member.value, other=str(member.value) if member.from_field else None
    )
