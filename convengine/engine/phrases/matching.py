"""The phrase index of a snapshot, and the intents that a message means by it."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from convengine.engine.phrases.form_words import get_form_words
from convengine.engine.phrases.index import IntentMatch, Phrase, PhraseIndex
from convengine.engine.phrases.languages import LANGUAGES
from convengine.engine.phrases.settings import MARGIN, MIN_SCORE, SYNONYMS
from convengine.engine.phrases.words import TellingWord, begins_with_question_word, denies, read_telling_words
from convengine.engine.text.compare import blank, code, match_text
from convengine.engine.text.words import fold
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot

#: Maximum intents that are reported besides those that count.
MAX_REPORTED = 5
#: Longest text whose clauses are read one by one.
_LONGEST_IN_CLAUSES = 300
#: Shares of the minimum score that the only intent needs, without and with a word that it does not have; and the share
#: of its score that others may have.
_LONELY_SCORES, _LONELY_LEAD = (0.75, 0.85), 0.4
#: For whom something is, and where they are: "for our choir", "für meine Schwester in Köln".
_ASIDE = re.compile(
    r"\b(?:for|für|fuer)\s+(?:my|our|his|her|their|mein\w*|unser\w*|ihre\w*)\s+[\w'-]+(?:\s+in\s+[^\W\d_]+)?",
    re.IGNORECASE,
)
#: A street with its number: "from 5 Orchard Yard", "in die Gartenstraße 7".
_ADDRESS = re.compile(
    r"\b(?:from\s+|to\s+|at\s+|von\s+(?:der\s+)?|nach\s+|in\s+(?:die\s+|der\s+)?|zu[rm]?\s+)?"
    r"(?:\d+[a-z]?\s+(?:[A-Z][\w'-]+\s?){1,3}|[A-ZÄÖÜ][\w-]+(?:straße|strasse|str\.|weg|platz|gasse|allee|ring)\s+\d+[a-z]?)"
)
#: Share of the minimum score that a question beside the current flow needs, and of the best score of others.
_OWN_SCORE, _OWN_LEAD = 0.75, 0.6
#: The share of the best question's score that the flow beside it needs, where something is ordered.
_ORDERED_LEAD = 0.8
#: A phone number names no option "phone".
_LONG_NUMBER = re.compile(r"\d[\d ]{5,}")
#: Greetings before a question or a request.
_LEAD = re.compile(
    r"^\s*(?:(?:hi|hello|hey|hiya|hallo|moin|servus|guten (?:tag|morgen|abend)|good (?:morning|afternoon|evening)|so|"
    r"um|ok|okay|please|bitte|sorry|entschuldigung|and|und|there|zusammen|oh|ähm?|also)\b[\s,.!–-]*)+",
    re.IGNORECASE,
)
_SENTENCE_SIGN = re.compile(r"[.;!?\n]+")
#: How many words that say what something is for are tried.
_MOST_PURPOSES = 3
_CLAUSE_SIGN = re.compile(r"[.,;:!?\n]+|\s+[-–—]+\s+|\b(?:and|und|but|aber|because|weil|denn)\b", re.IGNORECASE)


@dataclass(frozen=True)
class PhraseMatches:
    """The intents that a message means, best first, and those that came near."""

    hits: tuple[IntentMatch, ...] = ()
    near: tuple[IntentMatch, ...] = ()
    #: What a score must reach here: the minimum score, and the best score without the margin.
    min_score: float = 0.0

    def describe(self, match: IntentMatch) -> dict[str, object]:
        """The match as recorded values: the words that counted, each with its share, and the others."""
        return {
            "phrase": match.phrase.text,
            "score": match.score,
            "minScore": self.min_score,
            "words": {word.text: word.share for word in match.words},
            "otherWords": list(match.unmatched),
        }


def get_phrase_index(snapshot: Snapshot) -> PhraseIndex:
    """The index of all enabled phrases of enabled intents; built once per table."""
    synonyms = _read_synonyms(live_settings.read(snapshot, SYNONYMS).value)
    phrases = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and not blank(row.pattern)]
    inactive = frozenset(code(row.intent_code) for row in phrases if not _is_in_use(snapshot, row))
    return snapshot.table(rows.Classifier).memo.get(
        ("phrase index", inactive, synonyms),
        lambda: PhraseIndex(
            (
                Phrase(row.classifier_id, code(row.intent_code), row.pattern or "")
                for row in phrases
                if code(row.intent_code) not in inactive
            ),
            synonyms,
        ),
    )


def match_phrases(
    snapshot: Snapshot, text: str | None, *, interrupting: bool = False, own: Collection[str] = ()
) -> PhraseMatches:
    """The intents that the text means by phrases. Several, if they are within the margin.

    Where the whole text means none, its clauses are read one by one: "my name is Ann Bell, I need to see a dentist".
    `interrupting`: only phrases that are tried while a form is open count. `own`: the intents of the questions beside
    the current flow, which go before others in a question.
    """
    if own and _asks(text) and (question := _match_own_question(snapshot, text, own)):
        return question
    whole = _match_text(snapshot, text, interrupting=interrupting, is_whole=True)
    if whole.hits or not text or len(text) > _LONGEST_IN_CLAUSES:
        return whole
    plain = _ASIDE.sub(" ", text)
    if plain != text and (without := _match_text(snapshot, plain, interrupting=interrupting, is_whole=True)).hits:
        return without
    plain = _ADDRESS.sub(" ", text)
    if not interrupting and plain != text:
        without = _match_text(snapshot, plain, interrupting=False, is_whole=True)
        if without.hits and not snapshot.returning_intents.intersection(match.intent for match in without.hits):
            return without
    clauses = [clause for clause in _CLAUSE_SIGN.split(text) if clause.strip()]
    by_clause = _match_clauses(snapshot, clauses, interrupting=interrupting) if len(clauses) > 1 else None
    return by_clause or (None if interrupting else _match_wanted_thing(snapshot, text)) or whole


def _match_wanted_thing(snapshot: Snapshot, text: str) -> PhraseMatches | None:
    """The only form for which a request asks, without what it is for: "I should like a taxi | for my appointment"."""
    for sentence in _SENTENCE_SIGN.split(text):
        for wanted in _list_wanted_things(sentence):
            matches = _match_text(snapshot, wanted, interrupting=False, is_whole=True)
            if len(matches.hits) == 1 and matches.hits[0].intent not in snapshot.returning_intents:
                return matches if matches.hits[0].intent in get_form_words(snapshot) else None
    return None


def _list_wanted_things(sentence: str) -> Iterator[str]:
    """The beginning of a request up to each word that says what it is for, the longest first."""
    match = _compile_requests().search(sentence)
    ends = list(_compile_purposes().finditer(sentence, match.end())) if match else []
    return (sentence[match.start() : end.start()] for end in reversed(ends[:_MOST_PURPOSES]) if match)


@cache
def _compile_requests() -> re.Pattern[str]:
    return _compile_lines(*(language.requests for language in LANGUAGES))


@cache
def _compile_inquiries() -> re.Pattern[str]:
    return _compile_lines(*(language.inquiries for language in LANGUAGES))


def _compile_lines(*tables: str) -> re.Pattern[str]:
    lines = [line.strip() for table in tables for line in table.splitlines() if line.strip()]
    return re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, lines), key=len, reverse=True))})\b", re.IGNORECASE)


@cache
def _compile_purposes() -> re.Pattern[str]:
    words = {word for language in LANGUAGES for word in language.purposes.split()}
    return re.compile(rf"\s+(?:{'|'.join(sorted(words, key=len, reverse=True))})\s", re.IGNORECASE)


def _match_own_question(snapshot: Snapshot, text: str | None, own: Collection[str]) -> PhraseMatches | None:
    """The best question beside the flow, if it comes near and no other intent is far better; else null."""
    matches = _find_matches(snapshot, text)
    best = next((match for match in matches if match.intent in own), None)
    least = round(_OWN_SCORE * live_settings.read(snapshot, MIN_SCORE).value, 4)
    if best is None or best.score < max(least, _OWN_LEAD * matches[0].score):
        return None
    return PhraseMatches((best,), tuple(match for match in matches if match is not best)[:MAX_REPORTED], least)


def _find_matches(snapshot: Snapshot, text: str | None) -> tuple[IntentMatch, ...]:
    return snapshot.memo.get("phrases", lambda: get_phrase_index(snapshot)).match(text, get_form_words(snapshot))


def _match_clauses(snapshot: Snapshot, clauses: Sequence[str], *, interrupting: bool) -> PhraseMatches | None:
    """The intents of the clauses, each with its best one; null if there are none."""
    matches = [match for clause in clauses for match in _match_text(snapshot, clause, interrupting=interrupting).hits]
    best: dict[str, IntentMatch] = {}
    for match in sorted(matches, key=lambda match: (-match.score, match.intent)):
        best.setdefault(match.intent, match)
    if not best:
        return None
    ranked = tuple(best.values())
    enough = round(ranked[0].score - live_settings.read(snapshot, MARGIN).value, 4)
    hits = tuple(match for match in ranked if match.score >= enough)
    return PhraseMatches(hits, ranked[len(hits) : len(hits) + MAX_REPORTED], enough)


def _match_text(snapshot: Snapshot, text: str | None, *, interrupting: bool, is_whole: bool = False) -> PhraseMatches:
    """`is_whole`: the text is a whole message, which may also mean the only form that comes near."""
    matches = _find_matches(snapshot, text)
    if interrupting:
        allowed = snapshot.interrupting_classifiers
        matches = tuple(match for match in matches if match.phrase.key in allowed)
    matches = _drop_unasked_questions(snapshot, matches, text)
    same_text = _list_intents_with_phrase(snapshot, text)
    if identical := tuple(match for match in matches if match.intent in same_text):
        others = tuple(match for match in matches if match not in identical)
        return PhraseMatches(identical, others[:MAX_REPORTED], identical[-1].score)
    takes_near = is_whole and not interrupting
    if not interrupting and not (matches and matches[0].score >= live_settings.read(snapshot, MIN_SCORE).value):
        option = _match_options(snapshot, text, matches, needs_moment=not is_whole)
        matches = (option, *(match for match in matches if match.intent != option.intent)) if option else matches
    if not matches:
        return PhraseMatches(min_score=live_settings.read(snapshot, MIN_SCORE).value)
    margin = live_settings.read(snapshot, MARGIN).value
    enough = max(live_settings.read(snapshot, MIN_SCORE).value, round(matches[0].score - margin, 4))
    hits = _prefer_tasks(snapshot, tuple(match for match in matches if match.score >= enough), text)
    hits = _prefer_denying(snapshot, hits, text)
    if not hits and takes_near and _is_alone(snapshot, matches, asks=_asks(text)):
        hits = matches[:1]
    if hits and not interrupting and (flow := _find_ordered_flow(snapshot, matches, text)):
        hits = (flow,)
    near = tuple(match for match in matches if match not in hits)
    return PhraseMatches(hits, near[:MAX_REPORTED], enough)


def _list_intents_with_phrase(snapshot: Snapshot, text: str | None) -> Collection[str]:
    """The intents with a phrase that equals the text. The index is built once per version of the phrases."""
    index = snapshot.table(rows.Classifier).memo.get("intents by phrase", lambda: _index_intents_by_phrase(snapshot))
    return index.get(match_text(fold(text)), ())


def _index_intents_by_phrase(snapshot: Snapshot) -> Mapping[str, set[str]]:
    intents: dict[str, set[str]] = {}
    for row in snapshot.rows(rows.Classifier):
        if row.enabled and row.is_phrase:
            intents.setdefault(match_text(fold(row.pattern)), set()).add(code(row.intent_code))
    return intents


def _drop_unasked_questions(
    snapshot: Snapshot, matches: tuple[IntentMatch, ...], text: str | None
) -> tuple[IntentMatch, ...]:
    """Leave out questions if the message is an order, and names only options of the flow: "one oil change"."""
    if not asks_to_do(text):
        return matches
    is_request = _begins_with(text, _compile_requests())
    offers = {
        question: words.options
        for intent, words in get_form_words(snapshot).items()
        for question in snapshot.list_questions_beside(intent)
        if words.options
    }
    return tuple(
        match
        for match in matches
        if match.score == 1
        or (match.unmatched and not is_request)
        or not (named := {word.term for word in _read_matched(match)})
        or not named <= offers.get(match.intent, frozenset())
    )


def _asks(text: str | None) -> bool:
    """True for a text with a question mark, and for one that begins like a question."""
    return "?" in (text or "") or begins_with_question_word(text)


def _is_alone(snapshot: Snapshot, matches: Sequence[IntentMatch], *, asks: bool) -> bool:
    """True when the best intent collects a form, or answers a question beside one, and nothing else competes.

    "Meine Haare müssen ab", "what do I have to pay?".
    """
    best, *others = matches
    if best.intent in snapshot.returning_intents and not asks:
        return False
    if len(best.unmatched) >= len(_LONELY_SCORES) or best.intent not in get_form_words(snapshot):
        return False
    if all(word.light for word in _read_matched(best)):
        return False
    is_near = best.score >= _LONELY_SCORES[len(best.unmatched)] * live_settings.read(snapshot, MIN_SCORE).value
    lead = _OWN_LEAD if best.intent in snapshot.returning_intents else _LONELY_LEAD
    return is_near and all(match.score <= best.score * lead for match in others)


def _read_matched(match: IntentMatch) -> Iterator[TellingWord]:
    """The words of the message that counted."""
    texts = (word.text for word in match.words)
    return (word for text in texts for language in LANGUAGES for word in read_telling_words(text, language))


def _match_options(
    snapshot: Snapshot, text: str | None, matches: Sequence[IntentMatch], *, needs_moment: bool
) -> IntentMatch | None:
    """The only intent whose form has the options that are all that the text names: "Bart stutzen bitte".

    Words of the intent's own phrases may stand beside them: "sign us up for sailing with Jonas". `needs_moment`: the
    text must also say when or how many.
    """
    asks = "?" in (text or "") and not _compile_requests().match((text or "").strip())
    if asks or _LONG_NUMBER.search(text or ""):
        return None
    own = {match.intent: frozenset(word.text for word in match.words) for match in matches if not match.unmatched}
    intents = {
        intent
        for language in LANGUAGES
        for intent, words in get_form_words(snapshot).items()
        if words.names_options(telling := read_telling_words(text, language), own.get(intent, frozenset()))
        and (not needs_moment or any(word.light for word in telling))
    }
    if len(intents) != 1:
        return None
    intent = intents.pop()
    rows_of_intent = (row for row in snapshot.enabled_rows(rows.Classifier) if code(row.intent_code) == intent)
    row = next((row for row in rows_of_intent if row.is_phrase and _is_in_use(snapshot, row)), None)
    if row is None:
        return None
    score = live_settings.read(snapshot, MIN_SCORE).value
    return IntentMatch(intent, score, Phrase(row.classifier_id, intent, row.pattern or ""), (), ())


def _prefer_tasks(snapshot: Snapshot, hits: tuple[IntentMatch, ...], text: str | None) -> tuple[IntentMatch, ...]:
    """Of several intents, those that do not only answer a question, if the message asks none and is no phrase.

    Of a flow and a question beside it, the question if the message begins like a question: "do you take in shirts?".
    The flow, if it asks for something to be done: "could you take in a shirt?".
    """
    if len(hits) > 1 and (begins_with_question_word(text) or _begins_with(text, _compile_inquiries())):
        intents = {match.intent for match in hits}
        hits = tuple(match for match in hits if snapshot.list_questions_beside(match.intent).isdisjoint(intents))
    tasks = tuple(match for match in hits if match.intent not in snapshot.returning_intents)
    if tasks and asks_to_do(text):
        beside = {question for match in tasks for question in snapshot.list_questions_beside(match.intent)}
        return tuple(match for match in hits if match.intent not in beside)
    return hits if not tasks or "?" in (text or "") or hits[0].score == 1 else tasks


def _prefer_denying(snapshot: Snapshot, hits: tuple[IntentMatch, ...], text: str | None) -> tuple[IntentMatch, ...]:
    """Of several intents, those that deny what the message denies: "no boxes from the 3rd on" pauses, not orders."""
    if len(hits) < 2 or not denies(text):
        return hits
    listed = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase]
    denying = {code(row.intent_code) for row in listed if denies(row.pattern)}
    return tuple(match for match in hits if match.intent in denying) or hits


def _find_ordered_flow(snapshot: Snapshot, matches: Sequence[IntentMatch], text: str | None) -> IntentMatch | None:
    """The flow beside which the best question is, if the message orders something and the flow is not far behind."""
    best = matches[0]
    flow = next((match for match in matches if best.intent in snapshot.list_questions_beside(match.intent)), None)
    if flow is None or best.score == 1 or not asks_to_do(text) or flow.unmatched:
        return None
    least = max(_ORDERED_LEAD * best.score, live_settings.read(snapshot, MIN_SCORE).value)
    return flow if flow.score >= least else None


def asks_to_do(text: str | None) -> bool:
    """True for a message that begins like a request, and for a statement, if no word of it asks."""
    if begins_with_question_word(text) or _begins_with(text, _compile_inquiries()):
        return False
    words = fold(text).replace(",", " ").split()
    if any(word in language.asking_words.split() for word in words for language in LANGUAGES):
        return False
    return "?" not in (text or "") or _begins_with(text, _compile_requests())


def has_request(text: str) -> bool:
    """True for words with which somebody asks for something: "the roof leaks, I need a plumber"."""
    return any(pattern.search(text) for pattern in (_compile_requests(), _compile_inquiries()))


def _begins_with(text: str | None, pattern: re.Pattern[str]) -> bool:
    return pattern.match(_LEAD.sub("", text or "")) is not None


def _is_in_use(snapshot: Snapshot, row: rows.Classifier) -> bool:
    return snapshot.is_active(row.intent_code) and code(row.intent_code) not in (ANY, UNKNOWN, "")


def _read_synonyms(value: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """The lists of words in the setting; other values are ignored."""
    return tuple(
        tuple(word for word in group if isinstance(word, str)) for group in value if isinstance(group, (list, tuple))
    )


def describe_matches(matches: PhraseMatches) -> Mapping[str, Any]:
    """What an event says of the best intent: its score, the words that counted, and the runner-up."""
    best, *others = (*matches.hits, *matches.near)
    runner_up = {"runnerUp": others[0].intent, "runnerUpScore": others[0].score} if others else {}
    return {"score": best.score, "words": [word.text for word in best.words], **runner_up}
