"""A parsed scenario: one small complete world, and the expectations of each turn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.json_value import Json
from convengine.play.settings_map import WorldSettings

Row = Mapping[str, Json]
#: The time that the times of a world count from.
BEGINNING = datetime(2026, 1, 1, 12, tzinfo=UTC)
#: The conversation of turns that name none.
MAIN = "main"
#: Who answers what no stub of a scenario answers: the registered extensions, or nobody.
REAL, STUBS = "real", "stubs"


@dataclass(frozen=True)
class Edge:
    """An edge of the state graph."""

    start: str
    end: str
    intent: str | None = None


@dataclass(frozen=True)
class Start:
    """The initial state of the conversation `main`."""

    row: Row = field(default_factory=dict)
    #: (user, assistant), oldest first.
    history: Sequence[tuple[str, str]] = ()
    #: The params that the turn before left for the next one only.
    previous_turn: Mapping[str, Json] = field(default_factory=dict)
    #: Times since the start of the world by column.
    times: Mapping[str, timedelta] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskStub:
    """The behaviour of a task's method."""

    bean: str
    method: str
    returns: Json = None
    #: The text of an exception instead of a result.
    raises: str | None = None
    sets_context: Mapping[str, Json] = field(default_factory=dict)
    #: How many calls it answers. None for any number.
    times: int | None = None
    #: The code of a failure. None for an exception.
    code: str | None = None
    removes_context: Sequence[str] = ()
    sets_params: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class ContainerStub:
    """The answer of a container provider."""

    page_id: int
    section_id: int
    container_id: int
    result: Json = None
    #: The text of an exception instead of a result.
    error: str | None = None
    #: How many fetches it answers. None for any number.
    times: int | None = None
    #: The name of the exception.
    code: str | None = None


@dataclass(frozen=True)
class TransformerStub:
    """What a transformer of answers gives for one call; nothing leaves the answer as it is."""

    stage: str
    name: str
    result: Json = None
    #: The text of an exception instead of a result.
    error: str | None = None
    #: The name of the exception.
    code: str | None = None


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
    """The thread of a turn that comes through a bridge."""

    remote_jid: str
    workspace_id: str = "default"
    channel: str = "whatsapp"


@dataclass(frozen=True)
class ScenarioTurn:
    user: str | None = None
    conversation: str = MAIN
    before: Sequence[Edit] = ()
    #: None: the request has none.
    input_params: Mapping[str, Json] | None = None
    reset: bool = False
    #: Keys of `convengine.play.expectations`.
    expect: Mapping[str, Json] = field(default_factory=dict)
    #: None: the turn names its conversation.
    thread: ThreadName | None = None
    #: The fixed time of the clock from this turn on, since the start of the world. None for no change.
    at: timedelta | None = None
    #: In the order of their calls.
    transformers: Sequence[TransformerStub] = ()
    #: False: the caller's key lacks the scope `approve`.
    may_approve: bool = True


@dataclass(frozen=True)
class Scenario:
    id: str
    title: str
    turns: Sequence[ScenarioTurn]
    covers: Sequence[str] = ()
    why: str = ""
    requires: Sequence[str] = ()
    settings: WorldSettings = field(default_factory=WorldSettings)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    edges: Sequence[Edge] = ()
    start: Start | None = None
    #: False: a world without any model.
    model: bool = True
    llm: Sequence[ScriptLine] = ()
    tasks: Sequence[TaskStub] = ()
    tools: Sequence[Stub] = ()
    containers: Sequence[ContainerStub] = ()
    #: The file with the configuration; None when the scenario brings its own rows.
    configuration: Path | None = None
    #: Who answers what no stub answers: the extensions of the installation, or nobody.
    extensions: str = STUBS
    #: The file with recorded answers of a model.
    recording: Path | None = None
