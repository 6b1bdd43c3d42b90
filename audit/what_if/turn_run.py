"""Run a recorded turn on any configuration, with recorded answers only. Nothing outside is called (R134)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from audit.replay.replay import build_turn, comparable
from convengine.engine.redaction import Redaction
from convengine.engine.turn.codec import to_plain
from convengine.engine.turn.params import keep_persistent
from convengine.engine.turn.payload import Payload
from convengine.engine.turn.ports import MemoryAnswer, TaskAnswer, TaskRun, TransformAnswer
from convengine.engine.turn.recording import ExactReuse, Playback, Tape, name_call
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import DecidingRow, Turn
from convengine.server import wiring
from convengine.server.turns.turn_record import StoredRecording

Json = Any
#: Ports whose calls are actions.
_ACTIONS = frozenset({"tool", "task"})
#: Fields of the session that the next turn begins with, besides intent, state, answer and input params.
_REMEMBERED = ("context", "lifecycle", "status", "preferences", "mounted_kb_id", "clarification")
#: The field of the context with a summary of what is compared anyway.
_SUMMARY = "memory"


@dataclass(frozen=True)
class TurnRun:
    """How a turn ended on a configuration."""

    snapshot: Snapshot
    session: Session
    #: Null for a turn that did not fail.
    error: str | None
    #: The rows that decided something, in order.
    decided: Sequence[DecidingRow]
    #: The called tools and tasks, with what was sent.
    actions: Sequence[tuple[str, Json]]
    #: The calls that the recording cannot answer. Then nothing else of the run counts.
    unanswered: Sequence[str]

    @property
    def intent(self) -> str | None:
        """Null for a failed turn."""
        return None if self.error else self.session.intent

    @property
    def state(self) -> str | None:
        """Null for a failed turn."""
        return None if self.error else self.session.state

    @cached_property
    def answer(self) -> Json:
        """The answer as it would be stored; null for a failed turn."""
        return None if self.error else comparable(to_plain(self.masked_session.last_assistant))

    @property
    def masked_session(self) -> Session:
        """The session as readers may see it."""
        return Redaction.of(self.snapshot).session(self.session)

    @property
    def remembered(self) -> Json:
        """What the next turn would find; null for a failed turn, which leaves the conversation as it was or reset."""
        return None if self.error else _list_remembered(self.session)

    @property
    def masked_remembered(self) -> Json:
        """The same as readers may see it."""
        return None if self.error else _list_remembered(self.masked_session)

    @property
    def action_names(self) -> list[str]:
        """The called tools and tasks without the data that was sent."""
        return [name_call(port, request).removeprefix("the ") for port, request in self.actions]


def _list_remembered(session: Session) -> Json:
    fields = {name: to_plain(getattr(session, name)) for name in _REMEMBERED}
    context = {name: value for name, value in fields["context"].items() if name != _SUMMARY}
    return comparable({**fields, "context": context, "inputParams": to_plain(keep_persistent(session.input_params))})


def run_turn(recorded: StoredRecording, snapshot: Snapshot, subjects: dict[int, Json]) -> TurnRun:
    """Run the turn from its recorded session. `subjects` are those of `find_subjects`."""
    tape = ExactReuse(recorded.tape, subjects=subjects)

    def set_subject(subject: Json) -> None:
        tape.subject = subject

    turn = _build_watched_turn(recorded, tape, snapshot, set_subject)
    outcome = wiring.engine().run(turn)
    return TurnRun(
        snapshot,
        outcome.session,
        outcome.error.code if outcome.error else None,
        tuple(turn.decided_rows),
        tuple((port, request) for port, request in tape.requests if port in _ACTIONS),
        tuple(tape.unanswered),
    )


def find_subjects(recorded: StoredRecording, own: Callable[[], Snapshot]) -> dict[int, Json]:
    """What the recorded calls of tasks and transformers were about, by their position on the tape.

    The recording does not have it: the turn runs once more on `own`, its own release. Turns without such calls do not.
    """
    if not any(port == "task" or _is_transformed(port, answer) for port, _, answer in recorded.tape):
        return {}
    tape, subjects = Playback(recorded.tape), dict[int, Json]()

    def set_subject(subject: Json) -> None:
        subjects[tape.position] = subject

    wiring.engine().run(_build_watched_turn(recorded, tape, own(), set_subject))
    return subjects


def _is_transformed(port: str, answer: Json) -> bool:
    return port == "transform" and answer["transformer"] is not None


def _build_watched_turn(
    recorded: StoredRecording, tape: Tape, snapshot: Snapshot, set_subject: Callable[[Json], None]
) -> Turn:
    turn = build_turn(recorded, tape, snapshot)
    ports: Any = turn.ports
    recorded_stages = {request for port, request, answer in recorded.tape if _is_transformed(port, answer)}
    turn.ports = replace(
        turn.ports,
        tasks=_WatchedTasks(ports.tasks, set_subject),
        memory=_WatchedMemory(ports.memory, any(port == "memory.read" for port, _, _ in recorded.tape)),
        transformers=_WatchedTransformers(ports.transformers, set_subject, recorded_stages),
    )
    return turn


@dataclass(frozen=True)
class _WatchedTasks:
    """Tasks that say what a call is about: a task reads the session besides its request."""

    tasks: Any
    set_subject: Callable[[Json], None]

    def methods(self, task: str) -> Sequence[str] | None:
        names: Sequence[str] | None = self.tasks.methods(task)
        return names

    def names(self) -> Sequence[str]:
        names: Sequence[str] = self.tasks.names()
        return names

    def allowed_from_context(self, task: str) -> bool:
        return bool(self.tasks.allowed_from_context(task))

    def is_repeatable(self, task: str, methods: Sequence[str]) -> bool:
        return bool(self.tasks.is_repeatable(task, methods))

    def run(
        self, task: str, method: str, session: Session, rule: Rule | None = None, task_run: TaskRun | None = None
    ) -> TaskAnswer:
        self.set_subject(comparable(to_plain([session.context, session.input_params])))
        answer: TaskAnswer = self.tasks.run(task, method, session, rule, task_run)
        return answer


@dataclass(frozen=True)
class _WatchedMemory:
    """Memory that answers nothing by itself where no store is registered."""

    memory: Any
    is_recorded: bool

    def read(self, session: Session) -> MemoryAnswer:
        if not self.is_recorded and not self.memory.has_stores:
            return MemoryAnswer()
        answer: MemoryAnswer = self.memory.read(session)
        return answer

    def write(self, session: Session, summary: str) -> MemoryAnswer:
        answer: MemoryAnswer = self.memory.write(session, summary)
        return answer


@dataclass(frozen=True)
class _WatchedTransformers:
    """Transformers that say what a call is about: the answer; without a fitting one they change nothing."""

    transformers: Any
    set_subject: Callable[[Json], None]
    #: The stages in which a transformer was recorded.
    recorded: set[str]

    def transform(self, stage: str, payload: Payload, session: Session) -> TransformAnswer:
        if stage not in self.recorded and self.transformers.find_name(stage, session) is None:
            return TransformAnswer()
        self.set_subject(comparable([payload.type, to_plain(payload.value), session.intent, session.state]))
        answer: TransformAnswer = self.transformers.transform(stage, payload, session)
        return answer
