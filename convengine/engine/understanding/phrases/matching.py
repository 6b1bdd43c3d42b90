"""The intents that a message means by the phrases of a snapshot."""

import hashlib
import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.phrases.classifier import Content, Example, Ranked
from convengine.engine.understanding.phrases.features import Synonyms
from convengine.engine.understanding.phrases.force import find_force
from convengine.engine.understanding.phrases.intent_words import IntentWord, list_intent_words
from convengine.engine.understanding.phrases.models import Ranker, get_classifier, name_model
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_CONFIDENCE, MIN_NEAR, SYNONYMS
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.phrases.wording import has_run, list_keys, list_terms, spell_plainly, write_plainly
from convengine.engine.understanding.understand import Understanding, understand
from convengine.engine.understanding.words import Lexicon, split_text
from convengine.json_value import Json

#: How many intents are reported besides those that count, and how many the user is asked about.
MAX_REPORTED, MAX_ASKED = 5, 3
#: Intents of less confidence are not reported.
_LEAST_REPORTED = 0.01
#: The user is asked about no intent whose nearest phrase is less like the message, as words are that nothing knows.
_LEAST_LIKENESS = 0.25
#: How many intents are ranked, and how many clauses of a message are compared by themselves.
_RANKED, _CLAUSES = 8, 4
#: Which share of its confidence counts if only a clause of the message speaks for an intent.
_CLAUSE = 0.8
#: How much less confidence a question beside the current flow or form needs, and a form with an option that is named.
_OWN, _OPTION = 0.4, 0.4
#: The words of these values say when, how long and who, and rarely what.
_VALUES = tuple(
    FieldSpec("", kind)
    for kind in (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION, Kind.EMAIL, Kind.PHONE, Kind.IBAN)
)


@dataclass(frozen=True)
class Phrase:
    """An example sentence, and the intent that it means. `intent` is a code in capitals."""

    key: Hashable
    intent: str
    text: str


@dataclass(frozen=True)
class IntentMatch:
    """How well a message matches an intent."""

    intent: str
    #: From 0 to 1; 1 if the message is a phrase, but for small words and the order and form of the others.
    confidence: float
    #: The phrase of the intent that is nearest to the message, and how near it is, from 0 to 1.
    phrase: Phrase
    likeness: float = 1.0

    @property
    def is_identical(self) -> bool:
        """True when the message is the phrase."""
        return self.confidence == 1


@dataclass(frozen=True)
class PhraseMatches:
    """The intents that a message means, best first, and the others that it might mean."""

    hits: tuple[IntentMatch, ...] = ()
    near: tuple[IntentMatch, ...] = ()
    #: The confidence that an intent needs here, and the one from which the user is asked.
    min_confidence: float = 0.0
    min_near: float = 1.0

    @property
    def likely(self) -> tuple[IntentMatch, ...]:
        """The intents that are meant, and those that the user could be asked about."""
        near = (match for match in self.near if match.confidence >= self.min_near and match.likeness >= _LEAST_LIKENESS)
        return (*self.hits, *near)

    @property
    def askable(self) -> tuple[IntentMatch, ...]:
        """The intents that the user is asked about, if none is sure."""
        return () if self.hits else self.likely[:MAX_ASKED]

    def describe(self, match: IntentMatch) -> dict[str, object]:
        """The match as recorded values."""
        return {
            "phrase": match.phrase.text,
            "likeness": match.likeness,
            "score": match.confidence,
            "minScore": self.min_confidence,
        }


class PhraseBook:
    """All phrases of a configuration."""

    def __init__(self, phrases: Sequence[Phrase], words: Sequence[IntentWord] = (), synonyms: Synonyms = ()) -> None:
        self.phrases = tuple(phrases)
        examples = tuple(Example(phrase.intent, phrase.text.strip()) for phrase in phrases)
        self.content = Content(examples, tuple(Example(word.intent, word.text) for word in words), synonyms)
        self._with_keys: dict[tuple[str, ...], list[Phrase]] = {}
        self._by_example: dict[Example, list[Phrase]] = {}
        for phrase, example in zip(self.phrases, examples, strict=True):
            self._with_keys.setdefault(list_keys(phrase.text), []).append(phrase)
            self._by_example.setdefault(example, []).append(phrase)
        self._words = {word.key for phrase in phrases for word in split_text(phrase.text) if not word.is_sign}
        self._own_words = self._list_own_words()
        self._lexicons: dict[PhraseLanguage, Lexicon] = {}
        self._with_terms: dict[PhraseLanguage, dict[frozenset[str], list[Phrase]]] = {}
        #: The words of the options of an intent's form.
        self.options: dict[str, set[tuple[str, ...]]] = {}
        for word in words:
            if word.is_option and (keys := list_keys(word.text)):
                self.options.setdefault(word.intent, set()).add(keys)

    @cached_property
    def model_name(self) -> str:
        """The name of the classifier that the phrases train."""
        return name_model(self.content)

    @property
    def classifier(self) -> Ranker:
        """What the phrases train. A process keeps only those that it uses."""
        return get_classifier(self.content, self.model_name)

    def find_identical(self, text: str) -> tuple[Phrase, ...]:
        """The phrases that a text is, word for word; else those that it is without greetings and courtesies."""
        if same := self._with_keys.get(list_keys(text)):
            return tuple(same)
        contents = ([*map(spell_plainly, language.list_content(text))] for language in detect_languages(text))
        phrases = (self._with_keys.get(tuple(content), ()) for content in contents if content)
        return tuple(dict.fromkeys(phrase for same in phrases for phrase in same))

    def find_same_terms(self, text: str, language: PhraseLanguage) -> Sequence[Phrase]:
        """The phrases with exactly the telling words of a text, in any order and form."""
        known = self._with_terms.get(language)
        if known is None:
            known = self._with_terms[language] = {}
            for phrase in self.phrases:
                known.setdefault(self._list_same_terms(phrase.text, language), []).append(phrase)
        terms = self._list_same_terms(text, language)
        return known.get(terms, ()) if terms else ()

    def put_in_own_words(self, text: str) -> str:
        """A text with words of the phrases in the place of synonyms that no phrase has."""
        words, written, done, at = split_text(text), "", 0, 0
        keys = tuple(map(spell_plainly, words))
        while self._own_words and at < len(words):
            run = next((run for run in self._own_words if keys[at : at + len(run)] == run), ())
            if run:
                written += text[done : words[at].start] + self._own_words[run]
                done = words[at + len(run) - 1].end
            at += len(run) or 1
        return written + text[done:]

    def _list_own_words(self) -> dict[tuple[str, ...], str]:
        """For synonyms that no phrase has, the first of their group that phrases have; longer ones first."""
        spelled: dict[tuple[str, ...], str] = {}
        known = {key for phrase in self.phrases for key in list_keys(phrase.text)}
        for group in self.content.synonyms:
            keys = {text: run for text in group if (run := list_keys(text))}
            own = next((text for text, run in keys.items() if known.issuperset(run)), None)
            if own is not None:
                spelled |= {run: own for run in keys.values() if not known.issuperset(run)}
        return dict(sorted(spelled.items(), key=lambda item: -len(item[0])))

    def _list_same_terms(self, text: str, language: PhraseLanguage) -> frozenset[str]:
        """The terms of a text, of synonyms that of the first one."""
        groups = [[list_terms(word, language) for word in group] for group in self.content.synonyms]
        first = {min(terms): min(group[0]) for group in groups for terms in group if len(terms) == len(group[0]) == 1}
        return frozenset(first.get(term, term) for term in list_terms(text, language))

    def understand(self, text: str, language: PhraseLanguage) -> Understanding:
        """A message, with slips mended to words of the phrases, and with the values that say rarely what it means."""
        lexicon = self._lexicons.get(language)
        if lexicon is None:
            lexicon = self._lexicons[language] = Lexicon(self._words, base=language.tables.lexicon)
        return understand(text, language.tables, FINDERS, _VALUES, lexicon)

    def rank(self, text: str, most: int = _RANKED) -> tuple[IntentMatch, ...]:
        """The intents that a text may mean, best first. Capitals throughout are no names: they only shout."""
        plain = text.lower() if text.isupper() else text
        return tuple(map(self._make_match, self.classifier.rank(plain, most)))

    def find_nearer(self, phrase: Phrase, intent: str) -> tuple[Phrase, float] | None:
        """The phrase of an intent that a phrase is more like than the others of its own, and by how much.

        Null if there is none, and for the only phrase of its intent.
        """
        own: list[float] = []
        others: list[tuple[float, Example]] = []
        for example, likeness in self.classifier.list_likenesses(phrase.text.strip()):
            if example.text == phrase.text.strip():
                continue
            if example.intent == phrase.intent:
                own.append(likeness)
            elif example.intent == intent:
                others.append((likeness, example))
        if not own or not others or max(others)[0] <= max(own):
            return None
        likeness, example = max(others)
        return self._by_example[example][0], likeness - max(own)

    def _make_match(self, ranked: Ranked) -> IntentMatch:
        phrase = self._by_example[Example(ranked.intent, ranked.phrase)][0]
        return IntentMatch(ranked.intent, ranked.confidence, phrase, ranked.likeness)


def get_phrase_book(snapshot: Snapshot) -> PhraseBook:
    """The enabled phrases of enabled intents; collected once per version of the tables."""
    return snapshot.memo.get("phrase book", lambda: _find_book(snapshot))


def _find_book(snapshot: Snapshot) -> PhraseBook:
    synonyms = read_synonyms(snapshot)
    listed = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and not blank(row.pattern)]
    in_use = frozenset(intent for intent in {code(row.intent_code) for row in listed} if _is_in_use(snapshot, intent))
    words = tuple(dict.fromkeys(word for word in list_intent_words(snapshot) if word.intent in in_use))

    def build() -> PhraseBook:
        used = (row for row in listed if code(row.intent_code) in in_use)
        phrases = (Phrase(row.classifier_id, code(row.intent_code), row.pattern or "") for row in used)
        return PhraseBook([*phrases], words, synonyms)

    return snapshot.table(rows.Classifier).memo.get(("phrase book", in_use, words, synonyms), build)


def match_phrases(
    snapshot: Snapshot, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """The intents that the text means by phrases. Several, if they are within the margin.

    `interrupting`: only phrases that are tried while a form is open count. `own`: the intents of the questions beside
    the current flow, which need less confidence in a question.
    """
    return _match(snapshot, _Message(get_phrase_book(snapshot), text or ""), interrupting=interrupting, own=own)


def _match(snapshot: Snapshot, message: "_Message", *, interrupting: bool, own: Collection[str]) -> PhraseMatches:
    choice = _Choice(
        live_settings.read(snapshot, MIN_CONFIDENCE).value,
        live_settings.read(snapshot, MARGIN).value,
        live_settings.read(snapshot, MIN_NEAR).value,
        snapshot.interrupting_classifiers if interrupting else None,
    )
    if message.says_nothing:
        return choice.choose(())
    if same := _match_surely(filter(choice.may_count, message.identical)):
        return choice.choose(same)
    if same := _match_surely(filter(choice.may_count, message.with_same_terms)):
        return choice.choose(same)
    ranked = [*message.whole]
    if not choice.is_sure(ranked):
        ranked = _keep_best([*ranked, *message.parts])
    if interrupting and own and message.asks:
        ranked = _favour(choice.list_counted(ranked), own)
    if not choice.is_sure(ranked):
        beside = {match.intent for match in ranked} if interrupting else own
        eased = (round(match.confidence / message.eases(match, beside), 3) for match in ranked)
        ranked = _keep_best(
            replace(match, confidence=min(0.999, value)) for match, value in zip(ranked, eased, strict=True)
        )
    return choice.choose(ranked)


def match_in_turn(
    turn: Turn, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """What `match_phrases` says, once in a turn, and recorded with it, so that its replay needs no classifier."""
    request = {"text": text, "interrupting": interrupting, "own": sorted(own), "phrases": _find_digest(turn.snapshot)}

    def compare() -> dict[str, Json]:
        book = get_phrase_book(turn.snapshot)
        message = turn.memo.get(("compared message", text), lambda: _Message(book, text or ""))
        return _pack(_match(turn.snapshot, message, interrupting=interrupting, own=own))

    def match() -> PhraseMatches:
        return _unpack(turn.snapshot, turn.ports.phrases.match(request, compare))

    return turn.memo.get(("phrases", text, interrupting, frozenset(own)), match)


def _find_digest(snapshot: Snapshot) -> str:
    """The phrases and settings that an answer is of: another configuration has another answer."""

    def find() -> str:
        settings = [live_settings.read(snapshot, setting).value for setting in (MIN_CONFIDENCE, MARGIN, MIN_NEAR)]
        book = get_phrase_book(snapshot)
        phrases = [[str(phrase.key), phrase.intent, phrase.text] for phrase in book.phrases]
        content = [settings, phrases, book.content.words, book.content.synonyms]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]

    return snapshot.memo.get("digest of phrases", find)


def _pack(matches: PhraseMatches) -> dict[str, Json]:
    listed = [
        [[match.intent, match.phrase.key, match.confidence, match.likeness] for match in part]
        for part in (matches.hits, matches.near)
    ]
    return {"hits": listed[0], "near": listed[1], "bounds": [matches.min_confidence, matches.min_near]}


def _unpack(snapshot: Snapshot, answer: Mapping[str, Any]) -> PhraseMatches:
    hits, near = (
        tuple(
            IntentMatch(intent, confidence, Phrase(key, intent, row.pattern or ""), likeness)
            for intent, key, confidence, likeness in answer[part]
            if (row := snapshot.row(rows.Classifier, key)) is not None
        )
        for part in ("hits", "near")
    )
    return PhraseMatches(hits, near, *answer["bounds"])


class _Message:
    """A message that is compared with phrases: as it is, and in its parts; each when it is needed, once."""

    def __init__(self, book: PhraseBook, text: str) -> None:
        self._book, self._text = book, text

    @property
    def says_nothing(self) -> bool:
        """True without words, and without phrases to compare them with."""
        return not self._book.phrases or not list_keys(self._text)

    @cached_property
    def identical(self) -> Sequence[Phrase]:
        """The phrases that the message is."""
        return self._book.find_identical(self._text)

    @cached_property
    def with_same_terms(self) -> Sequence[Phrase]:
        """The phrases with exactly the telling words of the message, that ask or state as it does.

        A message of one telling word, "prices", only says what it is about.
        """
        return [*self._find_same_terms()]

    @cached_property
    def whole(self) -> Sequence[IntentMatch]:
        """The intents that the whole message may mean."""
        return self._book.rank(self._ranked)

    @cached_property
    def parts(self) -> Sequence[IntentMatch]:
        """The intents that the message may mean without its values and slips, and its clauses by themselves."""
        shares: dict[str, float] = {}
        for language, reading in self._readings:
            clauses = reading.clauses[:_CLAUSES] if len(reading.clauses) > 1 else ()
            for share, start, end in ((1.0, 0, len(reading.words)), *((_CLAUSE, it.start, it.end) for it in clauses)):
                part = write_plainly(reading, language, start, end)
                shares[part] = max(share, shares.get(part, 0))
        return [
            replace(match, confidence=round(match.confidence * shares[part], 3))
            for part in sorted(shares.keys() - {"", self._ranked})
            for match in self._book.rank(part)
        ]

    @cached_property
    def asks(self) -> bool:
        """True for a question."""
        return any(find_force(reading, language) is Force.ASKS for language, reading in self._readings)

    @cached_property
    def _ranked(self) -> str:
        return self._book.put_in_own_words(self._text)

    @cached_property
    def _readings(self) -> Sequence[tuple[PhraseLanguage, Understanding]]:
        return [(language, self._book.understand(self._ranked, language)) for language in detect_languages(self._text)]

    def _find_same_terms(self) -> Iterator[Phrase]:
        for language, reading in self._readings:
            force, is_subject = find_force(reading, language), len(list_terms(reading.text, language)) == 1
            for phrase in self._book.find_same_terms(reading.text, language):
                if is_subject or find_force(self._book.understand(phrase.text, language), language) is force:
                    yield phrase

    def eases(self, match: IntentMatch, beside: Collection[str]) -> float:
        """How much less confidence an intent needs: a question beside what is open, or a form that takes an option."""
        if match.intent in beside and self.asks:
            return _OWN
        keys = list_keys(self._text)
        named = any(has_run(keys, option) for option in self._book.options.get(match.intent, ()))
        return _OPTION if named and not self.asks else 1.0


def _match_surely(phrases: Iterable[Phrase]) -> list[IntentMatch]:
    """The intents of phrases that the message is."""
    return _keep_best([IntentMatch(phrase.intent, 1.0, phrase) for phrase in phrases])


def _favour(matches: Sequence[IntentMatch], own: Collection[str]) -> list[IntentMatch]:
    """The matches of a question in the middle of a flow: its own questions are likelier beforehand than those of other
    flows, and together they are as likely as without the flow.
    """
    weighted = [match.confidence / (_OWN if match.intent in own else 1) for match in matches]
    share = sum(match.confidence for match in matches) / (sum(weighted) or 1)
    return _keep_best(
        replace(match, confidence=round(value * share, 3)) for match, value in zip(matches, weighted, strict=True)
    )


def _keep_best(matches: Iterable[IntentMatch]) -> list[IntentMatch]:
    """The best match of each intent, best first."""
    best: dict[str, IntentMatch] = {}
    for match in sorted(matches, key=lambda match: (-match.confidence, match.intent)):
        best.setdefault(match.intent, match)
    return [*best.values()]


class _Choice(NamedTuple):
    """Which of the intents that a message may mean count."""

    min_confidence: float
    margin: float
    min_near: float
    #: The phrases that count; null for all.
    allowed: Collection[Hashable] | None

    def may_count(self, phrase: Phrase) -> bool:
        """False for a phrase that is not tried here."""
        return self.allowed is None or phrase.key in self.allowed

    def is_sure(self, matches: Sequence[IntentMatch]) -> bool:
        """True when the best match is meant."""
        return bool(matches) and matches[0].confidence >= self.min_confidence

    def list_counted(self, matches: Sequence[IntentMatch]) -> list[IntentMatch]:
        """The matches by phrases that are tried here."""
        return [match for match in matches if self.may_count(match.phrase)]

    def choose(self, matches: Sequence[IntentMatch]) -> PhraseMatches:
        """The best intent and those within the margin, if one of them is meant."""
        counted = self.list_counted(matches)
        best = counted[0].confidence if counted else 0.0
        needed = max(self.min_confidence, round(best - self.margin, 3))
        rivals = tuple(match for match in counted if match.confidence >= round(best - self.margin, 3))
        hits = rivals if best >= self.min_confidence else ()
        near = tuple(match for match in counted if match not in hits and match.confidence >= _LEAST_REPORTED)
        return PhraseMatches(hits, near[:MAX_REPORTED], needed, self.min_near)


def _is_in_use(snapshot: Snapshot, intent: str) -> bool:
    return snapshot.is_active(intent) and intent not in (ANY, UNKNOWN, "")


def read_synonyms(snapshot: Snapshot) -> Synonyms:
    """The lists of words in the setting; other values are ignored."""
    groups = live_settings.read(snapshot, SYNONYMS).value
    return tuple(
        tuple(word for word in group if isinstance(word, str)) for group in groups if isinstance(group, (list, tuple))
    )


def describe_matches(matches: PhraseMatches) -> Mapping[str, Any]:
    """What an event says of the best intent: its confidence, and the runner-up."""
    best, *others = (*matches.hits, *matches.near)
    runner_up = {"runnerUp": others[0].intent, "runnerUpScore": others[0].confidence} if others else {}
    return {"score": best.confidence, **runner_up}
