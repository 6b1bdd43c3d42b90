"""The grammar of the JSON path dialect, on jsonpath-ng's parser.

Every method named p_… is a production: its docstring is the grammar rule, its body makes the node.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import Any, Never, cast

from jsonpath_ng.ext.parser import ExtendedJsonPathLexer, ExtendedJsonPathParser

from convengine.engine.rules.conditions.nodes import (
    Children,
    Comparison,
    Condition,
    Descendants,
    Elements,
    Exists,
    Group,
    Length,
    Literal,
    Members,
    Path,
    PathError,
    Slice,
    Where,
)
from convengine.engine.rules.conditions.operators import PATH_OPERATORS
from convengine.engine.rules.conditions.values import shorten_value
from convengine.engine.rules.patterns import PatternError, compile_pattern

#: Maximum nesting of brackets, groups and lists.
MAX_NESTING = 32
_WORDS: dict[str, tuple[str, Any]] = {
    **{name: ("WORD_OP", name) for name in PATH_OPERATORS if name.isalpha()},
    "true": ("BOOL", True),
    "false": ("BOOL", False),
    "null": ("NULL", None),
}
_ESCAPE = re.compile(r"((?:\\u[0-9a-fA-F]{4})+)|\\(.)")
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
class PathToken:
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


def _read_token(match: re.Match[str]) -> PathToken:
    """The token of a match of `_TOKEN`, with its value. Raises PathError for what cannot begin one."""
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
    return PathToken(kind, value, start)


def _unescape(match: re.Match[str]) -> str:
    """The text of an escape: of several `\\u…` in a row together, because two of them may be one letter."""
    if match[1]:
        return bytes.fromhex(match[1].replace("\\u", "")).decode("utf-16-be", "surrogatepass")
    return _ESCAPES.get(match[2], match[2])


MAX_LENGTH = 2000
_FLAGS = frozenset("ism")


class DialectParser(ExtendedJsonPathParser):
    """Parses a path into a `Path`. Not thread-safe."""

    tokens = DialectLexer.tokens
    precedence = [("left", "OR"), ("left", "AND"), ("right", "!")]
    #: No such module exists: the tables are made when the first path is read, in 12 ms, and are not written.
    _ply_table_module = "convengine.engine.rules.conditions.parser_table"

    def __init__(self) -> None:
        super().__init__(lexer_class=DialectLexer)

    def __dir__(self) -> list[str]:
        # PLY collects the productions from here. Those of jsonpath-ng would accept what the dialect refuses:
        # arithmetic, sorting, unquoted texts.
        return list(vars(DialectParser))

    def p_error(self, t: Any) -> Never:
        """Refuse a syntax error; `parse_path` handles the end of the text."""
        if t is None:
            raise PathError("it ends too early", 0)
        raise PathError(f"unexpected {t.value!r}", t.lexpos + 1)

    # --- paths --------------------------------------------------------------------------------------------------

    def p_jsonpath_root(self, p: Any) -> None:
        """jsonpath : '$'"""
        p[0] = Path()

    def p_jsonpath_bare_name(self, p: Any) -> None:
        """jsonpath : ID"""
        p[0] = Path((Members((p[1],)),))

    def p_jsonpath_segment(self, p: Any) -> None:
        """jsonpath : jsonpath segment"""
        p[0] = p[1].then(*p[2])

    def p_query_root(self, p: Any) -> None:
        """query : '$'"""
        p[0] = Path()

    def p_query_self(self, p: Any) -> None:
        """query : '@'"""
        p[0] = Path(from_root=False)

    def p_query_segment(self, p: Any) -> None:
        """query : query segment"""
        p[0] = p[1].then(*p[2])

    def p_segment_child(self, p: Any) -> None:
        """segment : '.' child
        | bracket
        """
        p[0] = (p[len(p) - 1],)

    def p_segment_descendant(self, p: Any) -> None:
        """segment : DOUBLEDOT child
        | DOUBLEDOT bracket
        """
        p[0] = (Descendants(), p[2])

    def p_child_name(self, p: Any) -> None:
        """child : ID"""
        p[0] = Members((p[1],))

    def p_child_any(self, p: Any) -> None:
        """child : '*'"""
        p[0] = Children()

    def p_bracket_any(self, p: Any) -> None:
        """bracket : '[' '*' ']'"""
        p[0] = Children()

    def p_bracket_names(self, p: Any) -> None:
        """bracket : '[' names ']'"""
        p[0] = Members(p[2])

    def p_bracket_indexes(self, p: Any) -> None:
        """bracket : '[' indexes ']'"""
        p[0] = Elements(p[2])

    def p_bracket_slice(self, p: Any) -> None:
        """bracket : '[' maybe_int ':' maybe_int ']'
        | '[' maybe_int ':' maybe_int ':' maybe_int ']'
        """
        step = p[6] if len(p) == 8 else None
        if step == 0:
            raise PathError("a slice needs a step other than 0", p.lexpos(1) + 1)
        p[0] = Slice(p[2], p[4], step)

    def p_bracket_filter(self, p: Any) -> None:
        """bracket : '[' '?' condition ']'"""
        p[0] = Where(p[3])

    def p_names(self, p: Any) -> None:
        """names : STRING
        | names ',' STRING
        """
        p[0] = _append(p)

    def p_indexes(self, p: Any) -> None:
        """indexes : INT
        | indexes ',' INT
        """
        p[0] = _append(p)

    def p_maybe_int(self, p: Any) -> None:
        """maybe_int : INT
        | empty
        """
        p[0] = p[1]

    def p_empty(self, p: Any) -> None:
        """empty :"""
        p[0] = None

    # --- conditions ---------------------------------------------------------------------------------------------

    def p_condition_or(self, p: Any) -> None:
        """condition : condition OR condition"""
        p[0] = _join("or", p[1], p[3])

    def p_condition_and(self, p: Any) -> None:
        """condition : condition AND condition"""
        p[0] = _join("and", p[1], p[3])

    def p_condition_not(self, p: Any) -> None:
        """condition : '!' condition"""
        p[0] = _negate(p[2])

    def p_condition_group(self, p: Any) -> None:
        """condition : '(' condition ')'"""
        p[0] = p[2]

    def p_condition_exists(self, p: Any) -> None:
        """condition : query"""
        p[0] = Exists(p[1])

    def p_condition_compare(self, p: Any) -> None:
        """condition : operand FILTER_OP operand
        | operand WORD_OP operand
        """
        p[0] = Comparison(p[1], PATH_OPERATORS[p[2]], p[3])

    def p_condition_regex(self, p: Any) -> None:
        """condition : operand REGEX"""
        p[0] = _make_match(p[1], p[2], p.lexpos(2) + 1)

    def p_operand_path(self, p: Any) -> None:
        """operand : query
        | literal
        """
        p[0] = p[1]

    def p_operand_length(self, p: Any) -> None:
        """operand : query '.' METHOD"""
        p[0] = Length(p[1])

    def p_literal(self, p: Any) -> None:
        """literal : STRING
        | INT
        | FLOAT
        | BOOL
        | NULL
        """
        p[0] = Literal(p[1])

    def p_literal_list(self, p: Any) -> None:
        """literal : '[' ']'
        | '[' literals ']'
        """
        p[0] = Literal([literal.value for literal in p[2]] if len(p) == 4 else [])

    def p_literals(self, p: Any) -> None:
        """literals : literal
        | literals ',' literal
        """
        p[0] = _append(p)


def _append(p: Any) -> tuple[Any, ...]:
    return (p[1],) if len(p) == 2 else (*p[1], p[3])


def _join(combinator: str, *conditions: Condition) -> Group:
    """All or any of some conditions; a group of the same kind is taken apart."""
    members: list[Condition] = []
    for each in conditions:
        same = isinstance(each, Group) and not each.negated and each.combinator == combinator
        members += each.members if same and isinstance(each, Group) else [each]
    return Group(combinator, False, tuple(members))


def _negate(condition: Condition) -> Condition:
    """The opposite of a condition; two negations around a single member cancel out."""
    if not isinstance(condition, Group):
        return Group("and", True, (condition,))
    if condition.negated and len(condition.members) == 1:
        return condition.members[0]
    return replace(condition, negated=not condition.negated)


def _make_match(operand: Any, token: str, position: int) -> Comparison:
    """The comparison `operand =~ /pattern/flags`. Raises PathError for an unknown flag or an invalid pattern."""
    written = token[2:].lstrip()
    pattern, _, flags = written[1:].rpartition("/")
    if unknown := set(flags) - _FLAGS:
        raise PathError(f"unknown flag {min(unknown)!r} after /{pattern}/", position)
    inline = "".join(sorted(set(flags) - {"i"}))
    try:
        compiled = compile_pattern(f"(?{inline})" * bool(inline) + pattern, ignore_case="i" in flags)
    except PatternError as error:
        raise PathError(f"/{pattern}/ does not compile: {error.reason}", position) from None
    return Comparison(operand, PATH_OPERATORS["=~"], Literal(compiled, shorten_value(written)))


_LOCK = Lock()


@cache
def _parser() -> DialectParser:
    return DialectParser()


def parse_path(text: str) -> Path:
    """Parse a path. Raises PathError."""
    if len(text) > MAX_LENGTH:
        raise PathError(f"it is longer than {MAX_LENGTH} characters", MAX_LENGTH + 1)
    with _LOCK:
        try:
            return cast(Path, _parser().parse(text))
        except PathError as error:
            raise PathError(error.reason, error.position or len(text) + 1) from None
