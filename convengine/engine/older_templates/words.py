"""The tokens of template expressions: those of Jinja2 and those of the older forms (pipeline-2 9.5)."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass


class ExpressionError(ValueError):
    """An expression that cannot be or must not be translated to Jinja2."""


@dataclass(frozen=True)
class Token:
    """A token: `kind` is string, number, name or op."""

    kind: str
    text: str


_TOKEN = re.compile(
    r"\s*(?:(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<op>\?:|\?\.|&&|\|\||==|!=|<=|>=|//|\*\*|[-+*/%~|!<>?:.,()\[\]{}=#@]))",
    re.DOTALL,
)
WORDS = {
    "eq": "==", "ne": "!=", "gt": ">", "lt": "<", "ge": ">=", "le": "<=", "div": "/", "mod": "%", "null": "none",
    "nil": "none",
}  # fmt: skip
SIGNS = {"&&": "and", "||": "or"}
#: Methods of the older forms: their Jinja2 for a receiver and its arguments.
METHODS: Mapping[str, tuple[int, Callable[..., str]]] = {
    "size": (0, lambda it: f"{it}|length"),
    "length": (0, lambda it: f"{it}|length"),
    "toUpperCase": (0, lambda it: f"{it}|upper"),
    "toLowerCase": (0, lambda it: f"{it}|lower"),
    "trim": (0, lambda it: f"{it}|trim"),
    "toString": (0, lambda it: f"{it}|string"),
    "isEmpty": (0, lambda it: f"({it} is blank)"),
    "isBlank": (0, lambda it: f"({it} is blank)"),
    "contains": (1, lambda it, part: f"({part} in {it})"),
    "containsKey": (1, lambda it, part: f"({part} in {it})"),
    "equals": (1, lambda it, other: f"({it} == {other})"),
    "equalsIgnoreCase": (1, lambda it, other: f"({it}|lower == {other}|lower)"),
    "startsWith": (1, lambda it, part: f"{it}.startswith({part})"),
    "endsWith": (1, lambda it, part: f"{it}.endswith({part})"),
    "replace": (2, lambda it, old, new: f"{it}|replace({old}, {new})"),
}
#: `#strings.isEmpty(x)` and the like: the helper's method, applied to its first argument.
HELPERS = frozenset({"strings", "lists", "maps", "sets", "arrays"})


def is_older(text: str) -> bool:
    """True when the expression contains older syntax."""
    previous = ""
    for token in tokens(text):
        if token.kind == "op" and (token.text in ("?:", "?.", "?", "&&", "||", "!", "#", "@")):
            return True
        if token.kind == "name" and (token.text in WORDS or token.text in ("new", "T") or _is_method(token, previous)):
            return True
        if "+" in (token.text, previous) and "string" in (token.kind, _kind(previous)):
            return True
        previous = token.text
    return False


def _is_method(token: Token, previous: str) -> bool:
    return previous == "." and token.text in METHODS


def _kind(text: str) -> str:
    return "string" if text[:1] in ("'", '"') else ""


def tokens(text: str) -> Iterator[Token]:
    """The tokens of an expression. Raises ExpressionError."""
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise ExpressionError(f"unexpected {text[position:].strip()[:1]!r}")
        yield Token(match.lastgroup, match[match.lastgroup])
        position = match.end()
