"""Which values replace one that the form holds: "change the name to Ann", "not 5 but 6" (docs/forms.md)."""

from collections.abc import Iterator

from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.kinds.pairs import resolve
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.span import Finder, Situation, Span
from convengine.engine.understanding.understand import Understanding

#: Meanings of values that count from the one that the form holds: "one more", "an hour later".
RELATIVE = frozenset({"more", "after_held", "after_held_time"})
#: In a form that holds values already, these say that one of them is replaced.
CORRECTIONS = (MoveKind.CORRECT, MoveKind.NEGATE)


def may_correct(understanding: Understanding, form: OpenForm, span: Span) -> bool:
    """True where a value replaces one that the form holds: by a cue of correction, or plainly at the confirmation."""
    if span.phrase.means in RELATIVE:
        return True
    if form.is_confirming or form.asks_what_to_change:
        moves = (*CORRECTIONS, MoveKind.AFFIRM, MoveKind.PRAISE)  # "Yes, but 5" changes something, too.
        is_expected = form.asks_what_to_change or understanding.find_move(*moves) is not None
        return not span.is_weak or is_expected or is_contrasted(understanding, span)
    answers_no = form.asked_field is not None and form.asked_field.spec.kind is Kind.YES_NO
    kinds = (MoveKind.CORRECT,) if answers_no else CORRECTIONS
    return understanding.find_move(*kinds) is not None or is_contrasted(understanding, span)


def is_contrasted(understanding: Understanding, span: Span) -> bool:
    """True for the 6 of "not 5 but 6": another clause denies a value of the same sort."""
    return any(True for _ in _list_denied(understanding, span))


def _list_denied(understanding: Understanding, span: Span) -> Iterator[Span]:
    """The denied values of the sort of another one."""
    denied = [clause for clause in understanding.clauses if clause.force is Force.DENIES]
    for other in understanding.spans if denied else ():
        if other.sort is span.sort and other is not span:
            yield from (other for clause in denied if clause.start <= other.start < clause.end)


def replaces_denied(
    understanding: Understanding, form: OpenForm, item: FormField, span: Span, finder: Finder, situation: Situation
) -> bool:
    """True for the 4 of "4, not 3" and a field that holds 3."""
    return any(
        (denied := resolve(finder, other, item.spec, situation, is_meant=True)) is not None
        and denied.values == (form.held[item.path],)
        for other in _list_denied(understanding, span)
    )
