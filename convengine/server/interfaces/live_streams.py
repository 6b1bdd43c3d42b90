"""The event streams of running turns: `audit` implements them."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

from convengine.engine.turn.turn import Turn
from convengine.engine.turn.verbose import VerboseLine
from convengine.server.deployment import conf


class LiveStreams(Protocol):
    """Lets users watch running turns."""

    def start(self) -> None:
        """Prepare this process to send events of its turns."""

    def watches(self, conversation_id: str, /) -> bool:
        """Whether somebody watches a conversation in this process."""

    def send_progress(self, is_marked: bool, turn: Turn, line: VerboseLine, /) -> None:
        """Send a progress text of a running turn to its readers.

        The conversation of a turn that `is_marked` was watched when the turn began, maybe in another process.
        """

    def wake(self, conversation_id: str, /) -> None:
        """Make the readers of a conversation read the database."""

    async def serve_streams(self, scope: Mapping[str, Any], receive: Any, send: Any, /) -> None:
        """The ASGI application that serves event streams."""


live_streams: Callable[[], LiveStreams] = partial(conf.load, "LIVE_STREAMS")
