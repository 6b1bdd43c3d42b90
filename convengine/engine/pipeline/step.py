"""The contract of a step and of its answer: go on, or end the turn."""

from typing import ClassVar, NamedTuple

from convengine.engine.turn.session import PARAM_FIELDS, FinalResult, Right, Session
from convengine.engine.turn.turn import Turn


class Continue(NamedTuple):
    """Go on with the next step, with this session."""

    session: Session


class Stop(NamedTuple):
    """End the turn now with this result; later steps do not run."""

    session: Session
    result: FinalResult


#: The possible results of a step.
Outcome = Continue | Stop


class Step:
    """One step of the pipeline.

    A step keeps no state between turns and is shared by all threads: two values go in, one comes out. Its name is the
    class name, also in the audit, the settings and the files.
    """

    #: Names of steps that must run before (`after`) and behind (`before`) this one. Each must be registered.
    after: ClassVar[tuple[str, ...]] = ()
    before: ClassVar[tuple[str, ...]] = ()
    #: Session fields that this step may change; the runner refuses any other change. `input_params` means all params.
    writes: ClassVar[frozenset[str]] = frozenset()
    #: What the step may do that changes more: run rules, start over, begin a new task.
    rights: ClassVar[tuple[Right, ...]] = ()
    #: Position among steps that the constraints leave open; canonical number times 100.
    rank: ClassVar[int] = 0
    #: Exactly one step creates the conversation's row …
    bootstrap: ClassVar[bool] = False
    #: … and steps that refer to it run after that one.
    requires_persisted: ClassVar[bool] = False
    #: Exactly one step is the last.
    terminal: ClassVar[bool] = False
    #: True for a step with something to do in any turn. Any other should say by `find_idle_reason` when it has not.
    always_runs: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        if "input_params" in cls.writes:
            cls.writes = (cls.writes - {"input_params"}) | PARAM_FIELDS

    @property
    def name(self) -> str:
        return type(self).__name__

    def active(self, session: Session, turn: Turn) -> bool:
        """False when the step does not run in this turn: no audit, not in the trace."""
        return True

    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        """Why the step has nothing to do in this turn, as the trace shows it: then it is not executed.

        Returns None if it may have something to do; so does a step that does not say.
        """
        return None

    def execute(self, session: Session, turn: Turn) -> Outcome:
        """Do the step's work. May raise a ConvEngineError, which fails the turn with that code.

        Must return Continue or Stop; anything else is PIPELINE_STEP_FAILED.
        """
        raise NotImplementedError
