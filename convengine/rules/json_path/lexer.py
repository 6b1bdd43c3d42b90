"""The words of the JSON path dialect: jsonpath-ng's lexer with the words that the dialect adds (R7)."""

from collections.abc import Iterator
from typing import Any, Never

from jsonpath_ng._ply import lex
from jsonpath_ng.ext.parser import ExtendedJsonPathLexer

from convengine.rules.json_path.nodes import PathError

#: Brackets, groups and lists may stand inside one another this deep.
MAX_NESTING = 32
WORD_OPERATORS = ("in", "nin", "contains", "anyof", "noneof", "subsetof", "all", "size", "empty")
_WORDS = {
    **{operator: ("WORD_OP", operator) for operator in WORD_OPERATORS},
    "true": ("BOOL", True),
    "false": ("BOOL", False),
    "null": ("NULL", None),
}
_LEFT_OUT = ("t_backquote", "t_BOOL", "t_NUMBER", "t_SORT_DIRECTION")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescaped(text: str) -> str:
    return chr(int(text[2:], 16)) if len(text) > 2 else _ESCAPES.get(text[1], text[1])


class DialectLexer(ExtendedJsonPathLexer):
    """Reads a path word by word.

    PLY tries the rules below in the order in which they stand, and takes each one's docstring as its pattern. The
    rules for quoted texts are inherited.
    """

    literals = ["*", ".", "[", "]", "(", ")", "$", ",", ":", "?", "@", "!"]
    tokens = ["DOUBLEDOT", "AND", "OR", "FILTER_OP", "WORD_OP", "REGEX", "METHOD", "ID"]
    tokens += ["STRING", "INT", "FLOAT", "BOOL", "NULL"]
    states = [("singlequote", "exclusive"), ("doublequote", "exclusive")]
    t_ignore = " \t\r"
    t_FILTER_OP = r"==|!=|<=|>=|<|>"

    def t_REGEX(self, t: Any) -> Any:
        r"=~\s*/(?:[^/\\\n]|\\.)*/[a-zA-Z]*"
        return t

    def t_METHOD(self, t: Any) -> Any:
        r"(?:length|size)\s*\(\s*\)"
        return t

    def t_ID(self, t: Any) -> Any:
        r"[^\W\d][\w\-]*"
        # A word after a dot is a name, whatever else it may mean.
        if not t.lexer.lexdata[: t.lexpos].rstrip().endswith("."):
            t.type, t.value = _WORDS.get(t.value, ("ID", t.value))
        return t

    def t_FLOAT(self, t: Any) -> Any:
        r"-?\d+(?:\.\d+(?:[eE][+\-]?\d+)?|[eE][+\-]?\d+)"
        t.value = float(t.value)
        return t

    def t_INT(self, t: Any) -> Any:
        r"-?\d+"
        if len(t.value) > 30:
            raise PathError("the number is too long", t.lexpos + 1)
        t.value = int(t.value)
        return t

    def t_singlequote_escape(self, t: Any) -> None:
        r"\\u[0-9a-fA-F]{4}|\\."
        t.lexer.string_value += _unescaped(t.value)

    def t_doublequote_escape(self, t: Any) -> None:
        r"\\u[0-9a-fA-F]{4}|\\."
        t.lexer.string_value += _unescaped(t.value)

    def t_singlequote_end(self, t: Any) -> Any:
        r"'"
        return self._string(t)

    def t_doublequote_end(self, t: Any) -> Any:
        r'"'
        return self._string(t)

    def _string(self, t: Any) -> Any:
        t.type, t.value = "STRING", t.lexer.string_value
        t.lexer.string_value = None
        t.lexer.pop_state()
        return t

    def t_error(self, t: Any) -> Never:
        """Refuse a character that begins no word."""
        raise PathError(f"unexpected {t.value[0]!r}", t.lexpos + 1)

    def __dir__(self) -> list[str]:
        # PLY collects the rules from here; these are words that the dialect does not have.
        return [name for name in super().__dir__() if not name.startswith(_LEFT_OUT)]

    def tokenize(self, string: str) -> Iterator[Any]:
        """The words of a text. Raises PathError."""
        lexer = _MASTER.clone()
        lexer.lexstatestack, lexer.latest_newline, lexer.string_value = [], 0, None
        lexer.begin("INITIAL")
        lexer.input(string)
        depth = 0
        while token := lexer.token():
            depth += (token.type in "[(") - (token.type in "])")
            if depth > MAX_NESTING:
                raise PathError(f"it is nested deeper than {MAX_NESTING}", token.lexpos + 1)
            yield token
        if lexer.string_value is not None:
            raise PathError("a quoted text does not end", len(string) + 1)


#: Built once; each text is read by a copy. Without a table name nothing is looked for or written on disk.
_MASTER = lex.lex(module=DialectLexer(), optimize=True, lextab="")  # type: ignore[no-untyped-call]
