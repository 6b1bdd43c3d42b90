"""What a step may answer: go on, or end the turn."""

from typing import NamedTuple

from convengine.domain.session import FinalResult, Session


class Continue(NamedTuple):
    """Go on with the next step, with this session."""

    session: Session


class Stop(NamedTuple):
    """End the turn now with this result; later steps do not run."""

    session: Session
    result: FinalResult


Outcome = Continue | Stop
