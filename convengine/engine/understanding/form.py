"""The open form as reading sees it: its fields, what it holds, and what was asked."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from convengine.engine.cached_property import cached_property
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.span import Sort, list_sorts
from convengine.engine.understanding.words import Lexicon, split_text
from convengine.json_value import Json

#: A text of more words is a sentence and no short answer.
MOST_SHORT = 4


@dataclass(frozen=True, eq=False)
class FormField:
    """A field, its names, and the words that its question has."""

    spec: FieldSpec
    required: bool
    #: Names that people use, each as words: the title, the property name, each of `x-labels`.
    labels: tuple[tuple[str, ...], ...]
    #: The words of the question that was asked last.
    question: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        return self.spec.name

    @cached_property
    def sorts(self) -> tuple[Sort, ...]:
        return list_sorts(self.spec)


@dataclass(frozen=True, eq=False)
class OpenForm:
    """A form while a message is read into it."""

    #: In the order of the form.
    fields: tuple[FormField, ...]
    #: By path: the valid values that it holds.
    held: Mapping[str, Json] = field(default_factory=dict)
    #: The path of the field that the last answer asked for; blank for none.
    asked_path: str = ""
    #: The words of the last answer, as it was said.
    last_answer: frozenset[str] = frozenset()
    #: The last message gave nothing for it.
    is_asked_again: bool = False
    #: The form is complete and waits for its confirmation.
    is_confirming: bool = False
    #: The last answer asked what to change.
    asks_what_to_change: bool = False
    #: This message began the form: the words of the intent's phrases and title explain themselves.
    is_opener: bool = False
    own_words: frozenset[str] = frozenset()

    def field(self, path: str) -> FormField | None:
        return next((item for item in self.fields if item.path == path), None)

    @cached_property
    def asked_field(self) -> FormField | None:
        return self.field(self.asked_path) if self.asked_path else None

    @property
    def is_expected(self) -> bool:
        """True for a message that answers a question, or begins the form."""
        return bool(self.asked_path) or self.is_opener or self.is_confirming or self.asks_what_to_change

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The place of each field in the form."""
        return {item.path: number for number, item in enumerate(self.fields)}

    def is_open(self, path: str) -> bool:
        """True for a field without a value."""
        return path not in self.held

    @cached_property
    def own_names(self) -> Mapping[str, FormField]:
        """The words that only one field's names have."""
        owners: dict[str, set[FormField]] = {}
        for item in self.fields:
            for word in {word for label in item.labels for word in label}:
                owners.setdefault(word, set()).add(item)
        return {word: next(iter(items)) for word, items in owners.items() if len(items) == 1}


def make_lexicon(
    fields: Sequence[FormField],
    base: Lexicon,
    fillers: Sequence[tuple[str, ...]] = (),
    kept_words: Collection[str] = (),
) -> Lexicon:
    """The lexicon of a language with the names, the options and the fillers of a form; `kept_words`: of phrases."""
    texts = [spelling for item in fields for option in item.spec.options for spelling in option.spellings]
    words = {word.key for text in texts for word in split_text(text) if not word.is_sign}
    words |= {word for item in fields for label in item.labels for word in label}
    words |= {word for filler in fillers for word in filler}
    return Lexicon(words, base=base, kept_words=kept_words)


def list_held_words(held: Mapping[str, Json]) -> frozenset[str]:
    """The words of the short texts that a form holds. A user who repeats them, as in a signature, changes nothing."""
    texts = (fold_label(value) for value in held.values() if isinstance(value, str))
    return frozenset(word for words in texts if len(words) <= MOST_SHORT for word in words)


def fold_label(text: str) -> tuple[str, ...]:
    """A name of a field as the words that a message is compared with."""
    return tuple(word.key for word in split_text(text) if not word.is_sign)


def list_labels(texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The names of a field, the longest first."""
    labels = dict.fromkeys(label for text in texts if (label := fold_label(text)))
    return tuple(sorted(labels, key=lambda label: -len(label)))
