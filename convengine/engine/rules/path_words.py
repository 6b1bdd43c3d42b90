"""A JSON path in words: `$[?(@.schemaComplete == true)]` is "the form is complete"."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convengine.engine.rules.field_conditions.operators import OPERATORS as FIELD_OPERATORS
from convengine.engine.rules.field_conditions.words import CLAIMS, NOUNS, act_words, describe_row, name_field
from convengine.engine.rules.json_path.nodes import (
    Compare,
    Condition,
    Either,
    Every,
    Exists,
    Length,
    Literal,
    Matches,
    Members,
    Not,
    Operand,
    Path,
    PathError,
    Where,
    format_path,
)
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.rules.pattern_examples import describe_compared_pattern, describe_match
from convengine.engine.text.compare import shorten

Json = Any
#: How much of a pattern or a value is shown.
_SHOWN = 60
#: The texts that rules test.
_TARGETS: Mapping[str, str] = {
    "USER_TEXT": "the message",
    "RESOLVED_INPUT": "the message (as rewritten)",
    "DIALOGUE_ACT": "the dialogue act",
}
#: Facts that may be missing: the words for set, and for not set.
_PRESENCE: Mapping[str, tuple[str, str]] = {
    "userText": ("the user wrote something", "the user wrote nothing"),
    "inputParams.intent_resolved_by": ("an intent was recognised", "no intent was recognised"),
    "inputParams.pending_action_result": ("an action ran", "no action ran"),
    "inputParams.tool_status": ("a tool was called", "no tool was called"),
    "inputParams.tool_result": ("a tool returned a result", "no tool returned a result"),
}
#: Words in a name whose values are points in time.
_OF_TIME = frozenset({"date", "today", "time", "day", "deadline", "until", "at"})
_TIME_OPS: Mapping[str, str] = {
    "<": "is before",
    "<=": "is not after",
    ">": "is after",
    ">=": "is not before",
}
_OPS: Mapping[str, str] = {
    "==": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is greater than",
    ">=": "is at least",
    "in": "is one of",
    "nin": "is none of",
    "contains": "contains",
    "anyof": "has one of",
    "noneof": "has none of",
    "subsetof": "has nothing but",
    "all": "has all of",
    "size": "has the length",
}


@lru_cache(maxsize=8192)
def in_words(text: str, *, root: str = "") -> str | None:
    """A path as a condition in words, beginning in lower case; null for a path that does not parse.

    `root` comes before names of a document other than the facts.
    """
    try:
        path = parse_path(text)
    except PathError:
        return None
    match path.steps:
        case (Where(condition),):
            return _condition(condition, root)
        case _ if path.filtered:
            return f"{shorten(text, 2 * _SHOWN)} matches something"
    return _presence(path, root, present=True)


def noun(text: str) -> str:
    """The name of a path's value in words; the path itself if it is not simple."""
    try:
        return _noun(parse_path(text), "")
    except PathError:
        return text


def fact_name(path: str) -> str:
    """The name of the value that a condition compared."""
    if _is_field(path):
        return name_field(path)
    return _TARGETS.get(path) or noun(f"${path[1:]}" if path.startswith("@") else path)


def comparison_words(op: str) -> str:
    """A comparison operator in words; an unknown one unchanged."""
    return "matches" if op == "=~" else _OPS.get(op, op)


def claim_words(text: str, op: str, literal: Json) -> str | None:
    """The meaning of a comparison: "the form is complete"; null if its parts say it better."""
    try:
        path = parse_path(text)
    except PathError:
        return None
    if path.filtered:
        return None
    if op == "exists" or (literal is None and op in ("==", "!=")):
        return _presence(path, "", present=op != "==")
    claims = CLAIMS.get(_noun(path, ""))
    if claims and isinstance(literal, bool) and op in ("==", "!="):
        return claims[0 if literal is (op == "==") else 1]
    return None


def is_row(path: str, op: str) -> bool:
    """True for a comparison of a condition that consists of rows (field, operator, value)."""
    return _is_field(path) and op in FIELD_OPERATORS


def _is_field(path: str) -> bool:
    return not path.startswith(("@", "$")) and path not in _TARGETS


def comparison_sentence(path: str, op: str, literal: Json, *, other: str | None = None) -> str:
    """A comparison of a condition in words: "the state is not CONFIRM", "no intent was recognised".

    `other` is the field whose value a row compares.
    """
    if is_row(path, op):
        return describe_row(path, FIELD_OPERATORS[op], literal, other=other)
    plain = f"${path[1:]}" if path.startswith("@") else path
    if claim := claim_words(plain, op, literal):
        return claim
    name = fact_name(path)
    if literal is None:
        return f"{name} is {'set' if op in ('exists', '!=') else 'not set'}"
    if op == "equals":
        return f"{name} is {literal}" if literal != "ANY" else "always"
    if op == "=~":
        return f"{name} {describe_compared_pattern(str(literal))}"
    return f"{name} {_op_words(op, name, str(literal))} {value_words(literal)}"


def value_words(value: Json) -> str:
    return shorten(json.dumps(value, ensure_ascii=False), _SHOWN)


def _condition(condition: Condition, root: str) -> str:
    match condition:
        case Every(terms):
            return " and ".join(_inner(term, root) for term in terms)
        case Either(terms):
            return "either " + " or ".join(_inner(term, root) for term in terms)
        case Not(Exists(path)):
            return _presence(path, root, present=False)
        case Not(Matches(operand, pattern)):
            return f"{_operand(operand, root)} {describe_match(pattern.text, whole=True, negated=True)}"
        case Not(term):
            return f"not ({_condition(term, root)})"
        case Matches(operand, pattern):
            return f"{_operand(operand, root)} {describe_match(pattern.text, whole=True)}"
        case Exists(path):
            return _presence(path, root, present=True)
        case Compare():
            return _compare(condition, root)


def _inner(term: Condition, root: str) -> str:
    words = _condition(term, root)
    return f"({words})" if isinstance(term, (Every, Either)) else words


def _compare(comparison: Compare, root: str) -> str:
    name = _operand(comparison.left, root)
    literal = comparison.right.value if isinstance(comparison.right, Literal) else ...
    if comparison.op in ("==", "!="):
        equal = comparison.op == "=="
        if name in CLAIMS and isinstance(literal, bool):
            return CLAIMS[name][0 if literal is equal else 1]
        if literal is None and isinstance(comparison.left, Path):
            return _presence(comparison.left, root, present=not equal)
        if literal is None:
            return f"{name} is not set" if equal else f"{name} is set"
        if equal and name == "the dialogue act" and (act := act_words(str(literal))):
            return act
    if comparison.op == "empty" and isinstance(literal, bool):
        return f"{name} is empty" if literal else f"{name} is not empty"
    other = _operand(comparison.right, root)
    return f"{name} {_op_words(comparison.op, name, other)} {other}"


def _presence(path: Path, root: str, *, present: bool) -> str:
    name = _noun(path, root)
    claims = _PRESENCE.get(_write_dotted(path, root) or "") or CLAIMS.get(name)
    return claims[0 if present else 1] if claims else f"{name} is set" if present else f"{name} is not set"


def _op_words(op: str, *names: str) -> str:
    """The operator of two operands; points in time use before and after."""
    of_time = any(_OF_TIME & set(re.findall(r"[a-z]+", _snake(name))) for name in names)
    return _TIME_OPS.get(op, "") if of_time and op in _TIME_OPS else _OPS.get(op, op)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _operand(operand: Operand, root: str) -> str:
    match operand:
        case Literal([] | ()):
            return "an empty list"
        case Literal(value):
            return ", ".join(map(value_words, value)) if isinstance(value, (list, tuple)) else value_words(value)
        case Length(path):
            return f"the length of {_noun(path, root)}"
        case Path():
            return _noun(operand, root)


def _write_dotted(path: Path, root: str) -> str | None:
    """A simple path in dotted form, or null."""
    names = [step.names[0] for step in path.steps if isinstance(step, Members) and len(step.names) == 1]
    return ".".join([*([root] if root else []), *names]) if names and len(names) == len(path.steps) else None


def _noun(path: Path, root: str) -> str:
    dotted = _write_dotted(path, root)
    if dotted is None:
        return format_path(path)
    if dotted in NOUNS:
        return NOUNS[dotted]
    match dotted.split("."):
        case ["context" | "schemaJson" | "inputParams", *rest] if rest:
            return ".".join(rest)
    return dotted
