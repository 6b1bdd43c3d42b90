"""Check the statement of a database tool by its parse tree: one read-only query.

The statement that runs is generated from the checked tree, so that no comment, quotation or other trick can change it.
This is defence in depth: the boundary is the read-only login.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from convengine.engine.extras import describe_missing
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.enums import GuardrailType, SqlDialect
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json

if TYPE_CHECKING:
    from sqlglot import exp

#: Functions that change nothing and wait for nothing. Rows ALLOW_FUNCTION add to them, rows BLOCK_FUNCTION remove some.
FUNCTIONS = frozenset(
    {
        "abs", "avg", "ceil", "ceiling", "coalesce", "concat", "count", "current_date", "current_time",
        "current_timestamp", "date_trunc", "extract", "floor", "greatest", "least", "length", "lower", "ltrim",
        "max", "min", "now", "nullif", "replace", "round", "rtrim", "split_part", "string_agg", "substring",
        "substr", "sum", "to_char", "to_date", "to_timestamp", "trim", "upper",
        # The parser's spelling of some of these for a dialect.
        "group_concat", "listagg", "nvl", "trunc", "btrim", "cast", "try_cast",
    }
)  # fmt: skip
#: Words before a bracket that are not functions.
SYNTAX = frozenset(
    {
        "all", "and", "any", "array", "as", "between", "by", "case", "cube", "distinct", "else", "except", "exists",
        "fetch", "filter", "from", "group", "group by", "grouping", "grouping sets", "having", "ilike", "in",
        "intersect", "interval", "is", "join", "lateral", "like", "limit", "materialized", "next", "not", "offset",
        "on", "or", "order by", "over", "partition", "partition by", "recursive", "rollup", "row", "rows", "select",
        "sets", "some", "then", "union", "unnest", "using", "values", "when", "where", "with", "within",
        # types with a length
        "bit", "bpchar", "char", "character", "dec", "decimal", "nchar", "numeric", "number", "nvarchar", "nvarchar2",
        "text", "time", "timestamp", "timestamptz", "timetz", "varbit", "varchar", "varchar2", "varying",
    }
)  # fmt: skip
#: System tables by prefix, and schemas of such tables.
SYSTEM_PREFIXES = ("pg_", "sqlite_", "pragma_", "dba_", "v$", "user$", "sys_")
#: Functions that are called without brackets, also in the place of a table.
_CALLED_WITHOUT_BRACKETS = frozenset(
    {
        "current_catalog", "current_date", "current_role", "current_schema", "current_time", "current_timestamp",
        "current_user", "localtime", "localtimestamp", "session_user", "system_user", "user",
    }
)  # fmt: skip
SYSTEM_SCHEMAS = frozenset({"pg_catalog", "information_schema", "pg_toast", "sys", "system"})
_DIALECTS = {SqlDialect.POSTGRES: "postgres", SqlDialect.SQLITE: "sqlite", SqlDialect.ORACLE: "oracle"}


class SqlRefused(ValueError):
    """The statement may not run; the message has the construct and the remedy."""


@dataclass(frozen=True)
class Allowed:
    """The guardrail rows of a release, and the tables of one tool. All names in lower case."""

    functions: frozenset[str] = FUNCTIONS
    keywords: frozenset[str] = frozenset()
    #: None for all tables of the login except system tables.
    tables: frozenset[str] | None = None


def parser_name(dialect: str) -> str:
    return _DIALECTS.get(SqlDialect.read(dialect) or SqlDialect.POSTGRES, "postgres")


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
    "Command": "it is not a query",
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
    """Raises SqlRefused, with the construct and the remedy, for a tree that is not one query that only reads.

    It may use only the functions and tables of `rules`, and none of their blocked words.
    """
    from sqlglot import exp

    if not isinstance(tree, (exp.Select, exp.SetOperation)):
        raise SqlRefused(f"The statement must begin with SELECT or WITH. {tree.key.upper()} is not a query.")
    for node in tree.walk():
        for kind in type(node).__mro__:
            if kind.__name__ in _REFUSED:
                raise SqlRefused(f"{node.key.upper()} is not allowed: {_REFUSED[kind.__name__]}. Remove it.")
        if isinstance(node, exp.Placeholder) and not isinstance(node.this, str):
            raise SqlRefused("? is not allowed. Write parameters as :name.")
        if isinstance(node, exp.Identifier) and not node.quoted and not _PLAIN.match(node.name):
            raise SqlRefused(
                f"{node.name} is not a name. Write parameters as :name, and put unusual names in quotation marks."
            )
        if isinstance(node, exp.Select) and not node.expressions:
            raise SqlRefused("A SELECT has no columns. Name the columns.")
        if isinstance(node, (exp.CTE, exp.Subquery)) and not isinstance(node.this, (exp.Query, exp.Table, exp.Join)):
            raise SqlRefused(f"Brackets and WITH may contain only queries; {node.this.key.upper()} is not a query.")
        if isinstance(node, exp.Dot) and not isinstance(node.expression, (exp.Star, exp.Func)):
            raise SqlRefused(
                f"{node.sql()} is not allowed: PostgreSQL reads it as a call of the function {node.expression.name}. "
                "Name the column without brackets, or make a view."
            )
        if isinstance(node, exp.Table):
            _judge_table(node, rules.tables)
    _judge_qualified_columns(tree)
    _judge_words(tree, dialect, rules)


def _judge_qualified_columns(tree: "exp.Expr") -> None:
    """`t.name` is a column of a table, a query or VALUES. Of anything else it may be the function `name` of `t`."""
    from sqlglot import exp

    relations, columns_of = _read_sources(tree)
    for column in tree.find_all(exp.Column):
        of, name = column.table.lower(), column.name.lower()
        if not of or isinstance(column.this, exp.Star) or of in relations or name in columns_of.get(of, ()):
            continue
        known = ", ".join(sorted(f"{of}.{each}" for each in columns_of.get(of, ())))
        raise SqlRefused(
            f"{of}.{name} is not allowed: {of} is not a table of the statement, so {name} may be a function. "
            + (f"Its columns are {known}; name more as AS {of}(…)." if known else "Name a table or its alias.")
        )


def _read_sources(tree: "exp.Expr") -> tuple[set[str], dict[str, set[str]]]:
    """The names of tables and queries, and by alias the columns of functions that are used as tables."""
    from sqlglot import exp

    relations: set[str] = set()
    #: By alias: the columns that it names, else one with its name.
    columns_of: dict[str, set[str]] = {}
    for source in tree.find_all(exp.Table, exp.Subquery, exp.Values, exp.Unnest, exp.Lateral):
        alias, queried = source.alias.lower(), source.this
        is_relation = isinstance(source, exp.Values) or (
            not isinstance(source, exp.Unnest)
            and (isinstance(queried, (exp.Query, exp.Subquery, exp.Values)) or _is_table_name(source))
        )
        if is_relation:
            relations.add(alias or source.name.lower())
        elif alias:
            columns_of[alias] = {name.lower() for name in source.alias_column_names} or {alias}
    return relations - columns_of.keys(), columns_of


def _is_table_name(source: "exp.Expr") -> bool:
    from sqlglot import exp

    return isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier)


def _judge_table(table: "exp.Table", listed: frozenset[str] | None) -> None:
    """Raises SqlRefused for a table that a tool may not read.

    Without `listed` tables, it may read all but those that describe the database itself.
    """
    from sqlglot import exp

    if not isinstance(table.this, exp.Identifier):
        return  # A function instead of a table; functions are checked elsewhere.
    name, schema, catalog = table.name.lower(), table.db.lower(), table.catalog.lower()
    if name in _CALLED_WITHOUT_BRACKETS and not schema and not table.this.quoted:
        raise SqlRefused(f"{name.upper()} in FROM is a function. Select it as a value.")
    if not schema and name in _list_visible_queries(table):
        return
    full = ".".join(part for part in (catalog, schema, name) if part)
    if listed is not None:
        if full not in listed:
            known = join_names(listed)
            raise SqlRefused(
                f"The table {full} is not in the allowed tables ({known}); add it there if it may be read."
            )
    elif name.startswith(SYSTEM_PREFIXES) or schema in SYSTEM_SCHEMAS or schema.startswith(SYSTEM_PREFIXES):
        raise SqlRefused(f"{full} describes the database itself. Add it to the allowed tables if it may be read.")


def _list_visible_queries(table: "exp.Table") -> Iterator[str]:
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
    """Raises SqlRefused for a function that is not allowed, and for a blocked word. Reads the text that will run."""
    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import TokenType

    plain = tree.copy()
    for alias in plain.find_all(exp.TableAlias):
        alias.set("columns", None)  # `t(a, b)` is not a call.
    tokens = Dialect.get_or_raise(parser_name(dialect)).tokenize(
        plain.sql(dialect=parser_name(dialect), comments=False)
    )
    for position, token in enumerate(tokens):
        word = token.text.lower()
        if token.token_type in (TokenType.STRING, TokenType.NUMBER):
            continue
        if token.token_type != TokenType.IDENTIFIER and word in rules.keywords:
            raise SqlRefused(f"The word {word.upper()} is blocked by an SQL guardrail. Remove it.")
        quoted = token.token_type == TokenType.IDENTIFIER
        if position + 1 == len(tokens) or tokens[position + 1].token_type != TokenType.L_PAREN:
            continue
        if not quoted and not _begins_word(token.text):
            continue
        if position and tokens[position - 1].token_type == TokenType.DOT:
            raise SqlRefused(f"{word} is called with a schema. Call functions without a schema.")
        if word in rules.functions or (not quoted and word in SYNTAX):
            continue
        raise SqlRefused(
            f"The function {word} is not allowed. If it changes nothing and waits for nothing, a guardrail row "
            "ALLOW_FUNCTION can allow it."
        )


def _begins_word(text: str) -> bool:
    """True for a token that begins as a name does, so that a bracket behind it would make it a call."""
    return text[:1].isalpha() or text[:1] in '_"$#@' or (bool(text) and not text[:1].isascii())


NOT_READONLY = "SQL_NOT_READONLY"
_IDENTIFIER = re.compile(r"\$\{([^}]*)\}")
_SHAPE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?", re.ASCII)
_LONGEST = 20_000


class Readable(NamedTuple):
    """A checked statement to run: `:name` on SQLite, `$1` elsewhere."""

    sql: str
    #: The names of its parameters, in order for `$n`.
    params: tuple[str, ...]
    #: What stands behind the dots of `table.name`. Where no column has the name, PostgreSQL calls a function of it.
    attributes: frozenset[str] = frozenset()


def list_allowed_names(snapshot: Snapshot, tool: rows.DbTool) -> Allowed:
    """What a tool's statement may use, by guardrail rows and the tool's tables. A blocked function is left out."""
    names_by_type: dict[str, set[str]] = {kind.value: set() for kind in GuardrailType}
    for row in snapshot.enabled_rows(rows.SqlGuardrail):
        names_by_type.setdefault(code(row.rule_type), set()).add(row.match_value.strip().lower())
    functions = (FUNCTIONS | names_by_type[GuardrailType.ALLOW_FUNCTION]) - names_by_type[GuardrailType.BLOCK_FUNCTION]
    listed = tool.allowed_tables
    tables = frozenset(str(name).strip().lower() for name in listed) if isinstance(listed, (list, tuple)) else None
    return Allowed(functions, frozenset(names_by_type[GuardrailType.BLOCK_KEYWORD]), tables)


def identifiers(template: str) -> frozenset[str]:
    """The names of `${name}` in a template."""
    return frozenset(name.strip() for name in _IDENTIFIER.findall(template))


def is_name(value: str) -> bool:
    """True for name or schema.name of letters, digits and underscore."""
    return _SHAPE.fullmatch(value) is not None


def fill_identifiers(template: str, values: Mapping[str, Json], lists: Json) -> str:
    """The template with each `${name}` replaced.

    Raises SqlRefused for a value that is not a name, or one that is not listed.
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
        raise SqlRefused(f"A statement may have at most {_LONGEST} characters and no NUL.")
    try:
        tree = _parse_sql(sql, dialect)
        if not safe:
            return _write_sql(tree, dialect)
        judge(tree, dialect, rules)
        from sqlglot import exp

        # The columns that are written with their table. A name in quotation marks keeps its case.
        names = [column.this for column in tree.find_all(exp.Column) if column.table]
        attributes = frozenset(name.name if name.args.get("quoted") else name.name.lower() for name in names)
        return _write_sql(tree, dialect)._replace(attributes=attributes - rules.functions)
    except RecursionError:
        raise SqlRefused("The statement is nested too deeply. Simplify it.") from None


def parameters(sql: str, dialect: str) -> frozenset[str]:
    """The names of a statement's `:name` parameters; none for a statement that does not parse."""
    try:
        tree = _parse_sql(sql, dialect)
    except (SqlRefused, RecursionError):
        return frozenset()
    from sqlglot import exp

    return frozenset(node.name for node in tree.find_all(exp.Placeholder))


#: How the parser shows a token in its messages.
_TOKEN = re.compile(r"<Token .*?text: (?P<text>.+?), line: .*?>")


def _parse_sql(sql: str, dialect: str) -> "exp.Expr":
    """The tree of the one statement in a text. Raises SqlRefused for anything else, and without the parser."""
    if missing := describe_missing("sql"):
        raise SqlRefused(f"The statement cannot be checked. {missing}")
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
        text = _TOKEN.sub(r"\g<text>", text)
        raise SqlRefused(f"The statement is not valid SQL: {text}") from None
    statements = [tree for tree in parsed if tree is not None and not isinstance(tree, exp.Semicolon)]
    if not statements:
        raise SqlRefused("The statement is empty. Write one that begins with SELECT or WITH.")
    if len(statements) > 1:
        raise SqlRefused("Only one statement is allowed. Remove the text after the semicolon.")
    return statements[0]


def _write_sql(tree: "exp.Expr", dialect: str) -> Readable:
    """The statement of a checked tree, without comments and with the database's own kind of parameters."""
    from sqlglot import exp

    name = parser_name(dialect)
    names = list(dict.fromkeys(node.name for node in tree.find_all(exp.Placeholder)))
    if name == "sqlite":
        return Readable(tree.sql(dialect=name, comments=False), tuple(names))
    numbered = tree.transform(
        lambda node: (
            exp.Parameter(this=exp.Literal.number(names.index(node.name) + 1))
            if isinstance(node, exp.Placeholder)
            else node
        )
    )
    return Readable(numbered.sql(dialect=name, comments=False), tuple(names))


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
