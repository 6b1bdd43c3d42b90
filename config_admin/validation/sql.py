"""Reading SQL templates at save: what is a word, what a text, what a parameter (tables 4.4, 4.6; R71).

A scan, not a parser: it judges words outside of texts and comments. What runs is judged again, by the tree.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<text>'(?:[^']|'')*'|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
      | (?P<cast>::)
      | :(?P<param>[A-Za-z_]\w*)
      | \$\{(?P<identifier>[^}]*)\}
      | (?P<word>[A-Za-z_]\w*)
      | "(?P<quoted>(?:[^"]|"")*)"
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)

BLOCKED_WORDS = frozenset(
    {
        "insert", "update", "delete", "drop", "truncate", "alter", "create", "merge", "grant", "revoke", "comment",
        "vacuum", "analyze", "call", "execute", "do", "copy", "refresh", "reindex", "cluster", "discard", "lock",
    }
)  # fmt: skip
FUNCTIONS = frozenset(
    {
        "abs", "avg", "ceil", "ceiling", "coalesce", "concat", "count", "current_date", "current_time",
        "current_timestamp", "date_trunc", "extract", "floor", "greatest", "least", "length", "lower", "ltrim",
        "max", "min", "now", "nullif", "replace", "round", "rtrim", "split_part", "string_agg", "substring",
        "substr", "sum", "to_char", "to_date", "to_timestamp", "trim", "upper",
    }
)  # fmt: skip
#: Words that may stand before a bracket without being a function.
_SYNTAX = frozenset(
    {
        "in", "exists", "any", "all", "some", "and", "or", "not", "on", "using", "as", "over", "filter", "from",
        "where", "select", "distinct", "case", "when", "then", "else", "end", "values", "cast", "interval", "by",
        "with", "join", "lateral", "union", "intersect", "except", "having", "limit", "offset", "between", "like",
        "ilike", "is", "array", "row", "materialized", "numeric", "decimal", "varchar", "char", "character",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """A scanned template: its tokens as (kind, text), comments and white space left out, words in lower case."""

    tokens: Sequence[tuple[str, str]]

    @property
    def params(self) -> frozenset[str]:
        """The names of `:name` parameters."""
        return frozenset(text for kind, text in self.tokens if kind == "param")

    @property
    def identifiers(self) -> frozenset[str]:
        """The names of `${name}` identifiers."""
        return frozenset(text.strip() for kind, text in self.tokens if kind == "identifier")

    @property
    def words(self) -> Sequence[str]:
        """The bare words: neither texts nor quoted names."""
        return [text for kind, text in self.tokens if kind == "word"]

    @property
    def functions(self) -> Iterator[str]:
        """The names that are called."""
        for (kind, text), (_, follower) in zip(self.tokens, self.tokens[1:], strict=False):
            if follower == "(" and (kind == "quoted" or (kind == "word" and text not in _SYNTAX)):
                yield text


def scan(sql: str) -> Statement:
    """The tokens of a template; one trailing semicolon is left out."""
    tokens = []
    for match in _TOKEN.finditer(sql):
        kind = match.lastgroup
        if kind and kind != "space":
            tokens.append((kind, match[kind].lower() if kind in ("word", "quoted") else match[kind]))
    return Statement(tokens[:-1] if tokens and tokens[-1][1] == ";" else tokens)


def writes(
    statement: Statement, *, keywords: Collection[str], allowed: Collection[str], blocked: Collection[str]
) -> str:
    """Why the statement is not read-only; blank when nothing speaks against it.

    `keywords`, `allowed` and `blocked` are the values of the guardrail rows; blocking wins.
    """
    words, symbols = statement.words, [text for kind, text in statement.tokens if kind == "other"]
    if not statement.tokens:
        return "There is no statement"
    if ";" in symbols:
        return "There may be only one statement"
    if "'" in symbols or '"' in symbols:
        return "A quotation mark is not closed"
    if statement.tokens[0] not in (("word", "select"), ("word", "with")):
        return "The statement must begin with SELECT or WITH"
    if "into" in words:
        return "SELECT … INTO writes a table"
    for word in words:
        if word in BLOCKED_WORDS or word in keywords:
            return f"The word {word.upper()} is not allowed"
    for name in statement.functions:
        if name in blocked or name not in FUNCTIONS | set(allowed):
            return f"The function {name} is not allowed; a row ALLOW_FUNCTION can allow one that changes nothing"
    return ""
