"""`python -m tests.live.doomed PORT`: real HTTP from a child that may be killed, and is at once forked again.

Django is loaded once, so that fifty deaths cost seconds. What survives a death is what survives it in a deployment:
the database, and the connections that wait at the listening socket.
"""

import logging
import os
import socket
import sys

import django
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.db import connections

from tests.live.processes import end_with_parent


class Handler(WSGIRequestHandler):
    """Says nothing on standard error."""

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not news here."""


def listen(port: int) -> socket.socket:
    """The socket that outlives the children."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def serve(listener: socket.socket) -> None:
    """Serve until the process dies; a thread a request."""
    from tests.live.doom import application

    host, port = listener.getsockname()
    server = ThreadedWSGIServer((host, port), Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    server.daemon_threads = True
    server.server_name, server.server_port = host, port
    server.setup_environ()
    server.set_app(application)
    server.serve_forever(poll_interval=0.05)


def main() -> None:
    """Load everything, then fork, wait for the death, and fork again, until this process itself is ended."""
    django.setup()
    # What fails here fails on purpose.
    logging.disable(logging.CRITICAL)
    from convengine.urls import urlpatterns
    from convengine.wsgi import application

    assert urlpatterns
    assert application
    for database in connections.all():
        if hasattr(database, "close_pool"):
            # What its threads keep alive, a child does not have.
            database.close_pool()
    listener = listen(int(sys.argv[1]))
    while True:
        child = os.fork()
        if not child:
            end_with_parent()
            serve(listener)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
