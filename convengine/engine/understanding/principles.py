"""The principles of reading by name. The bench switches one off and measures what it moves."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum


class Principle(StrEnum):
    """What a reading rests on, besides the tables and the finders."""

    #: A plain value with one field is taken whatever else its clause says.
    SURE_VALUES = "sure-values"
    #: A message that answers no question and begins no form may be talk: a bare number or a "today" is only offered.
    EXPECTED = "expected"
    #: An option that is compared or asked about is not chosen.
    COMPARISONS = "comparisons"
    #: Of two values for two fields of a kind, "from", "until" and "back" tell the first from the last.
    SIDES = "sides"
    #: Words of wanting, going and having explain themselves, and so do those of the last answer.
    TALK = "talk"
    #: An answer of a few words to a question for a short text is the text.
    SHORT_ANSWERS = "short-answers"
    #: Where a text was asked for, no learned move is looked for, and a bare number is for no other field.
    ASKED_TEXTS = "asked-texts"
    #: Of a sentence, a short text takes a name, a code, or what stands behind a frame or a relation, and nothing else.
    MARKED_TEXTS = "marked-texts"
    #: A bare number beside a word of correction is for one said before, where no number is asked for.
    CORRECTED_NUMBERS = "corrected-numbers"
    #: A short text in a sentence has all words that belong to it, and an address its parts behind commas.
    WHOLE_TEXTS = "whole-texts"
    #: Where a name is asked for, it is looked for in each part of the answer, without the small words around it.
    ASKED_NAMES = "asked-names"
    #: What is said in full goes before what is said vaguely, and a vague day or time counts only where it is asked for.
    FULL_VALUES = "full-values"
    #: Of several pieces that are left, "in", "to" or "from" chooses one, and then a capital.
    RELATIONS = "relations"
    #: A text that was not asked for is taken behind "to" or "from" of the only field that they mean.
    RELATED_TEXTS = "related-texts"
    #: People are summed by heads, and a number goes to the field whose noun it counts.
    COUNTS = "counts"
    #: A clause that no table explains is the move that it means most likely.
    LEARNED_MOVES = "learned-moves"
    #: Whether a clause with a value that looks like a question asks or wishes is learned.
    LEARNED_QUESTIONS = "learned-questions"
    #: A name of a person is found by its cues and its letters, and fills a given and a family name.
    PERSONS = "persons"
    #: The option of an asked choice that is said in other words is offered.
    MEANT_OPTIONS = "meant-options"
    #: A range is for two fields, and a choice of two values is asked back.
    PAIRS = "pairs"
    #: The first yes or no answers a yes/no question, and what is said beside it is a reason.
    FIRST_ANSWER = "first-answer"
    #: The telling words of a yes/no field's name say yes, and with a denial no.
    NAMED_YES_NO = "named-yes-no"


_switched_off: frozenset[Principle] = frozenset()


def holds(principle: Principle) -> bool:
    """True unless the bench measures without it."""
    return principle not in _switched_off


@contextmanager
def switch_off(*principles: Principle) -> Iterator[None]:
    """Read without these principles. Only for measuring: it counts for the whole process."""
    global _switched_off
    before, _switched_off = _switched_off, frozenset(principles)
    try:
        yield
    finally:
        _switched_off = before
