"""The port of the deployment's finders: what they find in a message (docs/extending.md)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from convengine.json_value import Json


@dataclass(frozen=True)
class FoundSpan:
    """A part of a message that a finder of the deployment takes for a value; positions are those of its characters.

    Without a `reason` it is `value`; with one it is refused. `is_weak`: it may be something else: a bare number.
    """

    start: int
    end: int
    value: Json = None
    #: Why it is no value: a code, for the record.
    reason: str = ""
    #: The reason as a sentence for the user. Without one, the answer says that the value does not fit.
    text: str = ""
    is_weak: bool = False
    #: The path of the only field that it is for; blank for any field of the kind.
    field: str = ""


@dataclass(frozen=True)
class FinderAnswer:
    """What the finder of a kind found, or its fault."""

    spans: tuple[FoundSpan, ...] = ()
    error_type: str | None = None
    error_message: str | None = None


class FinderPort(Protocol):
    """Registered finders of values."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of fields that they read; in a replay, those that were asked for."""

    def find(self, kind: str, text: str, fields: Mapping[str, Json], situation: Mapping[str, Json]) -> FinderAnswer:
        """The values of a kind in a message. `fields`: by path, the fields of the open form that have this kind."""


class NoFinders:
    """The finders of a deployment that has none."""

    kinds: Collection[str] = ()

    def find(self, kind: str, text: str, fields: Mapping[str, Json], situation: Mapping[str, Json]) -> FinderAnswer:
        """Find nothing."""
        return FinderAnswer()
