"""A conversation in memory: turns run on any snapshot, and nothing is stored, counted or called for effect."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

import structlog

from convengine.engine.memory.settings import HISTORY_MAX_TURNS
from convengine.engine.pipeline.engine import EngineOutcome
from convengine.engine.redaction import Redaction
from convengine.engine.turn import live_settings
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.conversation import Conversation, Loaded, list_exchanges
from convengine.engine.turn.params import keep_persistent, select_turn_facts
from convengine.engine.turn.ports import Execution, ExecutionClaim, ExecutionPort
from convengine.engine.turn.recording import NOTHING, Recording
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.trail import Listener, Trail
from convengine.engine.turn.turn import Turn, TurnRequest
from convengine.engine.verbose.publish import listen
from convengine.server import wiring
from convengine.server.database.sql import TurnClock
from convengine.server.deployment import conf
from convengine.server.extensions.faults import collect_faults
from convengine.server.resilience.time_left import limit_waits
from convengine.server.turns.take_turn import TurnAnswer, make_answer, restore_original_session

log = structlog.get_logger(__name__)
Json = Any


@dataclass(frozen=True)
class PlayedConversation:
    """Where a played conversation stands: what its next turn begins with."""

    loaded: Loaded
    #: The number of its last turn.
    turn_no: int = 0
    #: The message and the answer of its recent turns in this epoch, oldest first.
    past: Sequence[tuple[str | None, Json]] = ()
    #: The claims of its actions and tasks, by nonce: each runs once in it, as in a real one.
    executions: Mapping[str, Execution] = field(default_factory=dict)

    @property
    def conversation_id(self) -> str:
        return self.loaded.conversation.conversation_id


@dataclass(frozen=True)
class PlayedTurn:
    """A turn that was tried."""

    turn: Turn
    outcome: EngineOutcome
    #: Every port call with its answer, in order.
    calls: Sequence[Sequence[Json]]
    #: Where the conversation stands after it.
    after: PlayedConversation

    @property
    def answer(self) -> TurnAnswer:
        """The result as the API would give it."""
        return make_answer(self.turn, self.outcome)


def begin_conversation(at: datetime, workspace: str = "default", channel: str = "api") -> PlayedConversation:
    """A conversation that nobody has written in."""
    row = Conversation(str(uuid.uuid4()), workspace, channel, created_at=at)
    return PlayedConversation(Loaded(row, created=True))


def play_turn(
    snapshot: Snapshot,
    before: PlayedConversation,
    message: str | None,
    at: datetime,
    outside: wiring.OutsideWorld,
    *,
    params: Mapping[str, Json] | None = None,
    ignored_params: Sequence[str] = (),
    listeners: Sequence[Listener] = (),
) -> PlayedTurn:
    """Run the next turn of a played conversation.

    `outside` answers for models, tools, tasks and containers: with the real ones in it they are really called. Memories
    and executions never leave this process.
    """
    row = before.loaded.conversation
    request = TurnRequest(
        row.conversation_id, message, params or {}, tuple(ignored_params), row.channel, row.workspace_id
    )
    clock, tape = TurnClock(at), _PlayTape(dict(before.executions))
    with wiring.replace_outside_world(outside), collect_faults(), limit_waits(conf.get("TURN_TIMEOUT_SECONDS")):
        ports = wiring.ports(clock, _KnownConversation(before.loaded), tape, snapshot, row.workspace_id)
        ports = replace(ports, executions=_PlayExecutions(ports.executions, tape))
        turn = Turn(
            str(uuid.uuid4()),
            before.turn_no + 1,
            request,
            snapshot,
            ports,
            Trail(clock.elapsed_ms, tuple(listeners)),
            time_limit_ms=conf.get("TURN_TIMEOUT_SECONDS") * 1000,
        )
        listen(turn, lambda fault: log.warning("progress not told", error=str(fault), exc_info=fault))
        outcome = wiring.engine().run(turn)
    if outcome.error and turn.previous_session:
        outcome = restore_original_session(turn, turn.previous_session, outcome)
    outcome = replace(outcome, session=Redaction.of(snapshot).session(outcome.session))
    return PlayedTurn(turn, outcome, tape.entries, _continue_conversation(before, turn, outcome, tape.executions))


def _continue_conversation(
    before: PlayedConversation, turn: Turn, outcome: EngineOutcome, executions: Mapping[str, Execution]
) -> PlayedConversation:
    """What the commit of a turn would store and the next turn would read (`turns.commit`, `turns.acquire`)."""
    if outcome.error and not outcome.session.reset_reason:
        return replace(
            before, loaded=replace(before.loaded, created=False), turn_no=turn.turn_no, executions=executions
        )
    session, row = outcome.session, before.loaded.conversation
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
        return PlayedConversation(loaded, turn.turn_no, (), executions)
    after = replace(
        row,
        conversation_id=session.conversation_id,
        status=session.status,
        intent_code=session.intent or UNKNOWN,
        state_code=session.state or UNKNOWN,
        context_json=to_plain(session.context),
        input_params_json=to_plain(keep_persistent(session.input_params)),
        last_user_text=session.user_text,
        last_assistant_json=to_plain(session.last_assistant),
        version=row.version + 1,
        turn_count=1 if turn.previous_session else row.turn_count + 1,
        context_epoch=session.epoch,
        lifecycle=session.lifecycle,
        lifecycle_detail=to_plain(session.lifecycle_detail),
        context_summary=session.context_summary,
        preferences=to_plain(session.preferences),
        mounted_kb_id=session.mounted_kb_id,
    )
    past = [] if turn.previous_session or session.epoch != row.context_epoch else list(before.past)
    if not outcome.stopped:
        past.append((session.user_text, to_plain(session.last_assistant)))
    past = past[-limit:] if (limit := live_settings.read(turn.snapshot, HISTORY_MAX_TURNS).value) else []
    facts = Redaction.of(turn.snapshot).caller_data(select_turn_facts(session.input_params))
    return PlayedConversation(Loaded(after, list_exchanges(past), to_plain(facts)), turn.turn_no, past, executions)


@dataclass
class _KnownConversation:
    """The conversations port of a played turn."""

    loaded: Loaded

    def load(self) -> Loaded:
        return self.loaded

    def store(self) -> None:
        """Nothing is written."""


@dataclass
class _PlayTape:
    """Answers for the ports that would store something; the others are asked and recorded."""

    executions: dict[str, Execution]
    recording: Recording = field(default_factory=Recording)

    @property
    def entries(self) -> list[list[Json]]:
        """The calls as [port, request, answer]."""
        return self.recording.entries

    def ask(self, port: str, request: Json, call: Callable[[], Json]) -> Json:
        """The answer: in memory for executions, none for memories, else that of the call."""
        answers: Mapping[str, Callable[[], Json]] = {
            "execution.claim": lambda: self._claim(request),
            "execution.finish": lambda: self._finish(request),
            "memory.read": lambda: NOTHING["memory.read"],
            "memory.write": lambda: NOTHING["memory.write"],
            "model.spent": lambda: NOTHING["model.spent"],
            "pace.wait": lambda: NOTHING["pace.wait"],
        }
        return self.recording.ask(port, request, answers.get(port, call))

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
