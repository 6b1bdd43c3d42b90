"""Messages that were not understood, as they are taught: `audit` implements it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import NamedTuple, Protocol

from convengine.server.deployment import conf


class StoredMessage(NamedTuple):
    """A message of a recorded turn."""

    #: The key of the turn's record.
    turn: int
    text: str


class Inbox(Protocol):
    """The messages that were not understood, by group."""

    def list_messages_not_understood(self, limit: int, /) -> list[str]:
        """The newest messages that no intent got, each once."""

    def list_group_messages(self, group: int, /) -> list[StoredMessage]:
        """The wordings of a group of the inbox, the most frequent first; empty for a group that does not exist."""

    def count_message_texts(self, most: int, /) -> Mapping[str, int]:
        """The texts of the newest messages of the inbox's period, each with how often it came; `most` are read."""

    def note_taught(self, group: int, by: str, what: str, /, *, is_live: bool) -> None:
        """Note at a group of the inbox what somebody taught; if it is live, the group is done."""


inbox: Callable[[], Inbox] = partial(conf.load, "INBOX")
