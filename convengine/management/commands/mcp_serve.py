"""`manage.py mcp_serve`: the engine as an MCP server."""

import asyncio
import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections


class Command(BaseCommand):
    """Serves turns, traces, reasons and configuration rows to MCP clients, over stdio or streamable HTTP."""

    help = "Serve the engine to MCP clients."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Over what, and where."""
        parser.add_argument("--transport", choices=("stdio", "http"), default="stdio")
        parser.add_argument("--host", default="127.0.0.1", help="http: where to listen.")
        parser.add_argument("--port", type=int, default=8010, help="http: where to listen.")
        parser.add_argument("--threads", type=int, default=16, help="http: how many calls run at once.")

    def handle(self, *args: Any, transport: str, host: str, port: int, threads: int, **options: Any) -> None:
        """Serve. Raises CommandError for a key that is not known (stdio)."""
        from convengine.mcp_server.server import PATH, http_application, known, serve_stdio
        from convengine.process import settle

        if transport == "stdio":
            secret = os.environ.get("CE_MCP_API_KEY", "").strip()
            if not known(secret):
                raise CommandError("CE_MCP_API_KEY must hold the secret of an API key; the admin makes them.")
            connections.close_all()
            settle()
            asyncio.run(serve_stdio(secret))
            return
        import uvicorn

        settle()
        self.stderr.write(f"MCP clients: http://{host}:{port}{PATH}, with an API key as bearer token")
        application = http_application(list(settings.ALLOWED_HOSTS), threads)
        uvicorn.run(application, host=host, port=port, log_level="warning", timeout_graceful_shutdown=5)
