"""The event streams of running turns: `audit` implements them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from convengine.engine.turn.turn import Turn
from convengine.server.deployment import conf


class LiveStreams(Protocol):
    """Lets users watch running turns."""

    def start(self) -> None:
        """Prepare this process to send events of its turns."""

    def watches(self, conversation_id: str, /) -> bool:
        """Whether somebody watches a conversation in this process."""

    def join(self, turn: Turn, is_marked: bool, /) -> None:
        """Let a turn be watched. A marked one was watched when it began, maybe in another process."""

    def wake(self, conversation_id: str, /) -> None:
        """Make the readers of a conversation read the database."""

    async def serve_streams(self, scope: Mapping[str, Any], receive: Any, send: Any, /) -> None:
        """The ASGI application that serves event streams."""


live_streams: Callable[[], LiveStreams] = partial(conf.load, "LIVE_STREAMS")
