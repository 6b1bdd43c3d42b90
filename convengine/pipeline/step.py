"""The contract of a step. The do-nothing base class is the specification (pipeline-1 1.3, 1.4)."""

from typing import ClassVar

from convengine.domain.outcome import Outcome
from convengine.domain.session import Session
from convengine.domain.turn import Turn


class Step:
    """One step of the pipeline.

    A step holds nothing between turns and is shared by all threads. What it needs to know comes in as two values,
    what it did goes out as one. Its name is the class name: the audit, the settings and the files use it too.
    """

    #: Names of steps that run earlier, and of steps that run later. Each must be registered.
    after: ClassVar[tuple[str, ...]] = ()
    before: ClassVar[tuple[str, ...]] = ()
    #: Session fields that this step may change; the runner refuses any other change.
    writes: ClassVar[frozenset[str]] = frozenset()
    #: Place among steps that the constraints leave open; canonical number times 100.
    rank: ClassVar[int] = 0
    #: Exactly one step makes sure that the conversation row exists …
    bootstrap: ClassVar[bool] = False
    #: … and steps that refer to it run after that one.
    requires_persisted: ClassVar[bool] = False
    #: Exactly one step is the last.
    terminal: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The step's name in audit, settings and constraints."""
        return type(self).__name__

    def active(self, session: Session, turn: Turn) -> bool:
        """False when the step takes no part in this turn: no audit, absent from the trace (R34)."""
        return True

    def execute(self, session: Session, turn: Turn) -> Outcome:
        """Do the step's work. May raise a ConvEngineError, which fails the turn with that code.

        Must answer Continue or Stop; anything else is PIPELINE_STEP_FAILED.
        """
        raise NotImplementedError
