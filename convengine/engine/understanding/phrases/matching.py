"""The intents that a message means by the phrases of a snapshot."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from convengine.engine.cached_property import cached_property
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.phrases.book import ANSWER, IntentMatch, Phrase, PhraseBook, get_phrase_book
from convengine.engine.understanding.phrases.encoders import is_service
from convengine.engine.understanding.phrases.force import find_force
from convengine.engine.understanding.phrases.models import Ranker
from convengine.engine.understanding.phrases.settings import MARGIN, MIN_CONFIDENCE, MIN_NEAR
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.phrases.wording import has_run, list_keys, list_terms, write_plainly
from convengine.engine.understanding.understand import Understanding

#: How many intents are reported besides those that count, and how many the user is asked about.
MAX_REPORTED, MAX_ASKED = 5, 3
#: Intents of less confidence are not reported.
_LEAST_REPORTED = 0.01
#: The user is asked about no intent whose nearest phrase is less like the message, as words are that nothing knows.
LEAST_LIKENESS = 0.25
#: The share of the best confidence from which others are shown beside it.
_BESIDE = 0.1
#: How many clauses of a message are compared by themselves.
_CLAUSES = 4
#: Which share of its confidence counts if only a clause of the message speaks for an intent.
_CLAUSE = 0.7
#: How much less confidence a question beside the current flow or form needs, and a form with an option that is named.
_OWN, _OPTION = 0.4, 0.4
#: What speaks for an intent, if it is not the whole message.
OPTION, PART = "OPTION", "PART"


@dataclass(frozen=True)
class PhraseMatches:
    """The intents that a message means, best first, and the others that it might mean."""

    hits: tuple[IntentMatch, ...] = ()
    near: tuple[IntentMatch, ...] = ()
    #: The confidence that an intent needs here, and the one from which the user is asked.
    min_confidence: float = 0.0
    min_near: float = 1.0
    #: Why another classifier decided than that of these phrases; blank if that one did, or none was needed.
    substitution: str = ""
    #: What the message might mean, but the channel does not have.
    elsewhere: tuple[IntentMatch, ...] = ()

    @property
    def likely(self) -> tuple[IntentMatch, ...]:
        """The intents that are meant, and those that the user could be asked about."""
        answers = max((match.confidence for match in self.near if match.basis == ANSWER), default=0.0)
        best = max((match.confidence for match in self.near), default=0.0)
        near = (match for match in self.near if self._is_near(match, answers) and match.confidence >= _BESIDE * best)
        return (*self.hits, *near)

    def _is_near(self, match: IntentMatch, answers: float) -> bool:
        """True for a match that the user could be asked about. Beside the best answer (`answers`), others are shown."""
        if match.basis == ANSWER:
            return answers >= self.min_near
        return match.confidence >= self.min_near and match.likeness >= LEAST_LIKENESS

    @property
    def askable(self) -> tuple[IntentMatch, ...]:
        """The intents that the user is asked about, at most MAX_ASKED; none if one is sure."""
        return () if self.hits else self.likely[:MAX_ASKED]

    def describe(self, match: IntentMatch) -> dict[str, object]:
        return {
            "phrase": match.phrase.text,
            "likeness": match.likeness,
            "score": match.confidence,
            "minScore": self.min_confidence,
            **({"basis": match.basis} if match.basis else {}),
            **({"cosines": list(match.cosines)} if match.cosines else {}),
        }


def match_phrases(
    snapshot: Snapshot, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """The intents that the text means by phrases. Several, if they are within the margin.

    `interrupting`: only phrases that are tried while a form is open count. `own`: the intents of the questions beside
    the current flow, which need less confidence in a question.
    """
    return match_message(
        snapshot, ComparedMessage(get_phrase_book(snapshot), text or ""), interrupting=interrupting, own=own
    )


def find_same_phrases(snapshot: Snapshot, text: str | None) -> frozenset[str]:
    """The intents of the phrases that the text is, which needs no classifier."""
    same = get_phrase_book(snapshot).find_identical(text or "")
    return frozenset(phrase.intent for phrase in same if phrase.intent in snapshot.active_intents)


def prepare_messages(snapshot: Snapshot, texts: Iterable[str]) -> None:
    """Have a service, if there is one, asked at once for all that several messages are compared by."""
    book = get_phrase_book(snapshot)
    if is_service(book.content.encoder):
        messages = (ComparedMessage(book, text) for text in texts)
        book.get_classifier(
            [part for message in messages if not message.says_nothing for part in message.list_ranked()]
        )


def match_message(
    snapshot: Snapshot, message: "ComparedMessage", *, interrupting: bool, own: Collection[str]
) -> PhraseMatches:
    """The intents that a message means: by an equal phrase, else by rank, first of the whole and then of its parts.

    `interrupting` and `own`: see `match_phrases`.
    """
    choice = _IntentChoice(
        live_settings.read(snapshot, MIN_CONFIDENCE).value,
        live_settings.read(snapshot, MARGIN).value,
        live_settings.read(snapshot, MIN_NEAR).value,
        snapshot.active_intents,
        snapshot.interrupting_classifiers if interrupting else None,
    )
    if message.says_nothing:
        return choice.choose(())
    if same := [*filter(choice.may_count, message.identical)]:
        return choice.choose(_keep_best(IntentMatch(phrase.intent, 1.0, phrase) for phrase in same))
    substitution, ranked = message.substitution, [*message.learned]
    lines = message.list_lines(interrupting=interrupting)
    if any(map(choice.may_count, message.with_same_terms)):
        ranked = _favour_same_terms(choice, message, ranked)
    if not choice.is_sure(ranked, lines):
        ranked = _keep_best([*ranked, *message.list_parts_beside(lines)])
    if interrupting and own and message.asks:
        ranked, lines = _favour(choice.list_counted(ranked), own), _favour(choice.list_counted(lines), own)
    if not choice.is_sure(ranked, lines):
        beside = {match.intent for match in ranked} if interrupting else own
        ranked = _keep_best(_scale(match, 1 / message.find_divisor(match, beside)) for match in ranked)
    ranked = [replace(match, basis=message.find_basis(match)) for match in _keep_best([*ranked, *lines])]
    return replace(choice.choose(ranked), substitution=substitution)


class ComparedMessage:
    """A message that is compared with phrases: as it is, and in its parts; each when it is needed, once."""

    def __init__(self, book: PhraseBook, text: str) -> None:
        self._book, self._text = book, text

    @property
    def says_nothing(self) -> bool:
        """True without words, and without phrases to compare them with."""
        return not self._book.phrases or not list_keys(self._text)

    @cached_property
    def identical(self) -> Sequence[Phrase]:
        return self._book.find_identical(self._text)

    @property
    def with_same_terms(self) -> Sequence[Phrase]:
        """The phrases with exactly the telling words of the message, that ask or state as it does.

        A message of one telling word, "prices", only says what it is about.
        """
        return self._same_terms[0]

    @property
    def with_other_force(self) -> Sequence[Phrase]:
        """The phrases with exactly these words that ask where the message states, or the other way round."""
        return self._same_terms[1]

    @cached_property
    def substitution(self) -> str:
        """Why another classifier ranks than that of the phrases; blank for that one."""
        return self._classifier.substitution

    @cached_property
    def learned(self) -> Sequence[IntentMatch]:
        """The intents that the whole message may mean by what the phrases train."""
        return self._book.rank(self._ranked, self._classifier)

    def list_lines(self, *, interrupting: bool) -> Sequence[IntentMatch]:
        """The intents that the whole message may mean by their questions and answers. Beside a form, what asks nothing
        is rather for the form.
        """
        return self._lines if not interrupting or (self._book.lines and self.asks) else ()

    @cached_property
    def _lines(self) -> Sequence[IntentMatch]:
        return self._book.find_lines(self._ranked, self._classifier)

    def list_parts_beside(self, lines: Sequence[IntentMatch]) -> Sequence[IntentMatch]:
        """What the parts of the message may mean, without lines if these were found by answers: to an answer, a part is
        soon near.
        """
        if not lines:
            return self._parts
        answered = {line.intent for line in self._book.lines}
        return [match for match in self._parts if match.intent not in answered]

    @cached_property
    def _parts(self) -> Sequence[IntentMatch]:
        """The intents that the message may mean without its values and slips, and its clauses by themselves."""
        return [
            replace(match, confidence=round(match.confidence * share, 3), basis=PART)
            for part, share in sorted(self._shares.items())
            for match in self._book.rank(part, self._classifier)
        ]

    @cached_property
    def _classifier(self) -> Ranker:
        """What ranks. A service is asked once, for all texts that may be ranked."""
        return self._book.get_classifier(self.list_ranked() if is_service(self._book.content.encoder) else ())

    def list_ranked(self) -> Sequence[str]:
        return [self._ranked, *self._shares]

    @cached_property
    def _shares(self) -> Mapping[str, float]:
        """The message without its values and slips, and its clauses, with the share of their confidence that counts."""
        shares: dict[str, float] = {}
        for language, reading in self._readings:
            clauses = reading.clauses[:_CLAUSES] if len(reading.clauses) > 1 else ()
            for share, start, end in ((1.0, 0, len(reading.words)), *((_CLAUSE, it.start, it.end) for it in clauses)):
                part = write_plainly(reading, language, start, end)
                shares[part] = max(share, shares.get(part, 0))
        return {part: share for part, share in shares.items() if part not in ("", self._ranked)}

    @cached_property
    def asks(self) -> bool:
        return any(find_force(reading, language) is Force.ASKS for language, reading in self._readings)

    @cached_property
    def _ranked(self) -> str:
        return self._book.put_in_own_words(self._text)

    @cached_property
    def _languages(self) -> Sequence[PhraseLanguage]:
        return detect_languages(self._text, self._book.content.languages)

    @cached_property
    def _readings(self) -> Sequence[tuple[PhraseLanguage, Understanding]]:
        return [(language, self._book.understand(self._ranked, language)) for language in self._languages]

    @cached_property
    def _same_terms(self) -> tuple[Sequence[Phrase], Sequence[Phrase]]:
        """The phrases with exactly these telling words: those that ask or state alike, and the others."""
        same, others = list[Phrase](), list[Phrase]()
        phrases = {language: self._book.find_same_terms(self._ranked, language) for language in self._languages}
        for language, reading in self._readings if any(phrases.values()) else ():
            force, is_subject = find_force(reading, language), len(list_terms(reading.text, language)) == 1
            for phrase in phrases[language]:
                fits = is_subject or find_force(self._book.understand(phrase.text, language), language) is force
                (same if fits else others).append(phrase)
        return same, others

    def find_divisor(self, match: IntentMatch, beside: Collection[str]) -> float:
        """What the confidence in a match is divided by; 1 for most.

        Less than 1 for a question beside what is open (`beside`: its intents), and for a form whose option is named.
        """
        if match.intent in beside and self.asks:
            return _OWN
        return _OPTION if self._names_option(match.intent) else 1.0

    def find_basis(self, match: IntentMatch) -> str:
        """What speaks for a match, if it is not the whole message."""
        is_option = not match.is_identical and self._names_option(match.intent)
        return OPTION if is_option else match.basis

    def _names_option(self, intent: str) -> bool:
        """True for a message that names an option of an intent's form, and does not ask."""
        keys = list_keys(self._text)
        return any(has_run(keys, option) for option in self._book.options.get(intent, ())) and not self.asks


def _favour_same_terms(
    choice: "_IntentChoice", message: "ComparedMessage", ranked: Sequence[IntentMatch]
) -> list[IntentMatch]:
    """The intents of phrases with the same telling words: certain if the classifier, too, is for it first, else just
    sure. If such a phrase only asks where the message orders, or orders where it asks, it does not count.
    """
    same = {phrase.intent: phrase for phrase in filter(choice.may_count, reversed(message.with_same_terms))}
    others = [match for match in ranked if match.intent in same or match.phrase not in message.with_other_force]
    certain = {others[0].intent} if others else same.keys()
    sure = [IntentMatch(intent, 1.0 if intent in certain else choice.min_confidence, same[intent]) for intent in same]
    return _keep_best([*others, *sure])


def _favour(matches: Sequence[IntentMatch], own: Collection[str]) -> list[IntentMatch]:
    """The matches of a question in the middle of a flow: its own questions are likelier beforehand than those of other
    flows, and together they are as likely as without the flow.
    """
    weights = [1 / (_OWN if match.intent in own else 1) for match in matches]
    weighted = sum(match.confidence * weight for match, weight in zip(matches, weights, strict=True))
    share = sum(match.confidence for match in matches) / (weighted or 1)
    return _keep_best(_scale(match, weight * share) for match, weight in zip(matches, weights, strict=True))


def _scale(match: IntentMatch, weight: float) -> IntentMatch:
    """The match with so many times its confidence. That makes none certain which was not."""
    most = match.confidence if match.is_identical else 0.999
    return replace(match, confidence=min(most, round(match.confidence * weight, 3)))


def _keep_best(matches: Iterable[IntentMatch]) -> list[IntentMatch]:
    best: dict[str, IntentMatch] = {}
    for match in sorted(matches, key=lambda match: (-match.confidence, match.intent)):
        best.setdefault(match.intent, match)
    return [*best.values()]


class _IntentChoice(NamedTuple):
    """Which of the intents that a message may mean count."""

    min_confidence: float
    margin: float
    min_near: float
    #: The intents of the channel.
    intents: Collection[str]
    #: The phrases that count. None for all.
    allowed: Collection[Hashable] | None

    def may_count(self, phrase: Phrase) -> bool:
        """False for a phrase that is not tried here."""
        return phrase.intent in self.intents and (self.allowed is None or phrase.key in self.allowed)

    def is_sure(self, *rankings: Sequence[IntentMatch]) -> bool:
        """True when the best match of one of them is meant."""
        return any(ranked[0].confidence >= self.min_confidence for ranked in rankings if ranked)

    def list_counted(self, matches: Sequence[IntentMatch]) -> list[IntentMatch]:
        return [match for match in matches if self.may_count(match.phrase)]

    def choose(self, matches: Sequence[IntentMatch]) -> PhraseMatches:
        """The best intent and those within the margin, if the best is sure; and the next ones, at most MAX_REPORTED."""
        counted = self.list_counted(matches)
        best = counted[0].confidence if counted else 0.0
        needed = max(self.min_confidence, round(best - self.margin, 3))
        rivals = tuple(match for match in counted if match.confidence >= round(best - self.margin, 3))
        hits = rivals if best >= self.min_confidence else ()
        near = tuple(match for match in counted if match not in hits and match.confidence >= _LEAST_REPORTED)
        # What the user might have been asked about, if the channel had it.
        missing = (match for match in matches if match.intent not in self.intents)
        elsewhere = tuple(match for match in missing if match.confidence >= self.min_near)
        return PhraseMatches(hits, near[:MAX_REPORTED], needed, self.min_near, elsewhere=elsewhere[:MAX_ASKED])


def describe_matches(matches: PhraseMatches) -> Mapping[str, Any]:
    """What an event says of the best intent: its confidence, and the runner-up. There must be one."""
    best, *others = (*matches.hits, *matches.near)
    runner_up = {"runnerUp": others[0].intent, "runnerUpScore": others[0].confidence} if others else {}
    return {"score": best.confidence, **runner_up}
