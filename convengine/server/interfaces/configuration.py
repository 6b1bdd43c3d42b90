"""The configuration, as other apps read it: `config_admin` implements it."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from convengine.engine.text.whole_numbers import parse_whole_number
from convengine.engine.turn.conversation import Conversation
from convengine.engine.turn.releases import ReleaseChoice
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.deployment import conf


class Configuration(Protocol):
    """The published configuration."""

    @property
    def head_sql(self) -> str:
        """A scalar subquery for any statement; `pin` takes its result."""

    @property
    def latest(self) -> Snapshot:
        """The newest snapshot that this process has pinned, without a query."""

    def current(self) -> Snapshot:
        """The snapshot in force now; one query when it is known."""

    def pin(self, text: str | None, /) -> Snapshot:
        """The snapshot for a head from `head_sql`."""

    def choose(
        self, text: str | None, conversation: Conversation, last_release: int | None, /, *, has_just_begun: bool = False
    ) -> tuple[Snapshot, ReleaseChoice | None]:
        """The snapshot for the next turn of a conversation, and why, unless it is simply the newest one.

        `text` is a head from `head_sql`, `last_release` that of the last committed turn. `has_just_begun`: the last
        turn began the session, on the release of the session before.
        """

    def at(self, config_version: int, /) -> Snapshot:
        """The snapshot of any release."""

    def content_hash(self, config_version: int, /) -> str:
        """The hash of a release's content, as it is stored; blank for a release that does not exist."""


class ConfigurationName(NamedTuple):
    """What a configuration is called: `live`, `release:12` or `draft:7`."""

    kind: str
    #: The release or the draft. None for live.
    number: int | None = None

    @classmethod
    def parse(cls, text: str) -> "ConfigurationName":
        """Raises ValueError for another text."""
        kind, _, number = text.strip().lower().partition(":")
        if kind == "live" and not number:
            return cls("live")
        if kind in ("release", "draft") and (parsed := parse_whole_number(number)) is not None:
            return cls(kind, parsed)
        raise ValueError(f"“{text}” names no configuration. Enter live, release:12 or draft:7, with your number.")

    def __str__(self) -> str:
        return self.kind if self.number is None else f"{self.kind}:{self.number}"


#: Rows by table and primary key, as a save would store them. None for a deleted one.
UnsavedRows = Mapping[str, Mapping[Any, Mapping[str, Any] | None]]


class NamedConfigurations(Protocol):
    """Reads configurations by name, for everything that tries or judges one."""

    def read(self, name: ConfigurationName, unsaved: UnsavedRows | None = None, /) -> Snapshot:
        """The snapshot of a configuration, with unsaved rows in place of its own. Raises LookupError."""

    def describe(self, name: ConfigurationName, /) -> str:
        """What it is called on pages, such as `Draft: Christmas hours`. Raises LookupError."""

    def list_in_use(self) -> Sequence[ConfigurationName]:
        """Those with which turns begin or which people edit: live, the other side of a gradual release, open drafts."""

    def list_choices(self) -> Sequence[tuple[ConfigurationName, str]]:
        """Those that a page offers, with what they are called: live, the open drafts, the newest releases."""


class ConfigurationFiles(Protocol):
    """Reads and loads whole configurations, for tests of a bot."""

    @property
    def tables(self) -> frozenset[str]:
        """The tables that hold the configuration, its releases and its history."""

    def read_rows(self, config_version: int | None = None, /) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The rows of a release by table; None is the configuration in force."""

    def import_file(self, path: Path, /) -> None:
        """Import a file into the current database. Raises ValueError with the rows that are refused."""


configuration: Callable[[], Configuration] = partial(conf.load, "SNAPSHOT")
named_configurations: Callable[[], NamedConfigurations] = partial(conf.load, "NAMED_CONFIGURATIONS")
configuration_files: Callable[[], ConfigurationFiles] = partial(conf.load, "CONFIGURATION_FILES")
