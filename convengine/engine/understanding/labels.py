"""Names of fields in a message: "size L", "my name is Ann", "change the day"."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.grammar import Grammar
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover

#: Between the name of a field and its text.
_LABEL_SIGNS = frozenset({":", "="})
#: What a field for an address asks for, besides where it is.
STREET = "street"
#: What may stand between the name of a field and its value, besides its joint.
_SMALL, _SIGNS = ("label_joint", "filler", "correction", "least", "limit"), frozenset({":", "=", "-"})


@dataclass(frozen=True)
class FieldLabel:
    """The name of a field, from one word up to another.

    `is_whole`: not only one of its words.
    """

    field: str
    start: int
    end: int
    is_whole: bool = True


def find_labels(understanding: Understanding, form: OpenForm) -> tuple[FieldLabel, ...]:
    """The names of fields in a message; the longest at each word. A word that several fields have names none."""
    keys = tuple(word.key for word in understanding.words)
    passed = cover(cue for cue in understanding.cues if cue.name != "lead_in")
    passed |= {index for index, word in enumerate(understanding.words) if word.is_mended}
    grammar = understanding.chart.grammar
    labels: list[FieldLabel] = []
    at = 0
    while at < len(keys):
        label = _find_at(keys, at, form)
        if label is None and at not in passed:
            # A word that only one field's names have, or the "arriving" of an arrival.
            stems = get_own_stems(form.fields, grammar)
            owner = form.own_names.get(keys[at]) or stems.get(stem(keys[at], grammar))
            label = FieldLabel(owner.path, at, at + 1, is_whole=False) if owner else None
        if label is not None:
            labels.append(label)
        at = label.end if label else at + 1
    return tuple(labels)


def asks_for_name(item: FormField, grammar: Grammar) -> bool:
    """True for a field for a person's name: its names have a word of `name_field`, and none of `no_name_field`."""
    names = {word for word, _ in grammar.list_words("name_field")}
    others = {word for word, _ in grammar.list_words("no_name_field")}
    words = {word for label in item.labels for word in label}
    return not names.isdisjoint(words) and others.isdisjoint(words)


def takes_only_name(item: FormField, grammar: Grammar) -> bool:
    """True for a field that is called a name, or whose question asks for one: "your full name?".

    Not for "Who did it? A name or a flat number is fine."
    """
    words, alternatives = (dict(grammar.list_words(name)) for name in ("name_word", "alternative"))
    is_called = any(word in words for label in item.labels for word in label)
    is_asked = not words.keys().isdisjoint(item.question) and alternatives.keys().isdisjoint(item.question)
    return asks_for_name(item, grammar) and (is_called or is_asked)


def find_labels_by_kind(understanding: Understanding, form: OpenForm) -> tuple[FieldLabel, ...]:
    """The names of fields, and beside them what names the only field of a kind: "the name", "the date"."""
    chart, labels = understanding.chart, [*find_labels(understanding, form)]
    matches = [(at, match) for at in range(len(chart.words)) if (match := chart.match_longest("kind_name", at))]
    for at, match in matches:
        fields = _list_of_kind(str(match.value), form, chart.grammar)
        if len(fields) == 1 and not any(label.start < match.end and at < label.end for label in labels):
            labels.append(FieldLabel(fields[0].path, at, match.end))
    return tuple(sorted(labels, key=lambda label: label.start))


def _list_of_kind(kind: str, form: OpenForm, grammar: Grammar) -> list[FormField]:
    """The fields of a kind; of texts, those for a person's name, and those for an address."""
    if kind == Kind.PERSON:
        return [item for item in form.fields if item.spec.kind is Kind.PERSON or asks_for_name(item, grammar)]
    if kind == STREET:
        return [item for item in form.fields if item.spec.kind is Kind.TEXT and STREET in list_relations(item, grammar)]
    return [item for item in form.fields if item.spec.kind == kind]


def _find_at(keys: Sequence[str], at: int, form: OpenForm) -> FieldLabel | None:
    """The longest whole name of a field that begins at a word. Returns None if there is none, or if several have it."""
    matches = [
        (end, item) for item in form.fields for label in item.labels if (end := _find_label_end(keys, at, label))
    ]
    if not matches:
        return None
    longest = max(end for end, _ in matches)
    items: list[FormField] = [item for end, item in matches if end == longest]
    return FieldLabel(items[0].path, at, longest) if len(set(items)) == 1 else None


def _find_label_end(keys: Sequence[str], at: int, label: Sequence[str]) -> int | None:
    """The word behind a name that begins here, with or without its hyphens. Returns None where it does not begin."""
    for index, key in enumerate(label):
        at += bool(index) and keys[at : at + 1] == ("-",)
        if keys[at : at + 1] != (key,):
            return None
        at += 1
    return at


@lru_cache(maxsize=256)
def get_own_stems(fields: tuple[FormField, ...], grammar: Grammar) -> Mapping[str, FormField]:
    """By the stem of a word that only one field's names have, or of one that means the same: the field; not a text."""
    owners: dict[str, set[FormField]] = {}
    same: dict[str, list[str]] = {}
    for word, value in grammar.list_words("same_name"):
        same.setdefault(str(value), []).append(word)
    groups = dict(grammar.list_words("same_name"))
    for item in fields:
        words = {word for label in item.labels for word in label}
        for word in words.union(*(same[str(groups[word])] for word in words if word in groups)):
            owners.setdefault(stem(word, grammar), set()).add(item)
    only = {word: next(iter(items)) for word, items in owners.items() if len(items) == 1}
    return {word: item for word, item in only.items() if item.spec.kind not in (Kind.TEXT, Kind.PERSON)}


#: A compound has the relations of a last part of at least so many letters: "Einzugsadresse".
_SHORTEST_END = 5


def list_relations(item: FormField, grammar: Grammar) -> frozenset[str]:
    """What the value of a field is to the rest of a message, by the words of its names: where, from where, to whom."""
    words = {word for label in item.labels for word in label}
    values = [
        str(value)
        for word, value in grammar.list_words("relation_field")
        if any(word == own or (len(word) >= _SHORTEST_END and own.endswith(word)) for own in words)
    ]
    return frozenset(relation for value in values for relation in value.split())


class BoundLabels:
    """Binds the names of fields to the values beside them."""

    def __init__(self, understanding: Understanding, labels: Sequence[FieldLabel]) -> None:
        small = cover(cue for cue in understanding.cues if cue.name in _SMALL)
        small |= {index for index, word in enumerate(understanding.words) if word.key in _SIGNS}
        self._small = small
        self._before = [(label, find_value_start(understanding, label)) for label in reversed(labels)]
        # "From the 15th until the 18th": between two values, it is the name of the last one.
        self._after = [label for label in labels if not understanding.chart.match("range", label.start)]

    def find(self, start: int, end: int) -> FieldLabel | None:
        """The label directly before or after a value, with nothing but joints and fillers between.

        Returns None if there is none.
        """
        first, last = start, end
        while first - 1 in self._small:
            first -= 1
        while last in self._small:
            last += 1
        before = (label for label, value_start in self._before if label.end <= start and value_start >= first)
        after = (label for label in self._after if end <= label.start <= last)
        return next(before, None) or next(after, None)


def find_value_start(understanding: Understanding, label: FieldLabel, *joints: str) -> int:
    """The word behind a name of a field and the joint that follows it; without a joint, the word behind the name.

    `joints`: the classes of the joint; by default each that may stand before a value.
    """
    words = understanding.words
    matches = (understanding.chart.match_exactly(name, label.end) for name in joints or ("label_joint", "lead_in"))
    sign = label.end < len(words) and words[label.end].key in _LABEL_SIGNS
    return max([label.end + sign, *(match.end for match in matches if match)])


def says_nothing(understanding: Understanding, label: FieldLabel) -> bool:
    """True for "note: none": what is said for the field is that it stays empty."""
    clause, start = understanding.find_clause(label.start), find_value_start(understanding, label)
    match = understanding.chart.match_longest("move", start) if start > label.end else None
    return match is not None and clause is not None and match.end == clause.end and match.value.means == MoveKind.SKIP


def says_wrong(understanding: Understanding, start: int) -> bool:
    """True for the "still wrong" of "the address is still wrong" at a word: what is wrong is no value."""
    small = cover(cue for cue in understanding.cues if cue.name == "filler")
    while start in small:
        start += 1
    return any(cue.start <= start < cue.end and cue.name in ("correction", "rejection") for cue in understanding.cues)
