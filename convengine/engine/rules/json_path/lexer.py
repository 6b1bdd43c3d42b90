"""The tokens of the JSON path dialect, for the parser of jsonpath-ng."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jsonpath_ng.ext.parser import ExtendedJsonPathLexer

from convengine.engine.rules.json_path.nodes import PathError

#: Maximum nesting of brackets, groups and lists.
MAX_NESTING = 32
WORD_OPERATORS = ("in", "nin", "contains", "anyof", "noneof", "subsetof", "all", "size", "empty")
_WORDS: dict[str, tuple[str, Any]] = {
    **{operator: ("WORD_OP", operator) for operator in WORD_OPERATORS},
    "true": ("BOOL", True),
    "false": ("BOOL", False),
    "null": ("NULL", None),
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
#: The first alternative that fits wins; the name of its group is the token's type.
_TOKEN = re.compile(
    r"""(?P<BLANK>[ \t\r\n]+)
    | (?P<REGEX>=~\s*/(?:[^/\\\n]|\\.)*/[a-zA-Z]*)
    | (?P<METHOD>(?:length|size)\s*\(\s*\))
    | (?P<ID>[^\W\d][\w\-]*)
    | (?P<FLOAT>-?\d+(?:\.\d+(?:[eE][+\-]?\d+)?|[eE][+\-]?\d+))
    | (?P<INT>-?\d+)
    | (?P<STRING>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<UNENDED>['"])
    | (?P<FILTER_OP>==|!=|<=|>=|<|>)
    | (?P<DOUBLEDOT>\.\.)
    | (?P<AND>&&)
    | (?P<OR>\|\|)
    | (?P<LITERAL>[*.\[\]()$,:?@!])
    | (?P<UNKNOWN>.)""",
    re.VERBOSE,
)


@dataclass
class Token:
    """One token, with the names that the parser reads."""

    type: str
    value: Any
    lexpos: int


class DialectLexer(ExtendedJsonPathLexer):
    """Splits a path into tokens."""

    tokens = ["DOUBLEDOT", "AND", "OR", "FILTER_OP", "WORD_OP", "REGEX", "METHOD", "ID"]
    tokens += ["STRING", "INT", "FLOAT", "BOOL", "NULL"]

    def tokenize(self, string: str) -> Iterator[Any]:
        """The tokens of a text. Raises PathError."""
        depth = 0
        for match in _TOKEN.finditer(string):
            if match.lastgroup == "BLANK":
                continue
            token = _read_token(match)
            depth += (token.type in "[(") - (token.type in "])")
            if depth > MAX_NESTING:
                raise PathError(f"it is nested deeper than {MAX_NESTING}", token.lexpos + 1)
            yield token


def _read_token(match: re.Match[str]) -> Token:
    kind, text, start = match.lastgroup or "", match[0], match.start()
    value: Any = text
    if kind == "LITERAL":
        kind = text
    elif kind == "ID":
        # A word after a dot is always a name.
        if not match.string[:start].rstrip().endswith("."):
            kind, value = _WORDS.get(text, (kind, text))
    elif kind == "FLOAT":
        value = float(text)
    elif kind == "INT":
        if len(text) > 30:
            raise PathError("the number is too long", start + 1)
        value = int(text)
    elif kind == "STRING":
        value = _ESCAPE.sub(_unescape, text[1:-1])
    elif kind == "UNENDED":
        raise PathError("a quoted text does not end", len(match.string) + 1)
    elif kind == "UNKNOWN":
        raise PathError(f"unexpected {text!r}", start + 1)
    return Token(kind, value, start)


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPES.get(match[2], match[2])
