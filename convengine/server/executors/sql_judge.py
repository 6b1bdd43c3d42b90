"""Check a parsed statement: every part of it must only read (tables 4.6, R71)."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from convengine.server.executors.sql_words import (
    SYNTAX,
    SYSTEM_PREFIXES,
    SYSTEM_SCHEMAS,
    Allowed,
    SqlRefused,
    parser_name,
)

if TYPE_CHECKING:
    from sqlglot import exp

_PLAIN = re.compile(r"[^\W\d]")
#: Node types of statements that do not only read, with the reason of the refusal.
_REFUSED: Mapping[str, str] = {
    "DDL": "it changes the database",
    "DML": "it changes the database",
    "Alter": "it changes the database",
    "Drop": "it changes the database",
    "TruncateTable": "it changes the database",
    "Merge": "it changes the database",
    "Into": "SELECT … INTO writes a table",
    "Lock": "FOR UPDATE and its kin lock rows",
    "Command": "it is no query",
    "Copy": "it copies files",
    "Pragma": "it changes the connection",
    "Set": "it changes the connection",
    "Attach": "it opens another database",
    "Operator": "OPERATOR(…) calls what nobody looked at",
    "SessionParameter": "it reads a setting of the server",
    "Parameter": "parameters are written :name",
    "ByteString": "E'…' can hide where it ends; write '…'",
    "HexString": "write a text as '…'",
    "BitString": "write a text as '…'",
    "UnicodeString": "U&'…' can hide where it ends; write '…'",
    "National": "N'…' can hide where it ends; write '…'",
}


def judge(tree: "exp.Expr", dialect: str, rules: Allowed) -> None:
    """Raises SqlRefused with the construct and the remedy."""
    from sqlglot import exp

    if not isinstance(tree, (exp.Select, exp.SetOperation)):
        raise SqlRefused(f"The statement must begin with SELECT or WITH; {tree.key.upper()} is no query.")
    for node in tree.walk():
        for kind in type(node).__mro__:
            if kind.__name__ in _REFUSED:
                raise SqlRefused(f"{node.key.upper()} is not allowed: {_REFUSED[kind.__name__]}. Take it out.")
        if isinstance(node, exp.Placeholder) and not isinstance(node.this, str):
            raise SqlRefused("? is not allowed: parameters are written :name. Name it.")
        if isinstance(node, exp.Identifier) and not node.quoted and not _PLAIN.match(node.name):
            raise SqlRefused(f"{node.name} is no name: parameters are written :name, odd names in quotation marks.")
        if isinstance(node, exp.Select) and not node.expressions:
            raise SqlRefused("There is a SELECT without anything to select. Name the columns.")
        if isinstance(node, (exp.CTE, exp.Subquery)) and not isinstance(node.this, (exp.Query, exp.Table, exp.Join)):
            raise SqlRefused(f"Only queries may stand in brackets or after WITH; {node.this.key.upper()} is none.")
        if isinstance(node, exp.Table):
            _judge_table(node, rules.tables)
    _judge_words(tree, dialect, rules)


def _judge_table(table: "exp.Table", listed: frozenset[str] | None) -> None:
    from sqlglot import exp

    if not isinstance(table.this, exp.Identifier):
        return  # A function instead of a table; functions are checked elsewhere.
    name, schema, catalog = table.name.lower(), table.db.lower(), table.catalog.lower()
    if not schema and name in _visible(table):
        return
    full = ".".join(part for part in (catalog, schema, name) if part)
    if listed is not None:
        if full not in listed:
            known = ", ".join(sorted(listed)) or "none"
            raise SqlRefused(
                f"The table {full} is not in the allowed tables ({known}); add it there if it may be read."
            )
    elif name.startswith(SYSTEM_PREFIXES) or schema in SYSTEM_SCHEMAS or schema.startswith(SYSTEM_PREFIXES):
        raise SqlRefused(f"{full} tells of the database itself; put it into the allowed tables if it may be read.")


def _visible(table: "exp.Table") -> Iterator[str]:
    """The WITH queries that an unqualified name can mean here.

    Inside a WITH query these are the ones before it, and itself if it is recursive.
    """
    from sqlglot import exp

    child: exp.Expr = table
    inside: exp.Expr | None = None
    clause: exp.With | None
    while (parent := child.parent) is not None:
        if isinstance(parent, exp.With):
            inside = child
        elif clause := next((part for part in parent.args.values() if isinstance(part, exp.With)), None):
            for query in clause.expressions:
                name: str = query.alias.lower()
                if inside is query:
                    if clause.args.get("recursive"):
                        yield name
                    break
                yield name
            inside = None
        child = parent


def _judge_words(tree: "exp.Expr", dialect: str, rules: Allowed) -> None:
    """Only allowed functions, no blocked word: read from the text that will run."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import TokenType

    plain = tree.copy()
    for alias in plain.find_all(exp.TableAlias):
        alias.set("columns", None)  # `t(a, b)` is not a call.
    tokens = Dialect.get_or_raise(parser_name(dialect)).tokenize(
        plain.sql(dialect=parser_name(dialect), comments=False)
    )
    for place, token in enumerate(tokens):
        word = token.text.lower()
        if token.token_type in (TokenType.STRING, TokenType.NUMBER):
            continue
        if token.token_type != TokenType.IDENTIFIER and word in rules.keywords:
            raise SqlRefused(f"The word {word.upper()} is blocked by a guardrail row. Take it out.")
        quoted = token.token_type == TokenType.IDENTIFIER
        if place + 1 == len(tokens) or tokens[place + 1].token_type != TokenType.L_PAREN:
            continue
        if not quoted and not _wordlike(token.text):
            continue
        if place and tokens[place - 1].token_type == TokenType.DOT:
            raise SqlRefused(f"{word} is called through a schema; call functions by their bare names.")
        if word in rules.functions or (not quoted and word in SYNTAX):
            continue
        raise SqlRefused(
            f"The function {word} is not allowed. If it changes nothing and waits for nothing, a guardrail row "
            "ALLOW_FUNCTION can allow it."
        )


def _wordlike(text: str) -> bool:
    return text[:1].isalpha() or text[:1] in '_"$#@' or (bool(text) and not text[:1].isascii())
