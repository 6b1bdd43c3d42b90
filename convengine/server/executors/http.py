"""The executor of group HTTP_API: the call of `ce_mcp_http_tool`, or one that code requested."""

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from convengine.engine.prompts.render import render_lenient
from convengine.engine.rules.conditions.evaluate import compile_path
from convengine.engine.rules.conditions.nodes import PathError
from convengine.engine.text.compare import shorten_line
from convengine.engine.text.wording import join_names
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn import rows
from convengine.engine.turn.codec import dumps, loads, to_strict
from convengine.engine.turn.enums import MappingMode
from convengine.engine.turn.ports import ToolAnswer
from convengine.engine.turn.snapshot import Snapshot
from convengine.json_value import Json
from convengine.server.executors.http_client import BODILESS, HttpCall, idempotency_key, send
from convengine.server.executors.http_connections import connection
from convengine.server.executors.http_policy import policy_of
from convengine.server.executors.job import ToolJob
from convengine.server.extensions.http import HttpRequest

Mappers = Mapping[str, Callable[[Json], Json]]
#: What JSON and pages begin with; the first member that a path names; how much of an answer a fault shows.
_BEGINS_DOCUMENT, _FIRST_MEMBER, _SHOWN = ("{", "[", "<"), re.compile(r"\$\.[A-Za-z_]\w*"), 200
_ONE_NAME = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")


def run(job: ToolJob) -> ToolAnswer:
    """`{status, attempt, latencyMs, mapped}` of the row's call. Raises ToolFault."""
    tool = job.tool
    row = job.snapshot.row(rows.HttpTool, tool.tool_id) if tool else None
    if row is None:
        raise ToolFault(
            "NO_CALL", f"The tool {job.tool_code or job.group} has no HTTP call; add its row, or a handler."
        )
    key = idempotency_key(job.session.conversation_id, job.session.version, job.tool_code, job.args)
    return ToolAnswer(call_tool(job.snapshot, job.tool_code, request_of(row, job.args), job.registry.http_mappers, key))


def call_tool(snapshot: Snapshot, tool_code: str, request: HttpRequest, mappers: Mappers, key: str) -> dict[str, Json]:
    """Make a call and map its answer: `{status, attempt, latencyMs, mapped}`.

    `key` is sent as the idempotency key if the policy repeats calls that change something. Raises ToolFault, at the
    latest when the time of all attempts is over.
    """
    method = (request.method or "GET").strip().upper() or "GET"
    policy = policy_of(snapshot, tool_code, request.policy)
    call = HttpCall(
        connection(request.connection).target(request.path),
        method,
        policy,
        tool_code or request.connection,
        dict(request.headers),
        request.query,
        None if method in BODILESS else request.body,
        key if policy.retry_non_idempotent else "",
    )
    answer = send(call)
    result = map_response(answer.body, request.mapping_mode, request.mapping, mappers)
    return {"status": answer.status, "attempt": answer.attempt, "latencyMs": answer.latency_ms, "mapped": result}


def request_of(row: rows.HttpTool, args: Mapping[str, Json]) -> HttpRequest:
    """The row's call with the arguments filled in. Raises ToolFault INVALID_ARGS for a template that does not render.

    An argument stays one part of a path, one value of a query, or one text of a JSON body.
    """
    return HttpRequest(
        row.connection_name,
        _fill_template(row.url_template, {name: _encode_for_path(value) for name, value in args.items()}),
        row.method,
        {str(name): _fill_template(str(text), args) for name, text in row.headers_json.items()},
        {str(name): _fill_value(text, args) for name, text in row.query_json.items()},
        _fill_body(row.body_template, args),
        row.policy_json,
        row.mapping_mode,
        row.mapping_json,
    )


def _fill_template(template: str, values: Mapping[str, Json]) -> str:
    """The rendered template. Raises ToolFault INVALID_ARGS for one that does not render."""
    rendered = render_lenient(template, values)
    if rendered.error is not None:
        raise ToolFault("INVALID_ARGS", f"{template[:100]} cannot be filled in: {rendered.error}")
    return rendered.text


def _encode_for_path(value: Json) -> Json:
    """An argument for a path: its texts are encoded, so that none adds a part or a query."""
    if isinstance(value, str):
        return quote(value, safe="")
    if isinstance(value, Mapping):
        return {name: _encode_for_path(item) for name, item in value.items()}
    return [_encode_for_path(item) for item in value] if isinstance(value, (list, tuple)) else value


def _fill_value(template: Json, args: Mapping[str, Json]) -> Json:
    """A template that is one name gives the argument itself, so that numbers stay numbers and null is left out."""
    if not isinstance(template, str):
        return template
    single_name = _ONE_NAME.fullmatch(template.strip())
    return args.get(single_name[1]) if single_name else _fill_template(template, args)


def _fill_body(template: str | None, args: Mapping[str, Json]) -> Json:
    """The body of a call: a JSON template is filled leaf by leaf, any other as a text.

    Returns None without a template. Raises ToolFault INVALID_ARGS.
    """
    if template is None or not template.strip():
        return None
    try:
        document = loads(template)
    except ValueError:
        # Names outside of quotation marks are numbers, lists, objects. Texts cannot leave their quotation marks.
        escaped = {name: dumps(value)[1:-1] if isinstance(value, str) else value for name, value in args.items()}
        return _fill_template(template, escaped)
    return _fill_leaves(document, args)


def _fill_leaves(document: Json, args: Mapping[str, Json]) -> Json:
    """A JSON template with each of its texts filled in."""
    if isinstance(document, Mapping):
        return {name: _fill_leaves(item, args) for name, item in document.items()}
    if isinstance(document, list):
        return [_fill_leaves(item, args) for item in document]
    return _fill_value(document, args)


def map_response(body: bytes, mode: str, mapping: Mapping[str, Json], mappers: Mappers) -> Json:
    """What a mapping makes of the body of an answer; the whole document without a usable mapping.

    A path without a match gives null, unless nothing of the paths is there. Raises ToolFault MAPPING_FAILED for an
    unreadable path and an unusable mapper, and ANSWER_UNREADABLE for an answer of another shape.
    """
    text = body.decode("utf-8", "replace")
    how = MappingMode.read(mode) or MappingMode.RAW_JSON
    if how == MappingMode.TEXT:
        return text
    document = _parse_document(text)
    if how == MappingMode.JSON_PATH and str(mapping.get("jsonPath") or "").strip():
        _check_shape(document, [mapping["jsonPath"]])
        return _read_path(document, mapping["jsonPath"])
    if how == MappingMode.FIELD_TEMPLATE and isinstance(paths := mapping.get("fieldPaths"), Mapping):
        _check_shape(document, list(paths.values()))
        return {name: _read_path(document, path) for name, path in paths.items()}
    return _map_by_mapper(document, mapping.get("mapper"), mappers) if how == MappingMode.MAPPER_CLASS else document


def _parse_document(text: str) -> Json:
    """The body as JSON: `{}` for a blank one, `{text}` for plain text. Raises ToolFault ANSWER_UNREADABLE for a page,
    and for JSON that is cut off or damaged.
    """
    if not text.strip():
        return {}
    try:
        return loads(text)
    except ValueError as error:
        if text.lstrip("\ufeff \t\r\n")[:1] in _BEGINS_DOCUMENT:
            shown = shorten_line(text, _SHOWN)
            raise ToolFault("ANSWER_UNREADABLE", f"The answer is not JSON. It begins with: {shown}") from error
        return {"text": text}


def _check_shape(document: Json, paths: Sequence[Json]) -> None:
    """Raises ToolFault ANSWER_UNREADABLE for a document with nothing of what the paths begin with."""
    begins = [match[0] for path in paths if (match := _FIRST_MEMBER.match(str(path)))]
    if begins and not any(compile_path(begin).first(document)[0] for begin in begins):
        listed = join_names(begins)
        shown = shorten_line(dumps(document), _SHOWN)
        raise ToolFault("ANSWER_UNREADABLE", f"The answer has none of {listed}. It begins with: {shown}")


def _read_path(document: Json, path: Json) -> Json:
    """The first value at a JSONPath, null without one. Raises ToolFault MAPPING_FAILED for an unreadable path."""
    try:
        return compile_path(str(path)).first(document)[1]
    except PathError as error:
        raise ToolFault("MAPPING_FAILED", f"The path {path} cannot be read: {error.reason}.") from error


def _map_by_mapper(document: Json, name: Json, mappers: Mappers) -> Json:
    """What a registered mapper makes of a document. Raises ToolFault MAPPING_FAILED."""
    mapper = mappers.get(str(name))
    if mapper is None:
        known = join_names(mappers)
        raise ToolFault("MAPPING_FAILED", f"The mapper {name} is not registered. Registered: {known}.")
    try:
        return to_strict(mapper(document))
    except Exception as error:
        raise ToolFault("MAPPING_FAILED", f"The mapper {name} failed: {type(error).__name__}: {error}") from error
