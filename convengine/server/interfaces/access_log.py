"""The log of who read personal data: `audit` implements it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from convengine.server.deployment import conf


class AccessLog(Protocol):
    """Logs who reads people's words and data."""

    def log_row_access(self, request: Any, row: Any, /) -> None:
        """A user reads a stored row in the admin; null: a list."""


access_log: Callable[[], AccessLog] = partial(conf.load, "ACCESS_LOG")
