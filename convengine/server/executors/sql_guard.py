"""Check the statement of a database tool by its parse tree: one read-only query (pipeline-2 4.7, R71).

The statement that runs is generated from the checked tree, so that no comment, quotation or other trick can change it.
This is defence in depth: the boundary is the read-only login.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import GuardrailType
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.executors.sql_judge import judge
from convengine.server.executors.sql_words import FUNCTIONS, Allowed, SqlRefused, parser_name

if TYPE_CHECKING:
    from sqlglot import exp

Json = Any
NOT_READONLY = "SQL_NOT_READONLY"
_IDENTIFIER = re.compile(r"\$\{([^}]*)\}")
_SHAPE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", re.ASCII)
_LONGEST = 20_000


class Readable(NamedTuple):
    """A checked statement to run: `:name` on SQLite, `$1` elsewhere."""

    sql: str
    #: The names of its parameters, in order for `$n`.
    params: tuple[str, ...]


def list_allowed_names(snapshot: Snapshot, tool: rows.DbTool) -> Allowed:
    """What a tool's statement may use. Blocking wins."""
    found: dict[str, set[str]] = {kind.value: set() for kind in GuardrailType}
    for row in snapshot.enabled_rows(rows.SqlGuardrail):
        found.setdefault(code(row.rule_type), set()).add(row.match_value.strip().lower())
    functions = (FUNCTIONS | found[GuardrailType.ALLOW_FUNCTION]) - found[GuardrailType.BLOCK_FUNCTION]
    listed = tool.allowed_tables
    tables = frozenset(str(name).strip().lower() for name in listed) if isinstance(listed, (list, tuple)) else None
    return Allowed(functions, frozenset(found[GuardrailType.BLOCK_KEYWORD]), tables)


def identifiers(template: str) -> frozenset[str]:
    """The names of `${name}` in a template."""
    return frozenset(name.strip() for name in _IDENTIFIER.findall(template))


def is_name(value: str) -> bool:
    """True for name or schema.name of letters, digits and underscore."""
    return _SHAPE.fullmatch(value) is not None


def fill_identifiers(template: str, values: Mapping[str, Json], lists: Json) -> str:
    """The template with each `${name}` replaced. Raises SqlRefused for a value of another form, or one that is not
    listed.

    `lists` holds the allowed values by name; a name without a list has none.
    """

    def replace_name(match: "re.Match[str]") -> str:
        name = match[1].strip()
        value, listed = values.get(name), lists.get(name) if isinstance(lists, Mapping) else None
        if not isinstance(value, str) or not is_name(value):
            raise SqlRefused(f"${{{name}}} must be a name or schema.name of letters, digits and _, not {value!r}.")
        if not isinstance(listed, (list, tuple)) or value not in listed:
            raise SqlRefused(
                f"{value} is not in the allowed identifiers of ${{{name}}}; add it there if it may be used."
            )
        return value

    return _IDENTIFIER.sub(replace_name, template)


@lru_cache(maxsize=512)
def readable(sql: str, dialect: str, rules: Allowed, safe: bool = True) -> Readable:
    """The statement to run. Raises SqlRefused.

    Without `safe` only its parameters, and that it is one statement, are checked.
    """
    if "\x00" in sql or len(sql) > _LONGEST:
        raise SqlRefused(f"A statement has at most {_LONGEST} characters and no NUL.")
    try:
        tree = _parse_sql(sql, dialect)
        if safe:
            judge(tree, dialect, rules)
        return _write_sql(tree, dialect)
    except RecursionError:
        raise SqlRefused("The statement is nested too deeply; write it flatter.") from None


def parameters(sql: str, dialect: str) -> frozenset[str]:
    """The names of its `:name` parameters; none for a statement that does not parse."""
    from sqlglot import exp

    try:
        tree = _parse_sql(sql, dialect)
    except (SqlRefused, RecursionError):
        return frozenset()
    return frozenset(node.name for node in tree.find_all(exp.Placeholder))


def _parse_sql(sql: str, dialect: str) -> "exp.Expr":
    import logging

    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    # It warns about commands, which are refused anyway.
    logging.getLogger("sqlglot").setLevel(logging.ERROR)
    try:
        parsed = sqlglot.parse(sql, dialect=parser_name(dialect))
    except SqlglotError as error:
        text = re.sub(r"\x1b\[\d*m", "", str(error)).split("\n")[0]
        raise SqlRefused(f"The statement does not parse: {text}") from None
    found = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if not found:
        raise SqlRefused("There is no statement. Write one that begins with SELECT or WITH.")
    if len(found) > 1:
        raise SqlRefused("There may be only one statement. Take out what stands behind the semicolon.")
    return found[0]


def _write_sql(tree: "exp.Expr", dialect: str) -> Readable:
    from sqlglot import exp

    name = parser_name(dialect)
    found = list(dict.fromkeys(node.name for node in tree.find_all(exp.Placeholder)))
    if name == "sqlite":
        return Readable(tree.sql(dialect=name, comments=False), tuple(found))
    numbered = tree.transform(
        lambda node: (
            exp.Parameter(this=exp.Literal.number(found.index(node.name) + 1))
            if isinstance(node, exp.Placeholder)
            else node
        )
    )
    return Readable(numbered.sql(dialect=name, comments=False), tuple(found))


__all__ = [
    "NOT_READONLY",
    "Allowed",
    "Readable",
    "SqlRefused",
    "fill_identifiers",
    "identifiers",
    "is_name",
    "list_allowed_names",
    "parameters",
    "readable",
]
