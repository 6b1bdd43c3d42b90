"""Messages that match phrases of two intents, so that neither decides."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

from config_admin.health.diagnosis import Diagnosis, Witness, make_diagnosis
from config_admin.health.player import PlayedRules
from config_admin.health.survey import Survey
from config_admin.health.texts.predicate import TextPredicate, find_text, includes
from config_admin.health.witnesses import begin_with, find_turn_of_phrase, list_phrase_texts
from config_admin.validation.draft import Severity
from config_admin.validation.phrase_overlaps import choose_deciding_row, describe_phrase, quote_intent
from convengine.engine.steps.intents.classifiers import get_classifier_bank, order_classifiers
from convengine.engine.text.compare import code, shorten
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

#: Maximum reported collisions per row; maximum rows compared per word.
MAX_OF_ONE, MAX_SHARING = 3, 100
#: Maximum searches for all rows, and for changed ones; and states per search.
MAX_SEARCHES, MAX_OF_TOUCHED, MAX_STATES = 200, 10, 1000
_Pair = tuple[rows.Classifier, rows.Classifier]


def find_classifier_collisions(survey: Survey) -> Iterator[Diagnosis]:
    """Pairs of phrases of two intents with a message that matches both, and for which a played turn finds no intent.

    At most `MAX_OF_ONE` pairs of a phrase.
    """
    search = _Search(survey)
    reported: Counter[Any] = Counter()
    seen: set[frozenset[Any]] = set()
    for (row, other), text in search.find_pairs():
        key = frozenset((row.pk, other.pk))
        if key in seen or max(reported[row.pk], reported[other.pk]) >= MAX_OF_ONE:
            continue
        witness = begin_with(text)
        if survey.player.play(witness).has_phrase_collision:
            seen.add(key)
            reported.update(key)
            yield _report_collision(survey.snapshot, row, other, witness)


def _report_collision(snapshot: Snapshot, row: rows.Classifier, other: rows.Classifier, witness: Witness) -> Diagnosis:
    """The finding for two phrases of different intents that the text of the witness matches."""
    intents = " and ".join(quote_intent(snapshot, code(each.intent_code)) for each in (row, other))
    phrases = " and ".join(f"the {describe_phrase(snapshot, each)}" for each in (row, other))
    pairs = ((row, other), (other, row))
    useless = next((a for a, b in pairs if includes(_make_predicate(b), _make_predicate(a), limit=MAX_STATES)), None)
    always = (
        f" This applies to every message of the {describe_phrase(snapshot, useless)}, so it never decides alone."
        if useless
        else ""
    )
    return make_diagnosis(
        "CLASSIFIER_COLLISION",
        Severity.WARNING,
        row,
        f"“{shorten(witness.text or '', 100)}” matches {phrases}.",
        (
            "No intent is recognised for such a message. A model is asked. Without a model, the customer has to "
            f"choose between {intents}.{always}"
        ),
        others=[other],
        field="pattern",
        witness=witness,
    )


def find_taken_phrases(survey: Survey) -> Iterator[Diagnosis]:
    """Phrases and patterns that decide about every text of a phrase of another intent, as a played turn shows."""
    snapshot = survey.snapshot
    bank, by_pk = get_classifier_bank(snapshot), {row.pk: row for row in order_classifiers(snapshot)}
    taken: dict[Any, list[rows.Classifier]] = {}
    for phrase in order_classifiers(snapshot):
        texts = list_phrase_texts(phrase)
        if not texts or survey.must_skip("phrases"):
            continue
        hits = frozenset.intersection(*(frozenset(bank.hits(text)) for text in texts))
        for other in sorted((by_pk[key] for key in hits if key in by_pk), key=lambda row: row.classifier_id):
            if (
                code(other.intent_code) != code(phrase.intent_code)
                and choose_deciding_row(snapshot, phrase, other) is other
                and survey.is_touched(phrase, other)
            ):
                taken.setdefault(other.pk, []).append(phrase)
    for key, phrases in taken.items():
        row = by_pk[key]
        for phrase in phrases[:MAX_OF_ONE]:
            shown = find_turn_of_phrase(survey.player, phrase, partial(PlayedRules.is_decided_by, row=row))
            if shown is not None:
                yield _report_taken_phrases(snapshot, row, phrases, shown.witness)
                break


def _report_taken_phrases(
    snapshot: Snapshot, row: rows.Classifier, phrases: list[rows.Classifier], witness: Witness
) -> Diagnosis:
    """The finding for a pattern that takes over phrases of other intents; it names at most `MAX_OF_ONE` of them."""
    named = ", ".join(describe_phrase(snapshot, phrase) for phrase in phrases[:MAX_OF_ONE])
    more = f" and {len(phrases) - MAX_OF_ONE} more" if len(phrases) > MAX_OF_ONE else ""
    return make_diagnosis(
        "PHRASES_TAKEN",
        Severity.WARNING,
        row,
        f"The {describe_phrase(snapshot, row)} takes over phrases of other intents: {named}{more}.",
        f"Customers who write this get {quote_intent(snapshot, code(row.intent_code))}.",
        others=phrases,
        field="pattern",
        witness=witness,
    )


class _Search:
    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._rows = [row for row in order_classifiers(survey.snapshot) if row.is_pattern]
        self._by_pk = {row.pk: row for row in self._rows}
        self._bank = get_classifier_bank(survey.snapshot)
        #: Not needed if everything is checked.
        touched = survey.of(rows.Classifier) if survey.touched is not None else ()
        self._touched = [row for row in touched if row.is_pattern]

    def find_pairs(self) -> Iterator[tuple[_Pair, str]]:
        """Pairs with a message: first the texts of each row, tested on all; then texts made for pairs."""
        for row in [*self._touched, *self._rows]:
            if self._survey.must_skip("classifiers"):
                continue
            for text in self._list_samples(row):
                yield from (((row, other), text) for other in self._list_rivals_hit_by(row, text))
        searches, most = 0, MAX_SEARCHES if self._survey.touched is None else MAX_OF_TOUCHED
        for pair in self._list_comparable_pairs():
            closest = searches < most
            predicates = [_make_predicate(row) for row in pair]
            common = find_text(predicates, closest=closest, limit=MAX_STATES if closest else 1)
            searches += common is None or common.joined
            if common is not None and not common.joined and pair[1] in self._list_rivals_hit_by(pair[0], common.text):
                yield pair, common.text

    def _list_samples(self, row: rows.Classifier) -> tuple[str, ...]:
        """The texts of a row; if others changed, only those that a changed row matches too."""
        texts = list_phrase_texts(row)
        if not texts or self._survey.is_touched(row):
            return texts
        return tuple(text for text in texts if any(_make_predicate(other).holds(text) for other in self._touched))

    def _list_rivals_hit_by(self, row: rows.Classifier, text: str) -> list[rows.Classifier]:
        """The rows of other intents that also match the text, so that none decides."""
        hits = self._bank.hits(text)
        if row.pk not in hits or len(hits) < 2:
            return []
        others = [self._by_pk[pk] for pk in hits if pk in self._by_pk]
        return [other for other in others if self._are_rivals(row, other)]

    def _are_rivals(self, row: rows.Classifier, other: rows.Classifier) -> bool:
        """True if two phrases have different intents, neither of them decides, and one of them is touched."""
        return (
            code(row.intent_code) != code(other.intent_code)
            and choose_deciding_row(self._survey.snapshot, row, other) is None
            and self._survey.is_touched(row, other)
        )

    def _list_comparable_pairs(self) -> Iterator[_Pair]:
        """Pairs of rivals that share a word, or that both have no words.

        Of each word, its first `MAX_SHARING` rows are compared. If only some rows changed, each pair has one of them.
        """
        by_word = self._survey.snapshot.table(rows.Classifier).memo.get("health words", self._group_by_word)
        sharing: Iterable[_Pair] = (
            pair for members in by_word.values() for pair in combinations(members[:MAX_SHARING], 2)
        )
        if self._survey.touched is not None:
            sharing = (
                (row, other)
                for row in self._touched
                for word in _make_predicate(row).words or ("",)
                for other in by_word.get(word, ())[:MAX_SHARING]
            )
        seen: set[frozenset[Any]] = set()
        for row, other in sharing:
            key = frozenset((row.pk, other.pk))
            if key in seen or not self._are_rivals(row, other) or self._survey.must_skip("pairs of phrases"):
                continue
            seen.add(key)
            if row.pk in self._by_pk and other.pk in self._by_pk:
                yield row, other

    def _group_by_word(self) -> Mapping[str, list[rows.Classifier]]:
        """The rows by the words of their texts, rarest first; the empty word has the rows without words."""
        by_word: dict[str, list[rows.Classifier]] = {}
        for row in self._survey.snapshot.enabled_rows(rows.Classifier):
            if row.is_pattern:
                for word in _make_predicate(row).words or ("",):
                    by_word.setdefault(word, []).append(row)
        return dict(sorted(by_word.items(), key=lambda item: len(item[1])))


def _make_predicate(row: rows.Classifier) -> TextPredicate:
    return TextPredicate(code(row.rule_type), row.pattern or "")
