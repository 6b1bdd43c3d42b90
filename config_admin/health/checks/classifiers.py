"""Messages that two intents claim: classifiers of both hit them, so that neither decides (tables 2.2)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.survey import Survey
from config_admin.health.texts.syntax import Unreadable
from config_admin.health.texts.wish import Text, Wish, text_for
from config_admin.health.witness import Witness
from config_admin.validation.findings import Severity
from convengine.domain import rows, settings
from convengine.domain.catalogue.intents import COLLISION_BY_PRIORITY
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code, excerpt
from convengine.intents.classifiers import classifier_bank, ordered_classifiers
from convengine.intents.policies import policy_bank

#: Collisions of one row that are told; rows of one word that are compared.
MAX_OF_ONE, MAX_SHARING = 3, 100
#: Searches of all rows, and of touched ones; and states of each.
MAX_SEARCHES, MAX_OF_TOUCHED, MAX_STATES = 200, 10, 1000
_Pair = tuple[rows.Classifier, rows.Classifier]


def check(survey: Survey) -> Iterator[Diagnosis]:
    """Every pair of classifiers of two intents with a message that both hit, and that is not one of each in a row."""
    search = _Search(survey)
    told: Counter[Any] = Counter()
    seen: set[frozenset[Any]] = set()
    for (one, other), text in search.found():
        key = frozenset((one.pk, other.pk))
        if key not in seen and max(told[one.pk], told[other.pk]) < MAX_OF_ONE:
            seen.add(key)
            told.update(key)
            yield _told(one, other, text)


def _told(one: rows.Classifier, other: rows.Classifier, text: str) -> Diagnosis:
    intents = f"{code(one.intent_code)} and {code(other.intent_code)}"
    return diagnosis(
        "CLASSIFIER_COLLISION",
        Severity.WARNING,
        one,
        f"“{excerpt(text, 100)}” is hit by a classifier of {code(one.intent_code)} (row {one.pk}) and by one of "
        f"{code(other.intent_code)} (row {other.pk}).",
        "No classifier decides such a message: a model is asked, and where there is none the customer is asked to "
        f"choose between {intents}.",
        others=[other],
        field="pattern",
        witness=Witness(text=text),
    )


class _Search:
    def __init__(self, survey: Survey) -> None:
        self._survey = survey
        self._rows = [row for row in ordered_classifiers(survey.snapshot) if not row.is_semantic]
        self._by_pk = {row.pk: row for row in self._rows}
        self._bank = classifier_bank(survey.snapshot)
        self._policies = policy_bank(survey.snapshot)
        #: Not asked for where everything is looked at.
        self._touched = list(survey.of(rows.Classifier)) if survey.touched is not None else []
        self._by_priority = settings.read(survey.snapshot, COLLISION_BY_PRIORITY).value

    def found(self) -> Iterator[tuple[_Pair, str]]:
        """Pairs with a message: texts that one row means, held against all; then texts made for pairs."""
        for row in [*self._touched, *self._rows]:
            if self._survey.late("classifiers"):
                continue
            for text in self._samples(row):
                yield from (((row, other), text) for other in self._hit_too(row, text))
        searches, most = 0, MAX_SEARCHES if self._survey.touched is None else MAX_OF_TOUCHED
        for pair in self._near():
            found = _common(pair, closest=searches < most)
            searches += found is None or found.joined
            if found is not None and not found.joined and pair[1] in self._hit_too(pair[0], found.text):
                yield pair, found.text

    def _samples(self, row: rows.Classifier) -> tuple[str, ...]:
        """The texts of a row; where others were touched, those of them that a touched row hits as well."""
        texts = _samples(row)
        if not texts or self._survey.is_touched(row):
            return texts
        return tuple(text for text in texts if any(_wish(other).holds(text) for other in self._touched))

    def _hit_too(self, row: rows.Classifier, text: str) -> list[rows.Classifier]:
        """The rows of other intents that the text hits beside this one, where that undecides it."""
        hits = self._bank.hits(text)
        if row.pk not in hits or len(hits) < 2 or self._policies.hits(text):
            return []
        others = [self._by_pk[pk] for pk in hits if pk in self._by_pk]
        return [other for other in others if self._rivals(row, other)]

    def _rivals(self, one: rows.Classifier, other: rows.Classifier) -> bool:
        decided = self._by_priority and one.priority != other.priority
        rivals = code(one.intent_code) != code(other.intent_code) and not decided
        return rivals and self._survey.is_touched(one, other)

    def _near(self) -> Iterator[_Pair]:
        """Pairs that share a word, and pairs of rows that are about no words: all of a touched row's."""
        seen: set[frozenset[Any]] = set()
        for one, other in self._sharing():
            key = frozenset((one.pk, other.pk))
            if key in seen or not self._rivals(one, other) or self._survey.late("pairs of classifiers"):
                continue
            seen.add(key)
            if one.pk in self._by_pk and other.pk in self._by_pk:
                yield one, other

    def _sharing(self) -> Iterator[_Pair]:
        table = self._survey.snapshot.table(rows.Classifier)
        by_word = table.memo.get("health words", partial(_by_word, self._survey.snapshot))
        if self._survey.touched is None:
            for members in by_word.values():
                yield from combinations(members[:MAX_SHARING], 2)
            return
        for row in self._touched:
            for word in _wish(row).words or ("",):
                yield from ((row, other) for other in by_word[word][:MAX_SHARING])


def _by_word(snapshot: Snapshot) -> Mapping[str, list[rows.Classifier]]:
    """The rows by the words of their texts; under the empty word those that are about none. The rarest first."""
    found: dict[str, list[rows.Classifier]] = {}
    for row in snapshot.enabled(rows.Classifier):
        if not row.is_semantic:
            for word in _wish(row).words or ("",):
                found.setdefault(word, []).append(row)
    return dict(sorted(found.items(), key=lambda item: len(item[1])))


def _wish(row: rows.Classifier) -> Wish:
    return Wish(code(row.rule_type), row.pattern or "")


def _samples(row: rows.Classifier) -> tuple[str, ...]:
    try:
        return _wish(row).samples
    except Unreadable:
        return ()


def _common(pair: _Pair, *, closest: bool) -> Text | None:
    """A text that both mean."""
    return text_for([_wish(row) for row in pair], closest=closest, limit=MAX_STATES if closest else 1)
