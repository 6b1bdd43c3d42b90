"""The log of who read personal data and who signed in: `audit` implements it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Protocol

from convengine.server.deployment import conf

AccountEvent = Literal["SIGN_IN", "SIGN_IN_REFUSED", "ACCESS_CHANGED"]


class AccessLog(Protocol):
    """Logs who reads people's words and data, who signs in, and who changes what users may do."""

    def log_row_access(self, request: Any, row: Any, /) -> None:
        """Log that a user opens a row in the admin, or a list if `row` is None."""

    def log_account_event(self, request: Any, kind: AccountEvent, name: str, details: str, /) -> None:
        """Log that the user `name` signed in, was refused or changed access. `details`: how, why or what."""


access_log: Callable[[], AccessLog] = partial(conf.load, "ACCESS_LOG")
