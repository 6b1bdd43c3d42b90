"""One process of a server: `python -m convengine.server.startup.server_process --socket FD --app MODULE:NAME`.

The supervisor starts it with a listening socket that all processes of the server share. So the queue of connections
outlives each process. (Granian's own workers have a socket each, whose queue is reset when the worker ends.)
"""

import atexit
import logging
import os
import signal
import sys
import threading
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from convengine.server.deployment.supervisor import BACKLOG, DRAIN_SIGNAL, HURRY_SIGNAL

#: Connections of one process.
MOST_CONNECTIONS = 8192
#: Seconds that calls have left when the server is stopped.
LAST_CALL_SECONDS = 8.0
#: The most files that a process of macOS may open.
_MACOS_FILES = 10240


class Drain:
    """An ASGI application that may ask its clients to connect again, because this process is about to end."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._is_draining = False

    def begin(self, *_: object) -> None:
        """From now on, close each connection after its answer, and begin no work in the background."""
        from convengine.server.jobs.outbox import stop_claiming

        self._is_draining = True
        stop_claiming()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_message(message: Mapping[str, Any]) -> None:
            if self._is_draining and message["type"] == "http.response.start":
                headers = [pair for pair in message.get("headers", ()) if bytes(pair[0]).lower() != b"connection"]
                message = {**message, "headers": [*headers, (b"connection", b"close")]}
            await send(message)

        await self._application(scope, receive, send_message)


def hurry_calls(*_: object) -> None:
    """From now on, wait only a few seconds for what is called outside: a turn goes on without a model's answer."""
    from convengine.server.outgoing.loop import outgoing

    outgoing.hurry(LAST_CALL_SECONDS)


def build_command(application: str) -> list[str]:
    """The command of a process without its files (`--socket`, `--ready`)."""
    return [sys.executable, "-m", __spec__.name, "--app", application]


def main() -> None:
    """Load the application, say that it is ready, and serve until SIGTERM; running requests end before."""
    parser = ArgumentParser()
    parser.add_argument("--app", required=True)
    parser.add_argument("--socket", type=int, required=True)
    parser.add_argument("--ready", type=int)
    options = parser.parse_args()
    # Until the application is loaded, there is nothing to drain.
    signal.signal(DRAIN_SIGNAL, signal.SIG_IGN)
    signal.signal(HURRY_SIGNAL, signal.SIG_IGN)
    serve(options.app, options.socket, options.ready)


def serve(application: str, listener: int, ready: int | None) -> None:
    """Serve a listening socket with one worker of granian, in this process."""
    from granian._granian import SocketHolder
    from granian._internal import load_target
    from granian.constants import HTTPModes, Interfaces, RuntimeModes
    from granian.log import LogLevels
    from granian.server.mp import MPServer

    def load() -> Callable[..., Any]:
        loaded = Drain(load_target(application))
        signal.signal(DRAIN_SIGNAL, loaded.begin)
        signal.signal(HURRY_SIGNAL, hurry_calls)
        if ready is not None:
            os.write(ready, b"1")
            os.close(ready)
        return loaded

    allow_open_files()
    server: Any = MPServer(
        application,
        interface=Interfaces.ASGINL,
        # While it waits to see which HTTP a client speaks, Granian keeps a silent connection for ever.
        http=HTTPModes.http1,
        workers=1,
        # Connections of unfinished requests must not keep out others.
        backpressure=MOST_CONNECTIONS,
        runtime_mode=RuntimeModes.mt,
        websockets=False,
        log_level=LogLevels.warning,
    )
    # Granian passes a shared socket to its workers only where the system does not know SO_REUSEPORT.
    shared: Any = SocketHolder
    server._ssp, server._shd, server._sso = None, shared(listener, False, BACKLOG), None
    worker = server._spawn_worker(0, server._spawn_asgi_worker, load)
    worker.inner.run()
    # As `multiprocessing` ends its processes: granian's threads do not survive the end of the interpreter.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    logging.shutdown()
    sys.stdout.flush()
    os._exit(0)


def allow_open_files() -> None:
    """Let this process open as many files, and so connections, as the system allows it."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        # macOS says that there is no limit, and refuses to set none.
        for wanted in (most, _MACOS_FILES):
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
                return


if __name__ == "__main__":
    main()
