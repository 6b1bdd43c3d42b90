"""The engine as an MCP server, over stdio and streamable HTTP, with an API key."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from rest_framework.exceptions import APIException, AuthenticationFailed, Throttled

from convengine.engine.tools.arguments import check_arguments
from convengine.engine.turn.codec import dumps, loads
from convengine.json_value import Json
from convengine.server.api.authentication import authenticate_key, key_of
from convengine.server.deployment.client_address import find_scope_address
from convengine.server.mcp_server.tools import BY_NAME, TOOLS
from convengine.server.turns.failure import envelope


class Rest:
    """API calls in this process. Django's handler ends each like a request, so connections are returned."""

    def __init__(self) -> None:
        self._application = WSGIHandler()

    def call(
        self,
        secret: str,
        method: str,
        path: str,
        query: Mapping[str, Json] | None = None,
        body: Json = None,
        idempotency_key: str | None = None,
    ) -> tuple[int, Json]:
        """Status and JSON of an answer to the owner of a key."""
        sent = b"" if body is None else dumps(body).encode()
        status: list[str] = []
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": urlencode(query or {}),
            "SERVER_NAME": _host(),
            "SERVER_PORT": "443",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(sent)),
            "HTTP_HOST": _host(),
            "HTTP_AUTHORIZATION": f"Api-Key {secret}",
            **({"HTTP_IDEMPOTENCY_KEY": idempotency_key} if idempotency_key else {}),
            "wsgi.input": BytesIO(sent),
            # The request never leaves the process.
            "wsgi.url_scheme": "https",
        }

        def begin(line: str, headers: Any, error: Any = None, /) -> Callable[[bytes], object]:
            status.append(line)
            return lambda data: None

        response = self._application(environ, begin)
        try:
            text = b"".join(response)
        finally:
            response.close()
        return int(status[0].split(" ")[0]), loads(text)


def _host() -> str:
    """A host that Django accepts."""
    allowed = str(next(iter(settings.ALLOWED_HOSTS), "localhost"))
    return "localhost" if allowed == "*" else allowed.lstrip(".")


#: Finds the key's secret in the context of a call.
SecretOf = Callable[[Any], str]
PATH = "/mcp"
_SCHEMES = ("api-key ", "bearer ")


def is_valid_key(secret: str) -> bool:
    try:
        return bool(secret) and key_of(secret) is not None
    except AuthenticationFailed:
        return False


class EngineServer:
    """The tools of this process. A turn runs in a thread, because it waits for databases and models."""

    def __init__(self, secret_of: SecretOf, threads: int = 16) -> None:
        self._secret_of = secret_of
        self._rest = Rest()
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="mcp turns")

    def server(self) -> Any:
        from mcp.server.lowlevel import Server

        return Server("convengine", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, context: Any, params: Any) -> Any:
        from mcp_types import ListToolsResult, Tool, ToolAnnotations

        return ListToolsResult(
            tools=[
                Tool(
                    name=tool.name,
                    description=tool.description,
                    input_schema=tool.input_schema,
                    annotations=ToolAnnotations(read_only_hint=tool.read_only),
                )
                for tool in TOOLS
            ]
        )

    async def _call(self, context: Any, params: Any) -> Any:
        loop = asyncio.get_running_loop()
        secret = self._secret_of(context)
        return await loop.run_in_executor(self._threads, self._answer, secret, params.name, params.arguments or {})

    def _answer(self, secret: str, name: str, args: dict[str, Json]) -> Any:
        tool = BY_NAME.get(name)
        if tool is None:
            return _build_refusal(f"There is no tool {name}. Known: {', '.join(BY_NAME)}.")
        fitted, problems = check_arguments(tool.input_schema, args)
        if problems:
            return _build_refusal(" ".join(problems))
        wanted = tool.call(fitted)
        status, answer = self._rest.call(secret, *wanted)
        return _result(answer, failed=status >= 400)


def _result(answer: Json, *, failed: bool) -> Any:
    from mcp_types import CallToolResult, TextContent

    structured = answer if isinstance(answer, dict) else {"result": answer}
    return CallToolResult(
        content=[TextContent(type="text", text=dumps(answer))], structured_content=structured, is_error=failed
    )


def _build_refusal(reason: str) -> Any:
    return _result(envelope("VALIDATION_ERROR", reason), failed=True)


async def serve_stdio(secret: str) -> None:
    """Serve the client on standard input and output until it disconnects."""
    from mcp.server.stdio import stdio_server

    server = EngineServer(lambda context: secret).server()
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def http_application(hosts: Sequence[str], threads: int = 16) -> Any:
    """The ASGI application; `hosts` are its allowed names, as in ALLOWED_HOSTS."""
    from mcp.server.transport_security import TransportSecuritySettings

    names = [name for host in hosts for name in (host, f"{host}:*")]
    security = TransportSecuritySettings(enable_dns_rebinding_protection="*" not in hosts, allowed_hosts=names)
    server = EngineServer(lambda context: _secret(context.request.headers.get("authorization", "")), threads).server()
    application = server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, json_response=True, transport_security=security
    )
    return _behind_a_key(application)


def _behind_a_key(application: Any) -> Any:
    """The application for callers with a key; others get 401."""

    async def check_key(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
            try:
                await asyncio.to_thread(_authenticate_in_thread, _secret(given), find_scope_address(scope))
            except APIException as refused:
                await _refuse_access(send, refused)
                return
        await application(scope, receive, send)

    return check_key


def _authenticate_in_thread(secret: str, address: str) -> None:
    """Raises AuthenticationFailed, and Throttled after many wrong keys of an address."""
    from django.db import close_old_connections, connections

    close_old_connections()
    try:
        if not secret:
            raise AuthenticationFailed
        authenticate_key(secret, address)
    finally:
        connections.close_all()


async def _refuse_access(send: Any, refused: APIException) -> None:
    body = envelope("NOT_AUTHENTICATED", "Send your API key as `Authorization: Bearer <key>`.")
    headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
    if isinstance(refused, Throttled):
        body = envelope("THROTTLED", str(refused.detail))
        headers.append((b"retry-after", str(math.ceil(getattr(refused, "wait", 1))).encode()))
    await send({"type": "http.response.start", "status": refused.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": dumps(body).encode()})


def _secret(header: str) -> str:
    """The key in an Authorization header, in either scheme."""
    for scheme in _SCHEMES:
        if header.lower().startswith(scheme):
            return header[len(scheme) :].strip()
    return ""
