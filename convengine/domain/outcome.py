"""What a step may answer: go on, or end the turn."""

from dataclasses import dataclass

from convengine.domain.session import FinalResult, Session


@dataclass(frozen=True)
class Continue:
    """Go on with the next step, with this session."""

    session: Session


@dataclass(frozen=True)
class Stop:
    """End the turn now with this result; later steps do not run."""

    session: Session
    result: FinalResult


Outcome = Continue | Stop
