"""Whether a release is why turns are worse: such turns run again on the release before it and on it (what if).

That a rate rose after a release says nothing: users may ask something else. So a release is blamed for messages only
that come out differently because of it.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from django.db.models import Q

from audit.record.milestones import CONDITIONS, Milestone, has_stage
from audit.replay.replay import NotReplayable, restore_recording
from audit.reports.measures import FAILED, FORMS_COMPLETED, NEEDED_PERSON, NOT_UNDERSTOOD_TURNS, Measure
from convengine.engine.forms.stages import FORM_LEFT
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP, NOT_UNDERSTOOD
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.recording import ExactReuse
from convengine.engine.turn.snapshot import Snapshot
from convengine.play.comparison import MET, Aspect, compare_turns, summarise
from convengine.play.play import play_recorded
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory

#: How many such turns run again, the first ones on the release; with fewer known results, nothing is known.
SAMPLE, FEWEST_KNOWN = 20, 5
#: The turns that make a rate bad.
_BAD_TURNS: Mapping[Measure, Any] = {
    NOT_UNDERSTOOD_TURNS: has_stage([str(NOT_UNDERSTOOD)]),
    NEEDED_PERSON: CONDITIONS[Milestone.NEEDED_PERSON],
    FORMS_COMPLETED: has_stage([str(FORM_LEFT), str(FORM_GIVEN_UP)]),
    FAILED: Q(status=TurnStatus.FAILED.value),
}


class Evidence(NamedTuple):
    """What the same messages do on the release before, and on the release."""

    sample: int
    #: How many of them can run on both without asking anybody, and how many of these come out differently.
    known: int = 0
    changed: int = 0

    @property
    def is_known(self) -> bool:
        """True with enough results."""
        return self.known >= FEWEST_KNOWN and 2 * self.known >= self.sample

    def explains(self, excess: float) -> bool:
        """True when the changed messages are at least half of those that there are too many of, a share of all."""
        return self.is_known and self.changed > 0 and 2 * self.changed >= excess * self.known

    def describe(self, name: str) -> str:
        """In a sentence; `name`: such as `release 12`."""
        if not self.is_known:
            return f"Whether {name} caused it cannot be known: too few of these messages can run again without a model."
        changed = f"{self.changed or 'none'} {'comes' if self.changed == 1 else 'come'}"
        return f"Of {self.known} such messages, {changed} out differently on {name} than before it."


def find_bad_turns(measure: Measure, first: int, last: int, *, is_open: bool = False) -> Evidence:
    """What the turns do that make a rate bad, on some releases; `is_open`: also those on later releases."""
    return _find_evidence(_BAD_TURNS[measure], first, last, MET, is_open=is_open)


def find_moved_turns(intents: Sequence[str], first: int, last: int) -> Evidence:
    """What the messages do that have these intents on some releases."""
    return _find_evidence(Q(intent_code__in=intents), first, last, (Aspect.INTENT,))


def _find_evidence(wanted: Any, first: int, last: int, aspects: Sequence[Aspect], *, is_open: bool = False) -> Evidence:
    """Run some turns again on the last of the releases and on the one before the first."""
    turns = CeConversationHistory.objects.filter(wanted, config_version__gte=first)
    turns = turns if is_open else turns.filter(config_version__lte=last)
    keys = tuple(turns.order_by("pk").values_list("pk", flat=True)[:SAMPLE])
    results = _run_again(keys, first - 1, last, tuple(aspects)) if keys else []
    known = [result for result in results if result is not None]
    return Evidence(len(keys), len(known), sum(known))


@lru_cache(maxsize=256)
def _run_again(keys: Sequence[int], before: int, after: int, aspects: Sequence[Aspect]) -> Sequence[bool | None]:
    """Whether each turn comes out differently; null where that cannot be known. A process runs each once."""
    try:
        snapshots = [configuration().at(version) for version in (before, after)]
    except LookupError:
        return [None] * len(keys)
    turns = CeConversationHistory.objects.filter(pk__in=keys).defer(None)
    return list(map(partial(_differs, snapshots=snapshots, aspects=aspects), turns))


def _differs(turn: CeConversationHistory, snapshots: Sequence[Snapshot], aspects: Sequence[Aspect]) -> bool | None:
    try:
        recorded = restore_recording(turn)
    except NotReplayable:
        return None
    tapes = [ExactReuse(recorded.tape) for _ in snapshots]
    before, after = (
        summarise(play_recorded(recorded, tape, snapshot)) for tape, snapshot in zip(tapes, snapshots, strict=True)
    )
    return None if any(tape.unanswered for tape in tapes) else bool(compare_turns(before, after, aspects))
