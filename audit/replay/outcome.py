"""The result of replayed turns, for pages and the API: equal, the differences, or why they cannot be replayed.

Source: law 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from audit.record.events import expand_events
from audit.replay.comparison import StepPair, compare_turns
from audit.replay.replay import Difference, NotReplayable, Replayed, first_difference, replay_turn
from convengine.server.app_interfaces import configuration
from convengine.server.sessions.models import CeConversationHistory

Json = Any
#: Maximum turns of one answer.
MAX_TURNS = 100


@dataclass(frozen=True)
class ReplayOutcome:
    """The result of one turn."""

    record: CeConversationHistory
    config_version: int
    #: Why it cannot be replayed, or blank.
    refused: str = ""
    run: Replayed | None = None
    steps: Sequence[StepPair] = ()
    #: The first difference on the turn's own release; null for none, and on another release.
    first: Difference | None = None

    @property
    def own(self) -> bool:
        """True when it ran on the turn's own release, where nothing may differ."""
        return self.config_version == self.record.config_version

    @property
    def differing(self) -> int:
        """The number of differing steps."""
        return sum(step.differs for step in self.steps)

    @property
    def equal(self) -> bool:
        """True when no event and no answer differs, and every call was recorded."""
        if self.run is None or self.first or self.run.missing:
            return False
        return not self.differing and self.run.answers[0] == self.run.answers[1]


def current_release() -> int:
    """The release in force."""
    version: int = configuration().current().config_version
    return version


def replay_outcome(record: CeConversationHistory, config_version: int | None = None) -> ReplayOutcome:
    """Replay a turn on a release, by default its own. Nothing outside is called, and nothing is written.

    Raises LookupError for an unknown release.
    """
    version = record.config_version if config_version is None else config_version
    try:
        run = replay_turn(record, None if version == record.config_version else configuration().at(version))
    except NotReplayable as refused:
        return ReplayOutcome(record, version, str(refused))
    steps = compare_turns(list(expand_events(run.stored_events)), list(expand_events(run.events)))
    first = first_difference(run) if version == record.config_version else None
    return ReplayOutcome(record, version, run=run, steps=steps, first=first)
