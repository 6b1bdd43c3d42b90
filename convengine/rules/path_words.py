"""A JSON path as people would say it: `$[?(@.schemaComplete == true)]` is "the data is complete"."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from convengine.domain.enums import DialogueAct
from convengine.domain.text import excerpt
from convengine.rules.json_path.nodes import (
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
    written,
)
from convengine.rules.json_path.parser import parse_path

Json = Any
#: How much of a pattern or a value is repeated.
_SHOWN = 60
#: Facts that have a word of their own; others are called what they are called.
_NOUNS: Mapping[str, str] = {
    "userText": "the message",
    "resolvedUserInput": "the message (rewritten if it was)",
    "standaloneQuery": "the rewritten message",
    "intent": "the intent",
    "state": "the state",
    "turnNo": "the number of the turn",
    "lifecycle": "the lifecycle",
    "missingRequiredFields": "the list of missing fields",
    "pendingClarificationQuestion": "the question that was asked back",
    "containerData": "the fetched data",
    "inputParams.dialogue_act": "the dialogue act",
}
#: Facts that are true or false: what it means when they are, and when not.
_CLAIMS: Mapping[str, tuple[str, str]] = {
    "schemaComplete": ("the data is complete", "the data is not complete"),
    "hasAnySchemaValue": ("some of the data is known", "none of the data is known"),
    "hasContainerData": ("fetched data is there", "no fetched data is there"),
    "intentLocked": ("the intent is locked", "the intent is not locked"),
}
_OPS: Mapping[str, str] = {
    "==": "is",
    "!=": "is not",
    "<": "is below",
    "<=": "is at most",
    ">": "is above",
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
    """What a path asks as a condition, beginning in lower case; null for a path that does not parse.

    `root` is what stands before names of the document, where it is not the facts.
    """
    try:
        path = parse_path(text)
    except PathError:
        return None
    match path.steps:
        case (Where(condition),):
            return _condition(condition, root)
        case _ if path.filtered:
            return f"{excerpt(text, 2 * _SHOWN)} finds something"
    return _exists(path, root)


def noun(text: str) -> str:
    """What a path leads to, as people would call it; the path itself where it is no plain one."""
    try:
        return _noun(parse_path(text), "")
    except PathError:
        return text


def comparison_words(op: str) -> str:
    """A comparison as a sentence says it; one without words of its own as it is written."""
    return "matches" if op == "=~" else _OPS.get(op, op)


def value_words(value: Json) -> str:
    """A value as a sentence names it."""
    return excerpt(json.dumps(value, ensure_ascii=False), _SHOWN)


def act_words(act: str) -> str | None:
    """What the user does, such as "the user says yes"; null for no act."""
    found = DialogueAct.read(act)
    return f"the user {found.help[:1].lower()}{found.help[1:].rstrip('.')}" if found else None


def _condition(condition: Condition, root: str) -> str:
    match condition:
        case Every(terms):
            return " and ".join(_inner(term, root) for term in terms)
        case Either(terms):
            return "either " + " or ".join(_inner(term, root) for term in terms)
        case Not(Exists(path)):
            name = _noun(path, root)
            return _CLAIMS[name][1] if name in _CLAIMS else f"there is no {_bare(name)}"
        case Not(Matches(operand, _, pattern)):
            return f"{_operand(operand, root)} does not match {excerpt(pattern, _SHOWN)}"
        case Not(term):
            return f"it is not so that {_inner(term, root)}"
        case Matches(operand, _, pattern):
            return f"{_operand(operand, root)} matches {excerpt(pattern, _SHOWN)}"
        case Exists(path):
            return _exists(path, root)
        case Compare():
            return _compare(condition, root)


def _inner(term: Condition, root: str) -> str:
    words = _condition(term, root)
    return f"({words})" if isinstance(term, (Every, Either)) else words


def _compare(asked: Compare, root: str) -> str:
    name = _operand(asked.left, root)
    literal = asked.right.value if isinstance(asked.right, Literal) else ...
    if asked.op in ("==", "!="):
        equal = asked.op == "=="
        if name in _CLAIMS and isinstance(literal, bool):
            return _CLAIMS[name][0 if literal is equal else 1]
        if literal is None:
            return f"there is no {_bare(name)}" if equal else f"there is {_article(name)}"
        if equal and name == "the dialogue act" and (act := act_words(str(literal))):
            return act
    if asked.op == "empty" and isinstance(literal, bool):
        return f"{name} is empty" if literal else f"{name} is not empty"
    return f"{name} {_OPS.get(asked.op, asked.op)} {_operand(asked.right, root)}"


def _exists(path: Path, root: str) -> str:
    name = _noun(path, root)
    return _CLAIMS[name][0] if name in _CLAIMS else f"there is {_article(name)}"


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


def _noun(path: Path, root: str) -> str:
    names = [step.names[0] for step in path.steps if isinstance(step, Members) and len(step.names) == 1]
    if not names or len(names) < len(path.steps):
        return written(path)
    dotted = ".".join([*([root] if root else []), *names])
    if dotted in _NOUNS:
        return _NOUNS[dotted]
    match dotted.split("."):
        case ["context" | "schemaJson", *rest] if rest:
            return ".".join(rest)
        case ["inputParams", *rest] if rest:
            return f"input param {'.'.join(rest)}"
    return dotted


def _bare(name: str) -> str:
    return name.removeprefix("the ")


def _article(name: str) -> str:
    return f"a {_bare(name)}" if name.startswith("the ") else name
