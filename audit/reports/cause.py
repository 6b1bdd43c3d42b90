"""Whether a release is why turns are worse: such turns run again on the release before it and on it (what if).

That a rate rose after a release says nothing: users may ask something else. So a release is blamed only for messages
that go wrong on it and did not before: one that is not understood on either, with other words, is no fault of it.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import structlog
from django.db import DatabaseError, InterfaceError
from django.db.models import Q

from audit.record.milestones import CONDITIONS, Milestone
from audit.record.outcomes import BOT_FAILURES, has_bot_failed
from audit.record.task_errors import RULE_STAGE, TASK_ERROR_STAGES
from audit.record.turn_index import has_stage
from audit.replay.replay import NotReplayable, find_subjects, play_elsewhere, restore_recording
from audit.reports.measures import FAILED, FORMS_COMPLETED, HANDED_OVER, NOT_UNDERSTOOD_TURNS, TASK_FAILED, Measure
from convengine.engine.forms.stages import FORM_LEFT
from convengine.engine.steps.responses.stages import FORM_GIVEN_UP, NOT_UNDERSTOOD, PERSON_WANTED
from convengine.engine.turn.enums import TurnStatus
from convengine.engine.turn.scope import HAND_OVER, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversationHistory

log = structlog.get_logger(__name__)
#: How many such turns run again, the first ones on the release; with fewer known results, nothing is known.
SAMPLE, FEWEST_KNOWN = 20, 5


class PlayedResult(NamedTuple):
    """How a turn ends that runs again."""

    intent: str
    state: str
    is_failed: bool
    stages: frozenset[str]


class TurnKind(NamedTuple):
    """Some turns: the condition of stored ones, and the same of one that runs again."""

    stored: Any
    includes: Callable[[PlayedResult], bool]


def _with_stage(*stages: str) -> TurnKind:
    return TurnKind(has_stage(*stages), lambda played: not played.stages.isdisjoint(stages))


def _is_handed_over(played: PlayedResult) -> bool:
    """True where a person was wanted: a bot that gave up has other rates."""
    return not played.is_failed and played.state == HAND_OVER and not has_bot_failed(played.stages)


_IS_HANDED_OVER = CONDITIONS[Milestone.HANDED_OVER] & (~Q(has_stage(*BOT_FAILURES)) | Q(has_stage(str(PERSON_WANTED))))

#: The turns that make a rate bad.
_BAD_TURNS: Mapping[Measure, TurnKind] = {
    NOT_UNDERSTOOD_TURNS: _with_stage(str(NOT_UNDERSTOOD)),
    HANDED_OVER: TurnKind(_IS_HANDED_OVER, _is_handed_over),
    FORMS_COMPLETED: _with_stage(str(FORM_LEFT), str(FORM_GIVEN_UP)),
    TASK_FAILED: TurnKind(
        CONDITIONS[Milestone.TASK_FAILED], lambda played: not played.stages.isdisjoint((*TASK_ERROR_STAGES, RULE_STAGE))
    ),
    FAILED: TurnKind(Q(status=TurnStatus.FAILED.value), lambda played: played.is_failed),
}


class CauseEvidence(NamedTuple):
    """What the same messages do on the release before, and on the release."""

    sample: int
    #: How many of them can run on both without asking anybody, and how many of these go wrong on the release only.
    known: int = 0
    caused: int = 0

    @property
    def is_known(self) -> bool:
        """True with enough results."""
        return self.known >= FEWEST_KNOWN and 2 * self.known >= self.sample

    def explains(self, excess: float) -> bool:
        """True when the caused ones are at least half of those that there are too many of, a share of all."""
        return self.is_known and self.caused > 0 and 2 * self.caused >= excess * self.known

    def describe(self, name: str) -> str:
        """In a sentence; `name`: such as `release 12`."""
        if not self.is_known:
            return f"Whether {name} caused it cannot be known: too few of these messages can run again without a model."
        caused = f"{self.caused or 'none'} {'goes' if self.caused == 1 else 'go'}"
        return f"Of {self.known} such messages, {caused} wrong on {name} but not before it."


def find_bad_turns(measure: Measure, first: int, last: int, *, is_open: bool = False) -> CauseEvidence:
    """Whether releases caused the turns that make a rate bad on them; with `is_open`, also those on later releases."""
    return _find_evidence(_BAD_TURNS[measure], first, last, is_open=is_open)


def find_moved_turns(intents: Sequence[str], first: int, last: int) -> CauseEvidence:
    """What the messages do that have these intents on some releases: how many have them there only."""
    kind = TurnKind(Q(intent_code__in=intents), lambda played: played.intent in intents)
    return _find_evidence(kind, first, last)


def _find_evidence(kind: TurnKind, first: int, last: int, *, is_open: bool = False) -> CauseEvidence:
    """Run the first such turns of the releases again: on the last of the releases, and on the one before the first.

    With `is_open`, turns on later releases count too.
    """
    turn_ids = list(select_turns(kind.stored, first, None if is_open else last))
    pairs = [(_run_again(turn_id, first - 1), _run_again(turn_id, last)) for turn_id in turn_ids]
    known = [(before, after) for before, after in pairs if before and after]
    caused = sum(kind.includes(after) and not kind.includes(before) for before, after in known)
    return CauseEvidence(len(turn_ids), len(known), caused)


def select_turns(wanted: Any, first: int, last: int | None) -> Any:
    """The IDs of the first SAMPLE such turns on some releases; with `last` None, also on all later ones.

    In the order of an index: the table may be large.
    """
    turns = CeConversationHistory.objects.filter(wanted, config_version__gte=first)
    turns = turns if last is None else turns.filter(config_version__lte=last)
    return turns.order_by("config_version", "pk").values_list("turn_id", flat=True)[:SAMPLE]


@lru_cache(maxsize=4096)
def _run_again(turn_id: uuid.UUID, release: int) -> PlayedResult | None:
    """How a turn ends on a release. Returns None where that cannot be known, or if it fails unexpectedly.

    A process runs it once, as long as the result is in its cache. Raises what the database raises, which is not cached.
    """
    turn = CeConversationHistory.objects.defer(None).filter(turn_id=turn_id).first()
    try:
        snapshot = configuration().at(release)
    except LookupError:
        return None
    try:
        return _play(turn, snapshot) if turn else None
    except NotReplayable:
        return None
    except (DatabaseError, InterfaceError):
        raise
    except Exception as fault:
        # The reader of a page can do nothing about it.
        log.warning("turn does not run again", turn_id=str(turn_id), release=release, error=str(fault), exc_info=fault)
        return None


def _play(turn: CeConversationHistory, snapshot: Snapshot) -> PlayedResult | None:
    """Play a turn on a release. Returns None if it asks something that was not recorded. Raises NotReplayable."""
    recorded = restore_recording(turn)
    played, tape = play_elsewhere(recorded, snapshot, find_subjects(recorded, configuration().at))
    if tape.unanswered:
        return None
    session = played.outcome.session
    stages = frozenset(event.stage for event in played.turn.trail.events)
    return PlayedResult(session.intent or UNKNOWN, session.state or UNKNOWN, played.error is not None, stages)
