"""Laws of a conversation that hold for each message: nothing explicit is lost, nothing held is overwritten unasked."""

from collections.abc import Collection, Iterator, Mapping, Set

from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.corrections import CORRECTIONS
from convengine.engine.understanding.decide import KIND
from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.free_text import RELATION, TEXT
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.reading import Offered, Reading, RefusedText, Taken
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.json_value import Json

#: The sorts whose values alone say what they are, where they are plain.
_EXPLICIT = frozenset(
    {
        *(Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.EMAIL, Sort.PHONE, Sort.POSTCODE, Sort.IBAN),
        *(Sort.OPTION, Sort.PATTERN),
    }
)


def list_explicit(understanding: Understanding) -> list[Span]:
    """The values whose form alone says their kind, in clauses that neither ask nor deny; of two readings of
    the same words, the longer one.
    """
    explicit = [span for span in understanding.spans if span.sort in _EXPLICIT and not span.is_weak]
    longest = sorted(explicit, key=lambda span: span.start - span.end)
    spans: list[Span] = []
    for span in longest:
        clause = understanding.find_clause(span.start)
        is_said = clause is None or clause.force in (Force.STATES, Force.SUPPOSES)
        if is_said and not any(span.start < other.end and other.start < span.end for other in spans):
            spans.append(span)
    return sorted(spans, key=lambda span: span.start)


def list_lost(understanding: Understanding, form: OpenForm, reading: Reading) -> Iterator[str]:
    """The explicit values that are neither taken, offered, refused, kept in a text, nor held already."""
    results: list[Taken | Offered | RefusedText] = [*reading.taken, *reading.offered, *reading.refused]
    may_change = form.is_confirming and understanding.find_move(MoveKind.AFFIRM) is None
    for span in list_explicit(understanding):
        start, end = understanding.find_position(span.start, span.end)
        takers = {item.path for item in form.fields if span.sort in item.sorts and span.field in ("", item.path)}
        is_held = takers <= form.held.keys() and not may_change
        is_other = _is_replaced(understanding, span, takers, {result.field for result in results})
        is_other |= _is_repeated(understanding, span)
        if not (is_held or is_other) and not any(_answers(result, start, end, takers) for result in results):
            yield understanding.quote(span.start, span.end)


def _is_repeated(understanding: Understanding, span: Span) -> bool:
    """True for an option that is said twice."""
    options = (other for other in understanding.spans if other.sort is span.sort is Sort.OPTION and other is not span)
    return any(other.phrase == span.phrase and other.field == span.field for other in options)


def _is_replaced(understanding: Understanding, span: Span, takers: Collection[str], answered: Set[str]) -> bool:
    """True for the first value of "brakes, no wait, gears"."""
    behind = any(move.kind in CORRECTIONS and move.start >= span.end for move in understanding.moves)
    return behind and not answered.isdisjoint(takers)


def _answers(result: Taken | Offered | RefusedText, start: int, end: int, takers: Collection[str]) -> bool:
    """True for what is at these positions of the message, and for one of several candidates, or without a position."""
    is_choice = isinstance(result, RefusedText) and "candidates" in result.data
    is_of_field = result.field in takers and (not result.end or is_choice)
    return (result.start < end and start < result.end) or is_of_field


def list_overwritten(form: OpenForm, reading: Reading, held: Mapping[str, Json]) -> Iterator[str]:
    """The fields whose value the reading replaces although nothing says that it changes."""
    for item in reading.taken:
        is_new = item.field in held and held[item.field] != item.value
        is_expected = item.field == form.asked_path or form.asks_what_to_change
        if is_new and not is_expected and item.by in (KIND, TEXT, RELATION) and not item.is_echoed:
            yield item.field
