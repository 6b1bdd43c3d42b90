"""A scenario, read and checked: one complete small world, and what must be true after each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from convengine.llm.scripted import Line
from convengine.scenarios.settings_map import WorldSettings
from convengine.tools.scripted import Stub

Json = Any
Row = Mapping[str, Json]
#: The conversation of turns that name none.
MAIN = "main"


@dataclass(frozen=True)
class Edge:
    """An edge of the state graph."""

    start: str
    end: str
    intent: str | None = None


@dataclass(frozen=True)
class Start:
    """The row that the conversation `main` begins with."""

    row: Row = field(default_factory=dict)
    #: (user, assistant), oldest first.
    history: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class TaskStub:
    """What a method of a task does."""

    bean: str
    method: str
    returns: Json = None
    #: The text of an exception instead of a result.
    raises: str | None = None
    sets_context: Mapping[str, Json] = field(default_factory=dict)
    #: How many calls it answers; null for any number.
    times: int | None = None


@dataclass(frozen=True)
class ContainerStub:
    """What the provider of an address gives."""

    page_id: int
    section_id: int
    container_id: int
    result: Json = None
    #: The text of an exception instead of a result.
    error: str | None = None
    #: How many fetches it answers; null for any number.
    times: int | None = None


@dataclass(frozen=True)
class Edit:
    """A live edit before a turn: insert, update or delete rows of a table."""

    kind: str
    table: str
    #: The columns to insert or to set.
    values: Row = field(default_factory=dict)
    where: Row = field(default_factory=dict)


@dataclass(frozen=True)
class ThreadName:
    """Who speaks where, when the turn comes through a bridge."""

    workspace_id: str
    channel: str
    remote_jid: str


@dataclass(frozen=True)
class Turn:
    """One request and what must be true after it."""

    user: str | None = None
    conversation: str = MAIN
    before: Sequence[Edit] = ()
    #: Null: the request carries none.
    input_params: Mapping[str, Json] | None = None
    reset: bool = False
    #: Keys of `convengine.scenarios.expectations`, each with its checked value.
    expect: Mapping[str, Json] = field(default_factory=dict)
    #: Null: the turn names its conversation.
    thread: ThreadName | None = None
    #: Where the clock stands from this turn on, counted from the world's beginning; null to leave it.
    at: timedelta | None = None


@dataclass(frozen=True)
class Scenario:
    """One file."""

    id: str
    title: str
    turns: Sequence[Turn]
    covers: Sequence[str] = ()
    why: str = ""
    requires: Sequence[str] = ()
    settings: WorldSettings = field(default_factory=WorldSettings)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    edges: Sequence[Edge] = ()
    start: Start | None = None
    #: False: a world without any model.
    model: bool = True
    llm: Sequence[Line] = ()
    tasks: Sequence[TaskStub] = ()
    tools: Sequence[Stub] = ()
    containers: Sequence[ContainerStub] = ()
