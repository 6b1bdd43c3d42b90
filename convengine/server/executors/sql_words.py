"""Allowed words in statements of tools: functions without effects, and words before a bracket (tables 4.6)."""

from dataclasses import dataclass

from convengine.engine.turn.enums import SqlDialect

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
SYSTEM_SCHEMAS = frozenset({"pg_catalog", "information_schema", "pg_toast", "sys", "system"})
_DIALECTS = {SqlDialect.POSTGRES: "postgres", SqlDialect.SQLITE: "sqlite", SqlDialect.ORACLE: "oracle"}


class SqlRefused(ValueError):
    """The statement may not run; the message has the construct and the remedy."""


@dataclass(frozen=True)
class Allowed:
    """The guardrail rows of a release, and the tables of one tool. All names in lower case."""

    functions: frozenset[str] = FUNCTIONS
    keywords: frozenset[str] = frozenset()
    #: Null for all tables of the login except system tables.
    tables: frozenset[str] | None = None


def parser_name(dialect: str) -> str:
    """The parser's name of a dialect."""
    return _DIALECTS.get(SqlDialect.read(dialect) or SqlDialect.POSTGRES, "postgres")
