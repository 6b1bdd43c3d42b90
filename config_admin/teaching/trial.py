"""What new phrases of an intent would change: stored messages, and tests. Nothing is stored."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from config_admin.faq.entries import fold_question
from config_admin.releases.blobs import canonical, hash_of
from config_admin.restore.checks import compile_rows, overlay_rows
from config_admin.snapshot.active import snapshots
from config_admin.test_cases.models import CeTestCase
from config_admin.test_cases.play import play_test
from config_admin.transfer.document import Document, Mode, locate_rows
from config_admin.transfer.import_plan import plan_import
from convengine.engine.steps.intents.classifiers import list_groups, list_matching_patterns
from convengine.engine.steps.intents.settings import ORDER
from convengine.engine.text.compare import code
from convengine.engine.text.words import fold
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import ClassifierType
from convengine.engine.turn.scope import UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.index import Phrase, PhraseIndex
from convengine.engine.understanding.phrases.matching import match_phrases, read_synonyms
from convengine.engine.understanding.phrases.terms import has_telling_words, list_phrase_languages

#: How many different messages with a word of the phrases are tried, the most frequent ones.
MOST_TRIED = 5_000
#: How many tests are read, and how many with a message that changes are played.
MOST_TESTS, MOST_PLAYED = 2_000, 25
_WORD = re.compile(r"[^\W_]+")
#: Warnings that the messages themselves show.
_SHOWN_BY_MESSAGES = frozenset({"PHRASE_OF_OTHER_INTENT", "CLASSIFIER_OVERLAP"})


@dataclass(frozen=True)
class Lesson:
    """Phrases that an intent gets."""

    intent: str
    state: str
    phrases: tuple[str, ...]

    def make_document(self) -> Document:
        """The rows of the phrases."""
        phrase_rows = [
            {
                "intent_code": self.intent,
                "state_code": self.state,
                "rule_type": ClassifierType.PHRASE.value,
                "pattern": phrase,
            }
            for phrase in self.phrases
        ]
        return Document(locate_rows({rows.Classifier.table: phrase_rows}), Mode.ADD)


class ChangedMessage(NamedTuple):
    """A stored message whose intents the phrases change."""

    text: str
    #: How often it came.
    times: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class ChangedTest(NamedTuple):
    """A test with another result."""

    test_case_id: int
    title: str
    #: It passes with the phrases.
    passes: bool


@dataclass
class Trial:
    """What a lesson would change."""

    lesson: Lesson
    #: Identifies lesson and configuration: what is saved is what was tried.
    digest: str
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    #: The phrases that would not lead to the intent, with the intents that they lead to.
    missing: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    #: Messages that had no intent, and get this one.
    caught: list[ChangedMessage] = field(default_factory=list)
    #: Messages of other intents that get this one.
    taken: list[ChangedMessage] = field(default_factory=list)
    #: Messages whose users would be asked which intent they mean.
    ambiguous: list[ChangedMessage] = field(default_factory=list)
    #: Other changes.
    other: list[ChangedMessage] = field(default_factory=list)
    #: The messages of the period, and those that share a word with the phrases and were not tried.
    messages: int = 0
    untried: int = 0
    tests: list[ChangedTest] = field(default_factory=list)
    #: Tests with a message that changes, beyond those that were played.
    unplayed: int = 0

    @property
    def is_safe(self) -> bool:
        """True when nothing is taken from other intents and no test fails."""
        return not (self.taken or self.ambiguous or self.other or any(not test.passes for test in self.tests))

    @property
    def intents_taken(self) -> list[tuple[str, int]]:
        """The intents that lose messages, with how many."""
        counts: Counter[str] = Counter()
        for message in self.taken:
            counts.update(dict.fromkeys(message.before, message.times))
        return counts.most_common()


def find_state(snapshot: Snapshot, intent: str) -> str:
    """The state that most phrases of the intent lead to, or led to while they were enabled."""
    for phrases in (snapshot.enabled_rows(rows.Classifier), snapshot.rows(rows.Classifier)):
        states = Counter(code(row.state_code) for row in phrases if code(row.intent_code) == intent)
        if states:
            return states.most_common(1)[0][0]
    return UNKNOWN


def find_disabled_phrase(snapshot: Snapshot, intent: str, phrases: Iterable[str]) -> rows.Classifier | None:
    """A row of the intent that has one of the phrases, and is switched off."""
    wanted = {fold_question(phrase) for phrase in phrases}
    enabled = set(snapshot.enabled_rows(rows.Classifier))
    return next(
        (
            row
            for row in snapshot.rows(rows.Classifier)
            if row not in enabled
            and row.is_phrase
            and code(row.intent_code) == intent
            and fold_question(row.pattern or "") in wanted
        ),
        None,
    )


def drop_known_phrases(snapshot: Snapshot, intent: str, phrases: Iterable[str]) -> list[str]:
    """The phrases that the intent does not have, each once."""
    own = (row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and code(row.intent_code) == intent)
    known = {fold_question(row.pattern or "") for row in own}
    new: dict[str, str] = {}
    for phrase in phrases:
        folded = fold_question(phrase)
        if folded and folded not in known:
            new.setdefault(folded, phrase.strip())
    return list(new.values())


def try_lesson(lesson: Lesson, messages: Mapping[str, int], now: datetime, *, with_tests: bool = True) -> Trial:
    """Try phrases over the configuration of the request, on messages with how often they came."""
    before = snapshots.current()
    plan = plan_import(lesson.make_document())
    trial = Trial(lesson, hash_of(canonical([plan.content_hash, lesson.intent, lesson.state, *lesson.phrases])))
    trial.messages = sum(messages.values())
    trial.errors = [located.finding.message for located in plan.errors]
    if trial.errors:
        return trial
    trial.warnings = [
        located.finding.message for located in plan.findings if located.finding.code not in _SHOWN_BY_MESSAGES
    ]
    wanted = plan.placed.wanted
    after = overlay_rows(before, wanted, {table: compile_rows(table, given) for table, given in wanted.items()})
    reached = [(phrase, find_intents(after, phrase)) for phrase in lesson.phrases]
    trial.missing = [(phrase, intents) for phrase, intents in reached if intents != (lesson.intent,)]
    related = sorted(_find_related(before, lesson, messages), key=lambda text: (-messages[text], text))
    trial.untried = sum(messages[text] for text in related[MOST_TRIED:])
    for text in related[:MOST_TRIED]:
        if changed := _compare(before, after, text):
            _add_message(trial, ChangedMessage(text, messages[text], *changed))
    if with_tests:
        _try_tests(trial, before, after, now)
    return trial


def find_intents(snapshot: Snapshot, text: str) -> tuple[str, ...]:
    """The intents that a message means outside of forms, without a model; several are asked about."""
    pattern_rows = list_matching_patterns(snapshot, text)
    for group in list_groups(live_settings.read(snapshot, ORDER).value):
        hits = [code(row.intent_code) for row in pattern_rows if code(row.rule_type) in group]
        if ClassifierType.PHRASE in group:
            hits += [match.intent for match in match_phrases(snapshot, text).hits]
        if hits:
            return tuple(dict.fromkeys(hits))
    return ()


def _compare(before: Snapshot, after: Snapshot, text: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The intents before and after, if they differ. Only phrases differ, so patterns are read where these do."""
    old, new = match_phrases(before, text).hits, match_phrases(after, text).hits
    if {match.intent for match in old} == {match.intent for match in new}:
        return None
    intents = find_intents(before, text), find_intents(after, text)
    return intents if set(intents[0]) != set(intents[1]) else None


def _add_message(trial: Trial, message: ChangedMessage) -> None:
    if message.after == (trial.lesson.intent,):
        (trial.taken if message.before else trial.caught).append(message)
    else:
        (trial.ambiguous if len(message.after) > 1 else trial.other).append(message)


def _find_related(snapshot: Snapshot, lesson: Lesson, texts: Iterable[str]) -> Iterator[str]:
    """The texts with a word that a phrase has, also misspelled or as a synonym: by an index of words."""
    index = _build_index(snapshot, lesson)
    exact = {word for phrase in lesson.phrases if not has_telling_words(phrase) for word in _split(phrase)}
    is_related: dict[str, bool] = {}
    for text in texts:
        for word in _split(text):
            related = is_related.get(word)
            if related is None:
                related = is_related[word] = word in exact or bool(index.match(word))
            if related:
                yield text
                break


def _build_index(snapshot: Snapshot, lesson: Lesson) -> PhraseIndex:
    """The new phrases alone, with the synonyms of the configuration."""
    phrases = (Phrase(number, lesson.intent, phrase) for number, phrase in enumerate(lesson.phrases))
    return PhraseIndex(phrases, list_phrase_languages(read_synonyms(snapshot)))


def _split(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold(text)) if not word.isdigit()]


def _try_tests(trial: Trial, before: Snapshot, after: Snapshot, now: datetime) -> None:
    """Play the tests with a message that changes, before and after."""
    cases = CeTestCase.objects.filter(erased_at=None).order_by("test_case_id").prefetch_related("tags")[:MOST_TESTS]
    changing = [case for case in cases if _has_changing_message(trial.lesson, case, before, after)]
    trial.unplayed = len(changing[MOST_PLAYED:])
    for case in changing[:MOST_PLAYED]:
        passed = play_test(case, before, now).has_passed
        passes = play_test(case, after, now).has_passed
        if passed != passes:
            trial.tests.append(ChangedTest(case.pk, case.title, passes))


def _has_changing_message(lesson: Lesson, case: CeTestCase, before: Snapshot, after: Snapshot) -> bool:
    texts = _list_texts(case.document)
    return any(_compare(before, after, text) for text in _find_related(before, lesson, texts))


def _list_texts(document: Mapping[str, Any]) -> Sequence[str]:
    turns = document.get("turns")
    texts = [turn.get("user") for turn in turns if isinstance(turn, Mapping)] if isinstance(turns, list) else []
    return [text for text in texts if isinstance(text, str)]
