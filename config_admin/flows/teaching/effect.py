"""What new phrases of an intent would change: stored messages, and tests. Nothing is stored."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from config_admin.flows.teaching.lesson import Lesson
from config_admin.releases.active import snapshots
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.restore_rows import lay_rows_over
from config_admin.test_cases.models import CeTestCase
from config_admin.test_cases.play import play_test
from config_admin.transfer.import_plan import plan_import
from convengine.engine.steps.intents.classifiers import find_intents
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import encode, encode_text
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.play.in_memory import list_reached_intents, play_first_message

#: How many different messages are compared, the most frequent ones; and how many changed ones of each kind are shown,
#: and therefore played.
MOST_COMPARED, MOST_SHOWN = 2_000, 12
#: The cosine from which a message is near to a phrase.
_RELATED = 0.3
#: How many tests are read, and how many with a message that changes are played.
MOST_TESTS, MOST_PLAYED = 2_000, 25
#: Warnings that the messages themselves show.
_SHOWN_BY_MESSAGES = frozenset({"PHRASE_OF_OTHER_INTENT", "CLASSIFIER_OVERLAP"})


class ChangeKind(StrEnum):
    """How the phrases change what a message leads to."""

    TAKEN = "TAKEN"
    """It leads to another intent today, and would lead to this one."""
    ASKED = "ASKED"
    """Its user would be asked which intent is meant."""
    OTHER = "OTHER"
    CAUGHT = "CAUGHT"
    """Nobody understands it today."""


class ChangedMessage(NamedTuple):
    """A stored message whose intents the phrases change; several are asked about, none is not understood."""

    text: str
    #: How often it came.
    times: int
    before: tuple[str, ...]
    after: tuple[str, ...]

    def find_kind(self, intent: str) -> ChangeKind:
        if self.after == (intent,):
            return ChangeKind.TAKEN if self.before else ChangeKind.CAUGHT
        return ChangeKind.ASKED if len(self.after) > 1 else ChangeKind.OTHER


class ChangedTest(NamedTuple):
    """A test with another result."""

    test_case_id: int
    title: str
    #: It passes with the phrases.
    passes: bool


@dataclass
class LessonEffect:
    lesson: Lesson
    #: Identifies lesson and configuration: what is saved is what was shown.
    digest: str
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    #: The phrases that would not lead to the intent, with the intents that they lead to.
    missing: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    #: The messages that change, the most frequent first.
    changed: list[ChangedMessage] = field(default_factory=list)
    #: The messages of the period, and those that are rarer and were not compared.
    messages: int = 0
    uncompared: int = 0
    tests: list[ChangedTest] = field(default_factory=list)
    #: Tests with a message that changes, beyond those that were played.
    unplayed: int = 0
    #: The configurations without and with the phrases; None if they cannot be saved.
    before: Snapshot | None = None
    after: Snapshot | None = None

    def list_changed(self, kind: ChangeKind) -> list[ChangedMessage]:
        return [message for message in self.changed if message.find_kind(self.lesson.intent) is kind]

    @property
    def is_safe(self) -> bool:
        """True when nothing is taken from other intents and no test fails."""
        caught = self.list_changed(ChangeKind.CAUGHT)
        return len(caught) == len(self.changed) and all(test.passes for test in self.tests)

    @property
    def intents_taken(self) -> list[tuple[str, int]]:
        """The intents that lose messages, with how many."""
        counts: Counter[str] = Counter()
        for message in self.list_changed(ChangeKind.TAKEN):
            counts.update(dict.fromkeys(message.before, message.times))
        return counts.most_common()


@choose_making(Making.PREVIEW)
def find_effect(lesson: Lesson, messages: Mapping[str, int], now: datetime, *, with_tests: bool = True) -> LessonEffect:
    """Compare the configuration of the request without and with the phrases. If these have errors, only the errors.

    `messages`: the stored ones, each with how often it came; the `MOST_COMPARED` most frequent are compared. The engine
    says of each what it means as a first message; those that the page shows are played. `with_tests`: play the tests
    too.
    """
    before, plan = snapshots.current(), plan_import(lesson.make_document())
    effect = LessonEffect(lesson, hash_of(canonical([plan.content_hash, lesson.intent, lesson.state, *lesson.phrases])))
    effect.messages = sum(messages.values())
    effect.errors = [located.finding.message for located in plan.errors]
    if effect.errors:
        return effect
    effect.warnings = [
        located.finding.message for located in plan.findings if located.finding.code not in _SHOWN_BY_MESSAGES
    ]
    after = lay_rows_over(before, plan.placed.wanted)
    effect.before, effect.after = before, after
    reached = [(phrase, _play(after, phrase, now)) for phrase in lesson.phrases]
    effect.missing = [(phrase, intents) for phrase, intents in reached if intents != (lesson.intent,)]
    frequent = sorted(messages, key=lambda text: (-messages[text], text))
    effect.uncompared = sum(messages[text] for text in frequent[MOST_COMPARED:])
    compared = (
        ChangedMessage(text, messages[text], find_intents(before, text), find_intents(after, text))
        for text in _find_related(lesson, frequent[:MOST_COMPARED])
    )
    changed = [message for message in compared if _differ(message.before, message.after)]
    effect.changed = list(_play_shown(changed, lesson.intent, before, after, now))
    if with_tests:
        _play_tests(effect, before, after, now)
    return effect


def _differ(before: Sequence[str], after: Sequence[str]) -> bool:
    return set(before) != set(after)


def _play(snapshot: Snapshot, text: str, now: datetime) -> tuple[str, ...]:
    return list_reached_intents(play_first_message(snapshot, text, now))


def _play_shown(
    changed: Iterable[ChangedMessage], intent: str, before: Snapshot, after: Snapshot, now: datetime
) -> Iterator[ChangedMessage]:
    """The changed messages; at most `MOST_SHOWN` of each kind are played, and left out if the turns end alike."""
    counts: Counter[ChangeKind] = Counter()
    for message in changed:
        kind = message.find_kind(intent)
        counts[kind] += 1
        if counts[kind] > MOST_SHOWN:
            yield message
            continue
        reached = [_play(snapshot, message.text, now) for snapshot in (before, after)]
        if _differ(*reached):
            yield ChangedMessage(message.text, message.times, *reached)


def _find_related(lesson: Lesson, texts: Iterable[str]) -> Iterator[str]:
    """The texts that are near to a phrase by their meaning: what the others mean hardly changes."""
    phrases = encode(lesson.phrases)
    return (text for text in texts if (phrases @ encode_text(text)).max(initial=0) >= _RELATED)


def _play_tests(effect: LessonEffect, before: Snapshot, after: Snapshot, now: datetime) -> None:
    """Play tests with a message that changes, before and after, and note those that end otherwise.

    At most `MOST_PLAYED` of the first `MOST_TESTS` tests are played.
    """
    cases = CeTestCase.objects.filter(erased_at=None).order_by("test_case_id").prefetch_related("tags")[:MOST_TESTS]
    changing = []
    for case in cases:
        turns = case.document.get("turns")
        texts = [turn.get("user") for turn in turns if isinstance(turn, Mapping)] if isinstance(turns, list) else []
        related = _find_related(effect.lesson, [text for text in texts if isinstance(text, str)])
        if any(_differ(find_intents(before, text), find_intents(after, text)) for text in related):
            changing.append(case)
    effect.unplayed = len(changing[MOST_PLAYED:])
    for case in changing[:MOST_PLAYED]:
        passed = play_test(case, before, now).has_passed
        passes = play_test(case, after, now).has_passed
        if passed != passes:
            effect.tests.append(ChangedTest(case.pk, case.title, passes))
