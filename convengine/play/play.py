"""Run turns that leave no trace: on any configuration, from any session, with any outside world.

A played turn runs on the engine, the wiring and the hooks of a real one (`server.turns.take_turn`). Nothing is stored
or counted, and nothing is called but what the given outside world or recording answers.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from convengine.engine.cached_property import cached_property
from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.redaction import Redaction
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import PLAIN_CHANNEL, Conversation, Loaded, build_columns, list_exchanges
from convengine.engine.turn.params import select_turn_facts
from convengine.engine.turn.ports import Execution, ExecutionClaim, ExecutionPort
from convengine.engine.turn.recording import NO_ASIDE, NOTHING, Aside, Tape
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.engine.verbose.publish import listen
from convengine.json_value import Json
from convengine.play.seen_turn import PortCall, SeenEvent, SeenTurn
from convengine.server import wiring
from convengine.server.api import wire
from convengine.server.database.sql import TurnClock
from convengine.server.deployment import conf
from convengine.server.extensions.faults import collect_faults
from convengine.server.interfaces.turn_reader import turn_reader
from convengine.server.resilience.time_left import limit_waits
from convengine.server.turns.answer import make_answer
from convengine.server.turns.stored_recording import StoredRecording

log = structlog.get_logger(__name__)
#: The time between two messages that name none.
_PAUSE = timedelta(seconds=10)
#: What of a progress text is seen.
_PROGRESS = ("step_name", "determinant", "level", "text")


@dataclass(frozen=True)
class PlayedMessage:
    """What the user of a played conversation sends, as the API passes it to the engine."""

    text: str | None
    params: Mapping[str, Json] = field(default_factory=dict)
    ignored_params: Sequence[str] = ()
    #: None: ten seconds after the message before it.
    at: datetime | None = None


@dataclass(frozen=True)
class PlayedConversation:
    """Where a played conversation stands: what its next turn begins with."""

    loaded: Loaded
    #: The time of its next message, unless that names one.
    at: datetime
    #: The number of its last turn.
    turn_no: int = 0
    #: The message and the answer of its recent turns in this epoch, oldest first.
    past: Sequence[tuple[str | None, Json]] = ()
    #: The claims of its actions and tasks, by nonce: each runs once in it, as in a real one.
    executions: Mapping[str, Execution] = field(default_factory=dict)

    @classmethod
    def begin(
        cls, at: datetime, workspace: str = "default", channel: str = PLAIN_CHANNEL, **columns: Json
    ) -> "PlayedConversation":
        """A conversation that nobody has written in; `columns` of its row say where it stands nevertheless."""
        row = Conversation(str(uuid.uuid4()), workspace, channel, created_at=at)
        return cls(Loaded(replace(row, **columns), created=not columns), at)

    @classmethod
    def of(cls, recorded: StoredRecording) -> "PlayedConversation":
        """Where a stored conversation stood when a turn of it began."""
        past = [(each.user, each.assistant) for each in recorded.loaded.history]
        return cls(recorded.loaded, recorded.now, recorded.turn_no - 1, past)


@dataclass(frozen=True)
class PlayedTurn:
    turn: Turn
    outcome: EngineOutcome
    #: Every port call with its answer, in order.
    calls: Sequence[PortCall]
    _before: PlayedConversation = field(repr=False)

    @property
    def snapshot(self) -> Snapshot:
        """The configuration that it ran on."""
        return self.turn.snapshot

    @property
    def error(self) -> str | None:
        """The code of its error. Returns None for a turn that did not fail."""
        return self.outcome.error.code if self.outcome.error else None

    @cached_property
    def session(self) -> Session:
        """The session at its end, as it would be stored and as readers may see it."""
        return Redaction.of(self.snapshot).session(self.outcome.session)

    @cached_property
    def after(self) -> PlayedConversation:
        """The conversation as the commit of the turn would store it and the next turn read it, ten seconds later.

        `turns.commit` and `turns.acquire` do this for real turns.
        """
        turn, outcome, session = self.turn, self.outcome, self.session
        row, before = self._before.loaded.conversation, self._before
        before = replace(before, at=before.at + _PAUSE, turn_no=session.turn_no)
        if outcome.error and not session.reset_reason:
            return replace(before, loaded=replace(before.loaded, created=False))
        if outcome.error:
            # A turn that fails after a reset leaves the conversation reset.
            cleared = replace(
                row,
                status="RUNNING",
                intent_code=UNKNOWN,
                state_code=UNKNOWN,
                context_json={},
                input_params_json={},
                last_assistant_json=None,
                version=row.version + 1,
                context_epoch=session.epoch,
            )
            loaded = Loaded(cleared, previous_turn=before.loaded.previous_turn)
            return replace(before, loaded=loaded, past=())
        after = replace(
            row,
            **build_columns(session),
            conversation_id=session.conversation_id,
            version=row.version + 1,
            turn_count=1 if turn.previous_session else row.turn_count + 1,
        )
        past = [] if turn.previous_session or session.epoch != row.context_epoch else list(before.past)
        if not outcome.stopped:
            past.append((session.user_text, to_plain(session.last_assistant)))
        past = past[-limit:] if (limit := live_settings.read(turn.snapshot, HISTORY_MAX_TURNS).value) else []
        facts = Redaction.of(turn.snapshot).caller_data(select_turn_facts(session.input_params))
        return replace(before, loaded=Loaded(after, list_exchanges(past), to_plain(facts)), past=past)

    @cached_property
    def seen(self) -> SeenTurn:
        """The turn as its caller and its readers see it."""
        answer = make_answer(self.turn, replace(self.outcome, session=self.session))
        row = self.after.loaded.conversation
        return SeenTurn(
            self.turn.request.message,
            answer.error.status if answer.error else 200,
            to_plain(wire.select_parts(answer.turn_body, ())),
            to_plain({**asdict(row), "last_turn_no": self.after.turn_no}),
            [{name: getattr(line, name) for name in _PROGRESS} for line in answer.verbose],
            self.calls,
            self.turn.trail.events,
            lambda: (
                SeenEvent(each.stage, each.payload_json) for each in turn_reader().list_unstored_events(self.turn)
            ),
            lambda: turn_reader().explain_unstored_turn(self.turn),
            lambda: ((row.table, row.row_pk) for row in self.turn.decided_rows),
        )


def play(
    snapshot: Snapshot,
    conversation: PlayedConversation,
    messages: Sequence[PlayedMessage],
    outside: wiring.OutsideWorld,
) -> list[PlayedTurn]:
    """Run the next turns of a conversation.

    `outside` answers for models, tools, tasks and containers: with the real ones in it they are really called. Memories
    and executions never leave this process.
    """
    turns: list[PlayedTurn] = []
    for message in messages:
        before, limit = replace(conversation, at=message.at or conversation.at), conf.get("TURN_TIMEOUT_SECONDS")
        row, ignored = before.loaded.conversation, tuple(message.ignored_params)
        request = TurnRequest(row.conversation_id, message.text, message.params, ignored, row.channel, row.workspace_id)
        tape = _PlayTape(dict(before.executions))
        # The engine and the ports are those of a real turn.
        with wiring.replace_outside_world(outside), collect_faults(), limit_waits(limit):
            clock, calls = TurnClock(before.at), list[PortCall]()
            known = _KnownConversation(before.loaded)
            ports = wiring.ports(clock, known, NotingTape(tape, calls), snapshot, row.workspace_id)
            ports = replace(ports, executions=_PlayExecutions(ports.executions, tape))
            number, trail = before.turn_no + 1, Trail(clock.elapsed_ms)
            turn = Turn(str(uuid.uuid4()), number, request, snapshot, ports, trail, time_limit_ms=limit * 1000)
            listen(turn, lambda fault: log.warning("progress was not reported", error=str(fault), exc_info=fault))
            outcome = wiring.engine().run(turn)
            turns.append(PlayedTurn(turn, outcome, calls, replace(before, executions=tape.executions)))
        conversation = turns[-1].after
    return turns


def play_recorded(recorded: StoredRecording, tape: Tape, snapshot: Snapshot) -> PlayedTurn:
    """Run a stored turn again as it began, on `snapshot`, with the answers of a tape instead of real calls."""
    clock, calls = TurnClock(recorded.now), list[PortCall]()
    kinds = {request["kind"] for port, request, _ in recorded.tape if port == "finder"}
    before = PlayedConversation.of(recorded)
    ports = wiring.ports(
        clock, _KnownConversation(recorded.loaded), NotingTape(tape, calls), snapshot, finder_kinds=kinds
    )
    turn = Turn(
        recorded.turn_id,
        recorded.turn_no,
        recorded.request,
        snapshot,
        ports,
        Trail(clock.elapsed_ms),
        release_choice=recorded.release_choice,
    )
    return PlayedTurn(turn, wiring.engine().run(turn), calls, before)


@dataclass
class _KnownConversation:
    """The conversations port of a played turn."""

    loaded: Loaded

    def load(self) -> Loaded:
        return self.loaded

    def store(self) -> None:
        """Nothing is written."""


@dataclass
class NotingTape:
    """A tape that notes every call that was answered, with its answer."""

    tape: Tape
    calls: list[PortCall]

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """The answer of the tape behind it, noted. A call that raises is not noted."""
        answer = self.tape.ask(port, request, call, aside)
        self.calls.append(PortCall(port, request, answer))
        return answer


@dataclass
class _PlayTape:
    """Answers for the ports that would store something; the others are asked."""

    executions: dict[str, Execution]

    def ask(self, port: str, request: Json, call: Callable[[], Json], aside: Aside = NO_ASIDE) -> Json:
        """The answer: in memory for executions, none for memories, else that of the call."""
        answers: Mapping[str, Callable[[], Json]] = {
            "execution.claim": lambda: self._claim(request),
            "execution.finish": lambda: self._finish(request),
            "memory.read": lambda: NOTHING["memory.read"],
            "memory.write": lambda: NOTHING["memory.write"],
            "model.spent": lambda: NOTHING["model.spent"],
            "pace.wait": lambda: NOTHING["pace.wait"],
        }
        return answers.get(port, call)()

    def store_result(self, nonce: str, result: Json) -> None:
        """Store the result of a run, which the tape does not record."""
        self.executions[nonce] = replace(self.executions[nonce], result=to_plain(result))

    def _claim(self, request: Mapping[str, Json]) -> Json:
        earlier = self.executions.get(request["nonce"])
        if earlier:
            return to_plain(asdict(earlier))
        claim = Execution(True, len(self.executions) + 1, "CLAIMED", None, request["request_hash"])
        self.executions[request["nonce"]] = replace(claim, claimed=False)
        return to_plain(asdict(claim))

    def _finish(self, request: Mapping[str, Json]) -> Json:
        nonce = request["nonce"]
        self.executions[nonce] = replace(self.executions[nonce], status=request["status"])
        return {}


@dataclass(frozen=True)
class _PlayExecutions:
    """The executions port of a played turn."""

    executions: ExecutionPort
    tape: _PlayTape

    def claim(self, claim: ExecutionClaim) -> Execution:
        return self.executions.claim(claim)

    def finish(self, claim: ExecutionClaim, status: str, result: Json) -> None:
        """Store the outcome, so that a turn that is tried again after a failure uses it."""
        self.executions.finish(claim, status, result)
        self.tape.store_result(claim.nonce, result)
