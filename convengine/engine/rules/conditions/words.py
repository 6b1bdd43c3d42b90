"""A condition in words: "date is before today plus 2 days, and the message contains …", "the form is complete"."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from convengine.engine.rules.conditions.json_path import parse_path
from convengine.engine.rules.conditions.nodes import (
    Comparison,
    Condition,
    ConditionField,
    Exists,
    Finds,
    Group,
    Length,
    Literal,
    Operand,
    Path,
    PathError,
    RuleTarget,
)
from convengine.engine.rules.conditions.operators import (
    OPERATORS,
    PATH_OPERATORS,
    PLACE,
    TEXT_OPERATORS,
    Needs,
    Operator,
)
from convengine.engine.rules.conditions.rows import ConditionError, parse_condition
from convengine.engine.rules.conditions.time_points import describe_count, describe_time_point, is_time_point
from convengine.engine.rules.conditions.values import list_values, read_number, read_yes_no
from convengine.engine.rules.pattern_examples import describe_compared_pattern, describe_match
from convengine.engine.rules.patterns import Pattern
from convengine.engine.text.compare import shorten
from convengine.engine.text.wording import join_alternatives
from convengine.engine.turn.enums import DialogueAct, MatchTarget
from convengine.json_value import Json

#: How much of a value is shown.
_SHOWN = 60
_ACT = "the dialogue act"
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
    "inputParams.dialogue_act": _ACT,
    "inputParams.pending_action_result": "the result of the action",
    "inputParams.tool_status": "the status of the tool call",
}
#: The short names of rows.
_FIELDS: Mapping[str, str] = {
    **{path.replace("inputParams.", "params."): name for path, name in NOUNS.items()},
    "message": "the message",
    "act": _ACT,
    "acts": _ACT,
    "memory": "the memory",
    "clock.now": "the time",
    "clock.today": "the day",
    "clock.weekday": "the weekday",
    "clock.hour": "the hour",
}
_TARGETS: Mapping[str, str] = {
    MatchTarget.USER_TEXT: "the message",
    MatchTarget.RESOLVED_INPUT: "the message (as rewritten)",
    MatchTarget.DIALOGUE_ACT: _ACT,
}
_PREFIX = re.compile(r"^(?:context|schemaJson|params|inputParams)\.")
#: Boolean facts: the words for true, and for false.
CLAIMS: Mapping[str, tuple[str, str]] = {
    "schemaComplete": ("the form is complete", "the form is not complete"),
    "hasAnySchemaValue": ("some fields are filled in", "no field is filled in"),
    "hasContainerData": ("fetched data is available", "no fetched data is available"),
    "intentLocked": ("the intent is locked", "the intent is not locked"),
}
#: Facts that may be missing: the words for set, and for not set.
_PRESENCE: Mapping[str, tuple[str, str]] = {
    "userText": ("the user wrote something", "the user wrote nothing"),
    "inputParams.intent_resolved_by": ("an intent was recognised", "no intent was recognised"),
    "inputParams.pending_action_result": ("an action ran", "no action ran"),
    "inputParams.tool_status": ("a tool was called", "no tool was called"),
    "inputParams.tool_result": ("a tool returned a result", "no tool returned a result"),
}
#: Operators that hold exactly where another one does not.
_COMPLEMENTS = (
    ("is", "isNot"), ("contains", "doesNotContain"), ("isOneOf", "isNoneOf"), ("isEmpty", "isNotEmpty"), ("=", "!="),
    ("==", "!="), ("in", "nin"), ("anyof", "noneof"), ("exists", "=="),
)  # fmt: skip
_OPPOSITES: Mapping[str, str] = {b: a for a, b in _COMPLEMENTS[:-1]} | dict(_COMPLEMENTS)
#: Words in a name whose values are points in time.
_OF_TIME = frozenset({"date", "today", "time", "day", "deadline", "until", "at"})


@lru_cache(maxsize=8192)
def describe_condition(text: str) -> str | None:
    """The rows of a condition as a clause, beginning in lower case. Returns None for rows that cannot be read."""
    try:
        return describe(parse_condition(text))
    except ConditionError:
        return None


def describe(condition: Condition, root: str = "") -> str:
    """A condition as a clause. `root` comes before the names of paths in a document other than the facts."""
    if isinstance(condition, Group) and any(
        isinstance(row.left, ConditionField) for row in condition.list_comparisons()
    ):
        return _describe_group(condition, root, conjunction=" and " if condition.negated else ", and ")
    return _describe(condition, root)


def _describe(condition: Condition, root: str) -> str:
    """A condition as a clause. `describe` also sets commas between the rows of a list."""
    match condition:
        case Group():
            return _describe_group(condition, root)
        case Finds(path, written) if path.filtered:
            return f"{shorten(written, 2 * _SHOWN)} matches something"
        case Exists(path) | Finds(path):
            return _describe_presence(path, root, present=True)
        case Comparison():
            return _describe_comparison(condition, root)


def _describe_group(group: Group, root: str, *, conjunction: str = " and ") -> str:
    """A group as a clause: alternatives with "either … or", all others joined by `conjunction`."""
    match group:
        case Group(_, True, (Exists(path),)):
            return _describe_presence(path, root, present=False)
        case Group(_, True, (Comparison(Path() | Length() as left, Operator("=~"), Literal(pattern)),)):
            return f"{_name(left, root)} {describe_match(pattern.text, whole=True, negated=True)}"
    parts = [_describe_member(member, root) for member in group.members]
    is_choice = group.combinator == "or" and len(parts) > 1
    words = f"either {' or '.join(parts)}" if is_choice else conjunction.join(parts)
    return f"not ({words})" if group.negated else words


def _describe_member(member: Condition, root: str) -> str:
    words = _describe(member, root)
    is_list = isinstance(member, Group) and not member.negated and len(member.members) > 1
    return f"({words})" if is_list else words


def _describe_comparison(comparison: Comparison, root: str) -> str:
    """A comparison as a clause, by its meaning if it has one, else by its name, operator and value."""
    left, operator, right = comparison.left, comparison.operator, comparison.right
    name, value = _name(left, root), right.value if isinstance(right, Literal) else ...
    if claim := _describe_claim(left, operator.name, value, root):
        return claim
    if name == _ACT and operator.name in ("is", "=", "==", "equals") and (act := act_words(str(value))):
        return act
    if value is None and operator.name in ("==", "!="):
        return f"{name} is {'not set' if operator.name == '==' else 'set'}"
    if operator is PATH_OPERATORS["empty"] and value is False:
        return f"{name} is not empty"
    other = None if isinstance(right, Literal) else _name(right, root)
    return f"{name} {describe_comparison(operator, value, field=other, name=name)}"


def _describe_claim(left: Operand, op: str, value: Json, root: str = "") -> str | None:
    """The meaning of a comparison: "the form is complete". Returns None if its parts say it better."""
    if isinstance(left, Path) and (op == "exists" or (value is None and op in ("==", "!="))):
        return _describe_presence(left, root, present=op != "==")
    claims = CLAIMS.get(left.name if isinstance(left, ConditionField) else _name(left, root))
    claimed = _read_claim(op, value)
    return None if claims is None or claimed is None else claims[0 if claimed else 1]


def _read_claim(op: str, value: Json) -> bool | None:
    """What a comparison says about a yes/no fact: that it is true or false. Returns None if it says neither."""
    if op in ("isYes", "isNo"):
        return op == "isYes"
    wanted = read_yes_no(value) if op in ("is", "isNot") or isinstance(value, bool) else None
    return None if wanted is None or op not in ("is", "isNot", "==", "!=") else wanted is (op in ("is", "=="))


def _describe_presence(path: Path, root: str, *, present: bool) -> str:
    name = _name(path, root)
    claims = _PRESENCE.get(_add_root(path, root) or "") or CLAIMS.get(name)
    return claims[0 if present else 1] if claims else f"{name} is set" if present else f"{name} is not set"


def act_words(act: str) -> str | None:
    """The user's act in words, such as "the user says yes". Returns None for no act."""
    dialogue_act = DialogueAct.read(act)
    return f"the user {dialogue_act.help[:1].lower()}{dialogue_act.help[1:].rstrip('.')}" if dialogue_act else None


# --- names ------------------------------------------------------------------------------------------------------


def _name(operand: Operand, root: str = "") -> str:
    """The name of an operand in words; for a literal, its value."""
    match operand:
        case RuleTarget(name, written):
            return _TARGETS.get(name, f"the text {written}")
        case ConditionField(name):
            return _FIELDS.get(name) or _PREFIX.sub("", name)
        case Length(path):
            return f"the length of {_name(path, root)}"
        case Path():
            dotted = _add_root(operand, root)
            if dotted is None:
                return str(operand)
            first, _, rest = dotted.partition(".")
            return NOUNS.get(dotted) or (rest if first in ("context", "schemaJson", "inputParams") and rest else dotted)
        case Literal(value):
            return _describe_literal(value)


def _add_root(path: Path, root: str) -> str | None:
    return f"{root}.{path.dotted}" if root and path.dotted else path.dotted


def noun(text: str) -> str:
    """The name of a path's value in words; the path itself if it is not simple."""
    try:
        return _name(parse_path(text))
    except PathError:
        return text


# --- an operator with its value ---------------------------------------------------------------------------------


def describe_comparison(operator: Operator, value: Json, *, field: str | None = None, name: str = "") -> str:
    """The operator with its value in words: "is before today plus 2 days".

    `field`: the name of another value, which is compared; `name`: that of the left side.
    """
    if operator.needs is Needs.PATTERN and field is None:
        return (
            describe_match(value.text, whole=True) if isinstance(value, Pattern) else describe_match(str(value).strip())
        )
    return _fill_phrase(operator, name, lambda unit: _describe_right(operator, value, unit) if field is None else field)


def _fill_phrase(operator: Operator, name: str, say: Callable[[str], str]) -> str:
    """The phrase with the right side in words; of a path, values of points in time are before and after each other."""
    gap = PLACE.search(operator.phrase)
    if gap is None:
        return operator.phrase
    words = say(gap[1])
    phrase = operator.time_phrase if operator.time_phrase and _is_of_time(name, words) else operator.phrase
    return PLACE.sub(lambda _: words, phrase)


def _describe_right(operator: Operator, value: Json, unit: str) -> str:
    """The right side of an operator in words. `unit`: the unit of a number, such as days; blank for none."""
    if unit:
        return describe_count(value, unit)
    match operator.needs:
        case Needs.LIST:
            describe = str if operator.values else describe_value
            return join_alternatives([describe(part) for part in list_values(value)] or ["nothing"])
        case Needs.RANGE:
            return " and ".join(map(describe_value, list_values(value)))
        case Needs.LITERAL | Needs.MEMBER | Needs.SIZE:
            return _describe_literal(value)
    return f"“{shorten(value.strip(), _SHOWN)}”" if operator is TEXT_OPERATORS["equals"] else describe_value(value)


def _describe_literal(value: Json) -> str:
    if isinstance(value, list):
        return ", ".join(map(value_words, value)) or "an empty list"
    return value_words(value)


def describe_value(value: Json) -> str:
    """A value of a row in words: a date or number plain, other texts in quotes."""
    if isinstance(value, str) and (is_time_point(value) or read_number(value) is not None):
        return describe_time_point(value)
    return shorten(json.dumps(value, ensure_ascii=False, default=str), _SHOWN)


def value_words(value: Json) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _SHOWN)


def _is_of_time(*names: str) -> bool:
    return any(
        _OF_TIME & set(re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower())) for name in names
    )


# --- recorded comparisons ---------------------------------------------------------------------------------------


def is_row(path: str, op: str) -> bool:
    """True for a comparison of a condition that consists of rows (field, operator, value)."""
    return _is_field(path) and op in OPERATORS


def _is_field(path: str) -> bool:
    return not path.startswith(("@", "$")) and path not in _TARGETS


def fact_name(path: str) -> str:
    """The name of the value that a condition compared."""
    if _is_field(path):
        return _name(ConditionField(path))
    return _TARGETS.get(path) or noun(_plain(path))


def _plain(path: str) -> str:
    return f"${path[1:]}" if path.startswith("@") else path


def claim_words(path: str, op: str, literal: Json) -> str | None:
    """The meaning of a comparison: "the form is complete". Returns None if its parts say it better."""
    try:
        parsed = parse_path(_plain(path))
    except PathError:
        return None
    return None if parsed.filtered else _describe_claim(parsed, op, literal)


def comparison_sentence(path: str, op: str, literal: Json, *, other: str | None = None) -> str:
    """A comparison of a condition in words: "the state is not CONFIRM", "no intent was recognised".

    `other` is the field whose value a row compares.
    """
    if is_row(path, op):
        return describe(
            Comparison(ConditionField(path), OPERATORS[op], ConditionField(other) if other else Literal(literal))
        )
    if claim := claim_words(path, op, literal):
        return claim
    name = fact_name(path)
    if name == _ACT and op in ("equals", "==") and (act := act_words(str(literal))):
        return act
    if literal is None:
        return f"{name} is {'set' if op in ('exists', '!=') else 'not set'}"
    if op == "equals":
        return f"{name} is {literal}" if literal != "ANY" else "always"
    if op == "=~":
        return f"{name} {describe_compared_pattern(str(literal))}"
    if op not in PATH_OPERATORS:
        return f"{name} {op} {value_words(literal)}"
    return f"{name} {_fill_phrase(PATH_OPERATORS[op], name, lambda unit: value_words(literal))}"


def negated_sentence(path: str, op: str, literal: Json, *, other: str | None = None) -> str:
    """A comparison that does not hold, in words: "the state is not CONFIRM"."""
    if opposite := _OPPOSITES.get(op):
        return comparison_sentence(path, opposite, literal, other=other)
    return f"it is not so that {comparison_sentence(path, op, literal, other=other)}"


def list_leaves(condition: Condition, *, negated: bool = False) -> Iterator[tuple[str, str, bool]]:
    """The path and operator of each comparison, and whether it is negated."""
    match condition:
        case Group(_, is_negated, members):
            for member in members:
                yield from list_leaves(member, negated=negated is not is_negated)
        case Comparison(left, operator):
            yield (left.written or "") if isinstance(left, RuleTarget) else str(left), operator.name, negated
        case Exists(path) | Finds(path):
            yield str(path), "exists", negated
