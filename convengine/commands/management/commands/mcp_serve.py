"""`manage.py mcp_serve`: the engine as an MCP server."""

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connections

from convengine.engine.extras import describe_missing
from convengine.server.deployment.exact_command import ExactCommand


class Command(ExactCommand):
    """Serves turns, traces, reasons and configuration rows to MCP clients, over stdio or streamable HTTP."""

    requires_system_checks = "__all__"
    help = "Serve the engine to MCP clients."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--transport", choices=("stdio", "http"), default="stdio")
        parser.add_argument("--host", default="127.0.0.1", help="Only for http: the address to listen on.")
        parser.add_argument("--port", type=int, default=8010, help="Only for http: the address to listen on.")
        parser.add_argument("--threads", type=int, default=16, help="Only for http: the number of parallel calls.")

    def handle(self, *args: Any, transport: str, host: str, port: int, threads: int, **options: Any) -> None:
        """Serve. Raises CommandError for an unknown key (stdio), and without the extra `mcp`."""
        if missing := describe_missing("mcp"):
            raise CommandError(missing)
        from convengine.server.mcp_server.server import PATH, http_application, is_valid_key, serve_stdio
        from convengine.server.startup.process import prepare_process

        if transport == "stdio":
            secret = os.environ.get("CE_MCP_API_KEY", "").strip()
            if not is_valid_key(secret):
                raise CommandError("Set CE_MCP_API_KEY to an API key. API keys are created in the admin.")
            connections.close_all()
            prepare_process()
            asyncio.run(serve_stdio(secret))
            return
        import uvicorn

        prepare_process()
        self.stderr.write(f"MCP clients: http://{host}:{port}{PATH}, with an API key as bearer token")
        application = http_application(list(settings.ALLOWED_HOSTS), threads)
        # CE_TRUSTED_PROXIES says who is believed, so the server itself believes no header.
        uvicorn.run(
            application, host=host, port=port, proxy_headers=False, log_level="warning", timeout_graceful_shutdown=5
        )
