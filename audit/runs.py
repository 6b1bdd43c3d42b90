"""Turns run again, as pages and the API tell it: equal, or where they differ, or why they cannot be run (law 3)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.expand import expanded
from audit.pages.comparing import StepPair, compared
from audit.replay import Difference, NotReplayable, Run, first_difference, run
from convengine import conf
from convengine.sessions.models import CeConversationHistory

Json = Any
#: Turns of one answer.
MOST = 100


@dataclass(frozen=True)
class Outcome:
    """What became of one turn."""

    record: CeConversationHistory
    config_version: int
    #: Why it cannot be run; blank when it was.
    refused: str = ""
    run: Run | None = None
    steps: Sequence[StepPair] = ()
    #: The first difference on the turn's own release; null for none, and on another release.
    first: Difference | None = None

    @property
    def own(self) -> bool:
        """True when it ran on the turn's own release, where nothing may differ."""
        return self.config_version == self.record.config_version

    @property
    def differing(self) -> int:
        """How many steps differ."""
        return sum(step.differs for step in self.steps)

    @property
    def equal(self) -> bool:
        """True when no event and no answer differs, and nothing was asked that is not recorded."""
        if self.run is None or self.first or self.run.missing:
            return False
        return not self.differing and self.run.answers[0] == self.run.answers[1]


def today() -> int:
    """The release in force."""
    found: int = conf.load("SNAPSHOT").current().config_version
    return found


def outcome(record: CeConversationHistory, config_version: int | None = None) -> Outcome:
    """Run a turn again on a release, its own without one. Nothing outside is called, and nothing is written.

    Raises LookupError for a release that there is not.
    """
    version = record.config_version if config_version is None else config_version
    try:
        found = run(record, config_version)
    except NotReplayable as refused:
        return Outcome(record, version, str(refused))
    steps = compared(list(expanded(found.stored)), list(expanded(found.replayed)))
    first = first_difference(found) if version == record.config_version else None
    return Outcome(record, version, run=found, steps=steps, first=first)
