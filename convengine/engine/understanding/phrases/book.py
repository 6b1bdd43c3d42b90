"""The phrases of a configuration, and what they train."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from convengine.engine.cached_property import cached_property
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.scope import ANY, UNKNOWN
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.language import LEARNED_FROM, list_own_languages
from convengine.engine.understanding.phrases.classifier import Content, Example, Ranked
from convengine.engine.understanding.phrases.encoders import NO_VECTORS
from convengine.engine.understanding.phrases.features import Synonyms
from convengine.engine.understanding.phrases.intent_words import IntentWord, list_intent_words
from convengine.engine.understanding.phrases.lines import AnsweredLine, FoundLine, LineFinder, list_lines
from convengine.engine.understanding.phrases.models import Ranker, get_classifier, load_compared, name_model
from convengine.engine.understanding.phrases.settings import EMBEDDING_MODEL, SYNONYMS
from convengine.engine.understanding.phrases.terms import PhraseLanguage, detect_languages
from convengine.engine.understanding.phrases.wording import list_keys, list_terms, spell_plainly
from convengine.engine.understanding.understand import Understanding, understand
from convengine.engine.understanding.words import Lexicon, split_text

#: What speaks for an intent that was found by its questions and what it answers.
ANSWER = "ANSWER"
#: How many intents are ranked.
_RANKED = 8
#: The phrases whose words are kept.
_KEPT = 20_000
#: Phrases that are less alike have nothing in common, and what is nearer by less than the lead is nearer by chance.
_LEAST_LIKENESS, _LEAST_LEAD = 0.25, 0.1
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
    #: What speaks for the intent, if it is not how like the whole message its phrases are: an OPTION of its form, a
    #: PART of the message, or what it answers.
    basis: str = ""
    #: How near the message is to the question, to the question with the answer, and to the answer, if it was found by
    #: them.
    cosines: tuple[float, ...] = ()

    @property
    def is_identical(self) -> bool:
        return self.confidence == 1


class PhraseBook:
    def __init__(
        self,
        phrases: Sequence[Phrase],
        words: Sequence[IntentWord] = (),
        synonyms: Synonyms = (),
        encoder: str = "",
        lines: Sequence[AnsweredLine] = (),
        languages: tuple[str, ...] = LEARNED_FROM,
    ) -> None:
        """`words`: words of intents besides their phrases. `encoder`: the embedding model; blank for none.

        `lines`: the intents that are found by what they answer.
        """
        self.lines = tuple(lines)
        self._finder: LineFinder | None = None
        self.phrases = tuple(phrases)
        examples = tuple(Example(phrase.intent, phrase.text.strip()) for phrase in phrases)
        self.content = Content(
            examples, tuple(Example(word.intent, word.text) for word in words), synonyms, encoder, languages
        )
        self._with_keys: dict[tuple[str, ...], list[Phrase]] = {}
        self._by_example: dict[Example, list[Phrase]] = {}
        self._words: set[str] = set()
        for phrase, example in zip(self.phrases, examples, strict=True):
            keys, words_of_phrase = _split_phrase(phrase.text)
            self._with_keys.setdefault(keys, []).append(phrase)
            self._by_example.setdefault(example, []).append(phrase)
            self._words.update(words_of_phrase)
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
        return self.get_classifier(())

    def get_classifier(self, messages: Sequence[str]) -> Ranker:
        """What the phrases train, or what decides on these messages in its place."""
        return get_classifier(self.content, self.model_name, [*map(_write_quietly, messages)])

    def list_texts(self) -> list[str]:
        """All texts whose vectors are needed."""
        return [*self.content.list_texts(), *(text for line in self.lines for text in line.list_texts())]

    def find_identical(self, text: str) -> tuple[Phrase, ...]:
        """The phrases that a text is, word for word; else those that it is without greetings and courtesies."""
        if same := self._with_keys.get(list_keys(text)):
            return tuple(same)
        languages = detect_languages(text, self.content.languages)
        contents = ([*map(spell_plainly, language.list_content(text))] for language in languages)
        phrases = (self._with_keys.get(tuple(content), ()) for content in contents if content)
        return tuple(dict.fromkeys(phrase for of_language in phrases for phrase in of_language))

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
        known = {key for keys in self._with_keys for key in keys}
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

    def rank(self, text: str, classifier: Ranker | None = None) -> tuple[IntentMatch, ...]:
        """The intents that a text may mean by what the phrases train, best first, at most _RANKED."""
        ranker = classifier or self.get_classifier([text])
        return tuple(map(self._make_match, ranker.rank(_write_quietly(text), _RANKED)))

    def find_lines(self, text: str, classifier: Ranker | None = None) -> tuple[IntentMatch, ...]:
        """The lines whose question and answer a text is near to, best first, at most _RANKED; none without vectors."""
        if not self.lines or (classifier or self.get_classifier([text])).substitution == NO_VECTORS:
            return ()
        finder = self._get_finder()
        return tuple(map(self._make_line_match, finder.find(_write_quietly(text), _RANKED))) if finder else ()

    def find_nearer(self, phrase: Phrase, intent: str) -> tuple[Phrase, float] | None:
        """The phrase of an intent that a phrase is clearly more like than the others of its own, and by how much.

        Returns None if there is no such phrase, or if the intent has no other phrase.
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
        if not own or not others:
            return None
        likeness, example = max(others)
        lead = likeness - max(own)
        is_clear = likeness >= _LEAST_LIKENESS and lead >= _LEAST_LEAD
        return (self._by_example[example][0], lead) if is_clear else None

    def _make_match(self, ranked: Ranked) -> IntentMatch:
        phrase = self._by_example[Example(ranked.intent, ranked.phrase)][0]
        return IntentMatch(ranked.intent, ranked.confidence, phrase, ranked.likeness)

    def _make_line_match(self, line: FoundLine) -> IntentMatch:
        phrase = self._by_example[Example(line.intent, line.question)][0]
        return IntentMatch(line.intent, line.confidence, phrase, max(line.cosines), ANSWER, line.cosines)

    def _get_finder(self) -> LineFinder | None:
        """What finds the lines. Returns None while that is being made, and if the service fails."""
        if self._finder is None:
            intents = {line.intent for line in self.lines}
            others = [example.text for example in self.content.examples if example.intent not in intents]
            texts = [text for line in self.lines for text in line.list_texts()]
            compared = load_compared([*dict.fromkeys((*others, *texts))], self.content.encoder)
            self._finder = LineFinder(self.lines, others, *compared) if compared else None
        return self._finder


def _write_quietly(text: str) -> str:
    """Capitals throughout are no names: they only shout."""
    return text.lower() if text.isupper() else text


@lru_cache(_KEPT)
def _split_phrase(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What compares a phrase word for word, and its words. They are kept, so that an edit splits only what is new."""
    words = [word for word in split_text(text) if not word.is_sign]
    return tuple(map(spell_plainly, words)), tuple(word.key for word in words)


def get_phrase_book(snapshot: Snapshot) -> PhraseBook:
    """The enabled phrases of enabled intents; collected once per version of the tables.

    All channels have one book: what a channel does not have is still understood, and not taken for something else.
    """
    return snapshot.whole.memo.get("phrase book", lambda: _find_book(snapshot.whole))


def _find_book(snapshot: Snapshot) -> PhraseBook:
    """The book of the phrases in use, kept with the table of phrases until they or its settings change."""
    synonyms, encoder = read_synonyms(snapshot), live_settings.read(snapshot, EMBEDDING_MODEL).value.strip()
    listed = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and not blank(row.pattern)]
    intents = {code(row.intent_code) for row in listed} - {ANY, UNKNOWN, ""}
    in_use = frozenset(filter(snapshot.is_active, intents))
    words = tuple(dict.fromkeys(word for word in list_intent_words(snapshot) if word.intent in in_use))
    phrases = [Phrase(row.classifier_id, code(row.intent_code), row.pattern or "") for row in listed]
    used = [phrase for phrase in phrases if phrase.intent in in_use]
    lines = list_lines(snapshot, [(phrase.intent, phrase.text.strip()) for phrase in used])
    languages = list_own_languages(snapshot)
    made_from = in_use, words, synonyms, encoder, lines, languages
    return snapshot.table(rows.Classifier).memo.get(
        ("phrase book", *made_from), lambda: PhraseBook(used, words, synonyms, encoder, lines, languages)
    )


def read_synonyms(snapshot: Snapshot) -> Synonyms:
    """The lists of words in the setting; other values are ignored."""
    groups = live_settings.read(snapshot, SYNONYMS).value
    return tuple(
        tuple(word for word in group if isinstance(word, str)) for group in groups if isinstance(group, (list, tuple))
    )
