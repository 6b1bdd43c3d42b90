"""The executor of group DB: the statement of `ce_mcp_db_tool`, read-only and limited (pipeline-2 4.7)."""

from collections.abc import Mapping
from typing import Any

from convengine.engine.steps.tools.fault import ToolFault
from convengine.engine.steps.tools.request import cap_result
from convengine.engine.steps.tools.settings import RESULT_MAX_BYTES
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.codec import to_strict
from convengine.engine.turn.enums import SqlDialect
from convengine.engine.turn.ports import ToolAnswer
from convengine.server.deployment import conf
from convengine.server.executors.databases import Database, Fetched, database
from convengine.server.executors.job import Job
from convengine.server.executors.settings import DB_CONNECTION, STATEMENT_TIMEOUT_MS
from convengine.server.executors.sql_guard import (
    NOT_READONLY,
    Readable,
    SqlRefused,
    fill_identifiers,
    list_allowed_names,
    readable,
)

Json = Any
_STAGE = "MCP_DB_SQL_EXECUTION"
#: Number of rows without a limit (tables 4.4).
_DEFAULT_LIMIT = 200


def run(job: Job) -> ToolAnswer:
    """`{rows, rowCount, truncated}`. Raises ToolFault; a refused statement is not sent to a database."""
    tool = job.tool
    row = job.snapshot.row(rows.DbTool, tool.tool_id) if tool else None
    if row is None:
        raise ToolFault(
            "NO_SQL", f"The tool {job.tool_code or job.group} has no statement; add one to its database tool."
        )
    statement = check_statement(job, row)
    source = _source(job, row)
    limit, values = _limit_rows(row, job.args)
    timeout = live_settings.read(job.snapshot, STATEMENT_TIMEOUT_MS).value
    sent = {name: values.get(name) for name in statement.params}
    about = {"tool_code": job.tool_code, "tool_group": job.group, "sql": statement.sql, "params": to_strict(sent)}
    try:
        fetched = source.fetch(statement, values, limit, timeout)
    except ToolFault as fault:
        raise ToolFault(fault.code, fault.message, {_STAGE: {**about, **_failure(fault)}}) from fault
    result = to_strict({"rows": fetched.rows, "rowCount": len(fetched.rows), "truncated": fetched.truncated})
    return ToolAnswer(result, stage_payloads={_STAGE: {**about, **_success(job, fetched, result["rows"])}})


def check_statement(job: Job, row: rows.DbTool) -> Readable:
    """The statement to run. Raises ToolFault IDENTIFIER_REFUSED or SQL_NOT_READONLY."""
    if not row.safe_mode and not conf.get("UNSAFE_SQL_TOOLS"):
        raise ToolFault(
            "SAFE_MODE_REQUIRED", ("This installation only allows statements that read. Turn safe mode on.")
        )
    try:
        sql = fill_identifiers(row.sql_template, job.args, row.allowed_identifiers)
    except SqlRefused as refused:
        raise ToolFault("IDENTIFIER_REFUSED", str(refused)) from refused
    try:
        return readable(sql, row.dialect, list_allowed_names(job.snapshot, row), row.safe_mode)
    except SqlRefused as refused:
        raise ToolFault(NOT_READONLY, str(refused)) from refused


def _source(job: Job, row: rows.DbTool) -> Database:
    urls: Mapping[str, str] = conf.get("TOOL_DATABASES")
    name = live_settings.read(job.snapshot, DB_CONNECTION, job.tool_code).value or (
        next(iter(urls)) if len(urls) == 1 else ""
    )
    if name not in urls:
        known = ", ".join(sorted(urls)) or "none"
        hint = "" if name else " Choose one in McpDbExecutor / CONNECTION."
        raise ToolFault("DATABASE_UNKNOWN", f"There is no tool database {name or 'chosen'}. Known: {known}.{hint}")
    source = database(urls[name])
    if source.dialect != SqlDialect.read(row.dialect):
        raise ToolFault("DIALECT_MISMATCH", f"The statement is {row.dialect}, the database {name} is {source.dialect}.")
    return source


def _limit_rows(row: rows.DbTool, args: Mapping[str, Json]) -> tuple[int, dict[str, Json]]:
    """The row limit, and the arguments with the bound `limit`.

    Unless the caller set the limit, one row more is fetched to see whether there are more.
    """
    given = args.get("limit")
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        given = None
    kept = min(row.max_rows, _DEFAULT_LIMIT if given is None else given)
    return kept, {**args, "limit": kept if given == kept else kept + 1}


def _success(job: Job, fetched: Fetched, told: Json) -> dict[str, Json]:
    shown = cap_result(told, live_settings.read(job.snapshot, RESULT_MAX_BYTES).value)
    return {"status": "SUCCESS", "error": None, "row_count": len(fetched.rows), "rows": shown}


def _failure(fault: ToolFault) -> dict[str, Json]:
    cause = fault.__cause__ or fault
    return {
        "status": "ERROR",
        "error": fault.message,
        "row_count": 0,
        "rows": [],
        "error_class": fault.code,
        "error_message": fault.message,
        "root_cause_class": type(cause).__name__,
        "root_cause_message": str(cause).strip().split("\n")[0],
        "sql_state": getattr(cause, "sqlstate", None),
        "sql_error_code": getattr(cause, "sqlite_errorname", None),
    }
