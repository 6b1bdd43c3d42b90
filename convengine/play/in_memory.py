"""Play a scenario in memory, on any snapshot: nothing is stored, and nothing is called for effect (R133)."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from convengine.engine.pipeline.stages import STEP_ENTER
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import Conversation, Loaded, list_exchanges
from convengine.engine.turn.params import remove_reserved
from convengine.engine.turn.payload import TextPayload, to_document
from convengine.engine.turn.snapshot import Snapshot
from convengine.play import expectations
from convengine.play.loading import read_scenario
from convengine.play.observed_turn import ObservedTurn, Row, TurnObserver
from convengine.play.play import PlayedConversation, PlayedTurn, begin_conversation, play_turn
from convengine.play.scenario import BEGINNING, MAIN, STUBS, Scenario, Start, Turn, scenario_purpose
from convengine.play.schema import ScenarioFileError
from convengine.play.stubs import ScenarioStubs, build_stubs
from convengine.server.api import wire
from convengine.server.app_interfaces import turn_reader

Json = Any
#: Keys of documents and of turns that change the configuration, or need a database of their own.
DATABASE_KEYS = ("configuration", "tables", "state_graph", "settings", "recording")
DATABASE_TURN_KEYS = ("before", "thread")
#: Expectations on the decision about the session, which a turn in memory does not have.
_SESSION_KEYS = frozenset({"decision", "reason", "session"})
#: Expectations that read the events of a turn.
_EVENT_KEYS = ("audit_", "trace_")
#: What expectations read of progress texts.
_PROGRESS = ("step_name", "determinant", "level", "text")


class NeedsDatabase(ValueError):
    """A scenario that cannot be played in memory."""

    def __init__(self, what: str) -> None:
        super().__init__(f"This test needs a database of its own, because of {what}. Run it with: convengine test.")


def require_in_memory(document: Mapping[str, Json]) -> None:
    """Raises NeedsDatabase for a document with rows, threads, or anything else that memory does not have.

    Raises ScenarioFileError for one that is no map; `read_scenario` checks the rest.
    """
    if not isinstance(document, Mapping):
        raise ScenarioFileError("", "must be a map.")
    for key in DATABASE_KEYS:
        if document.get(key):
            raise NeedsDatabase(f"`{key}`")
    if document.get("extensions") == "real":
        raise NeedsDatabase("`extensions: real`")
    turns = document.get("turns")
    for number, turn in enumerate(turns if isinstance(turns, list) else (), start=1):
        if isinstance(turn, Mapping):
            _require_turn_in_memory(turn, number)


def _require_turn_in_memory(turn: Mapping[str, Json], number: int) -> None:
    for key in DATABASE_TURN_KEYS:
        if turn.get(key):
            raise NeedsDatabase(f"`{key}` in turn {number}")
    expected = turn.get("expect")
    if isinstance(expected, Mapping) and (keys := _SESSION_KEYS & expected.keys()):
        raise NeedsDatabase(f"the expectation `{min(keys)}` in turn {number}")


def build_test(document: Mapping[str, Json]) -> Scenario:
    """The scenario of a document without a configuration. Only its stubs answer; it has a model if it scripts one.

    Raises NeedsDatabase, and ScenarioFileError with the position and the error.
    """
    require_in_memory(document)
    is_model = document.get("model", "llm" in document)
    return replace(read_scenario(document), extensions=STUBS, model=is_model)


@dataclass(frozen=True)
class MemoryTurn:
    """A turn of a scenario that was tried in memory."""

    tried: PlayedTurn
    observed: ObservedTurn
    #: Where the session stood, (intent, state), in order and without repetitions.
    positions: tuple[tuple[str, str], ...] = ()

    def find_misses(self, turn: Turn) -> list[expectations.Miss]:
        """The calls that nothing answered, and every expectation that does not hold."""
        unanswered = [
            expectations.Miss("unscripted call", "an entry that answers it", call) for call in self.observed.unscripted
        ]
        return [*unanswered, *expectations.find_misses(turn.expect, self.observed)]

    def explain(self) -> list[str]:
        """What happened in the turn and why, one line each."""
        return turn_reader().explain_unstored_turn(self.tried.turn)

    def list_deciding_rows(self) -> list[tuple[str, str]]:
        """The rows that decided something, as (table, key), each once."""
        return list(dict.fromkeys((row.table, row.row_pk) for row in self.tried.turn.decided_rows))


@dataclass
class MemoryPlayer:
    """Plays the turns of a scenario on a snapshot, one by one."""

    scenario: Scenario
    snapshot: Snapshot
    now: datetime
    #: Where its conversations are held.
    workspace: str = "default"
    channel: str = "api"
    stubs: ScenarioStubs = field(init=False)
    _conversations: dict[str, PlayedConversation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.stubs = build_stubs(self.scenario)
        if self.scenario.start:
            self._conversations[MAIN] = _restore_conversation(
                self.scenario.start, self.now, self.workspace, self.channel
            )

    def play_all(self) -> Iterator[tuple[Turn, MemoryTurn]]:
        """All turns, each with what it left."""
        for turn in self.scenario.turns:
            yield turn, self.play(turn)

    def play(self, turn: Turn) -> MemoryTurn:
        """The next turn."""
        self.now = self.now if turn.at is None else BEGINNING + turn.at
        before = self._conversations.get(turn.conversation) or begin_conversation(
            self.now, self.workspace, self.channel
        )
        params, ignored = remove_reserved(turn.input_params or {}, may_approve=turn.may_approve)
        observer = TurnObserver()
        self.stubs.begin(turn)
        tried = play_turn(
            self.snapshot,
            before,
            turn.user,
            self.now,
            self.stubs.outside,
            params={**params, "reset": True} if turn.reset else params,
            ignored_params=ignored,
            listeners=[observer.record_event],
        )
        self._conversations[turn.conversation] = tried.after
        return MemoryTurn(tried, self._observe(turn, tried, observer), tuple(observer.positions))

    def _observe(self, turn: Turn, tried: PlayedTurn, observer: TurnObserver) -> ObservedTurn:
        answer = tried.answer
        reads_events = any(key.startswith(_EVENT_KEYS) for key in turn.expect)
        events = turn_reader().list_unstored_events(tried.turn) if reads_events else ()
        row = tried.after.loaded.conversation
        return ObservedTurn(
            answer.error.status if answer.error else 200,
            to_plain(wire.build_body(answer)),
            observer.input_params(),
            to_plain({**asdict(row), "last_turn_no": tried.after.turn_no}),
            [Row(event.stage, event.payload_json) for event in events],
            [event.step for event in events if event.stage == STEP_ENTER and event.step],
            [{name: getattr(line, name) for name in _PROGRESS} for line in answer.verbose],
            [scenario_purpose(purpose) for purpose in self.stubs.model.calls],
            [*self.stubs.task_calls],
            [*self.stubs.tools.calls],
            [*self.stubs.unscripted, *observer.missing_tasks],
        )


def _restore_conversation(start: Start, now: datetime, workspace: str, channel: str) -> PlayedConversation:
    """The conversation that the first turn finds, as `database.build_world` would store it."""
    columns = dict(start.row)
    newest = columns.pop("last_turn_no", len(start.history))
    created = BEGINNING + start.times["created_at"] if "created_at" in start.times else now
    row = Conversation(str(uuid.uuid4()), workspace, channel, created_at=created, version=newest, turn_count=newest)
    row = replace(row, **columns)
    past = [(user, to_document(TextPayload(text))) for user, text in start.history]
    return PlayedConversation(Loaded(row, list_exchanges(past), dict(start.previous_turn)), newest, past)
