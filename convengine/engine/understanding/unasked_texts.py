"""Texts of fields that were not asked for: behind the name of the field, or behind a word of relation."""

from collections.abc import Iterator, Sequence

from convengine.engine.understanding.assign import FieldClaim, is_text
from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.free_text import RELATION, TEXT, has_number
from convengine.engine.understanding.labels import (
    STREET,
    FieldLabel,
    asks_for_name,
    find_value_start,
    list_relations,
    says_nothing,
    says_wrong,
)
from convengine.engine.understanding.left_over import LeftOver, LeftOverPiece
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Offered, RefusedText, Taken
from convengine.engine.understanding.text_words import TextWords
from convengine.engine.understanding.understand import Understanding


def list_related_texts(
    explained: Explained, claims: Sequence[FieldClaim], results: Sequence[Taken | Offered | RefusedText]
) -> Iterator[Taken]:
    """Texts that were not asked for, behind a word that only one open field means: "from Fremont to Napa"."""
    if not holds(Principle.RELATED_TEXTS):
        return
    understanding, left_over = explained.understanding, LeftOver(explained, claims)
    taken = [(item.start, item.end) for item in results if not isinstance(item, RefusedText)]
    fields = _find_unasked(explained, {item.field for item in results})
    for piece in left_over.pieces if left_over.uses_capitals else ():
        first, last = understanding.find_position(piece.start, piece.end)
        means = [item for item, relations in fields.items() if relations & piece.relations]
        is_free = not any(start < last and first < end for start, end in taken)
        if len(means) == 1 and is_free and _is_whole_name(understanding, piece, fields[means[0]]):
            del fields[means[0]]
            yield Taken(means[0].path, understanding.text[first:last], first, last, RELATION, is_echoed=True)


def _is_whole_name(understanding: Understanding, piece: LeftOverPiece, relations: frozenset[str]) -> bool:
    """True for a name that is stated; of an address, with a number, unlike the "Wales" of "my sister in Wales"."""
    states = piece.clause is None or piece.clause.force is Force.STATES or piece.clause.is_wish
    return piece.is_capital and states and (STREET not in relations or has_number(understanding, piece))


def _find_unasked(explained: Explained, touched: set[str]) -> dict[FormField, frozenset[str]]:
    """The open fields for a short text that the message says nothing else for, with the relations that mean them."""
    form, grammar = explained.form, explained.understanding.chart.grammar
    untouched = [item for item in form.fields if form.is_open(item.path) and item.path not in touched]
    return {
        item: list_relations(item, grammar)
        for item in untouched
        if is_text(item) and not is_long_text(item.spec, explained.understanding.learned)
    }


def list_labelled_texts(
    understanding: Understanding, form: OpenForm, labels: Sequence[FieldLabel], touched: set[str]
) -> list[Taken]:
    """Texts behind the name of their field and a joint: "my name is Ann Hill". Of several for a field, the last one."""
    if not labels:
        return []
    words, texts = TextWords(understanding), dict[str, Taken]()
    for label in reversed(labels):
        item = form.field(label.field)
        clause = understanding.find_clause(label.start)
        if item is None or not is_text(item) or clause is None or not _may_set(label, clause):
            continue
        if item.path in touched or item.path in texts or says_nothing(understanding, label):
            continue
        # "The note to my neighbour" gives no note, and "set the note to urgent" does.
        joints = ["label_is", *(["lead_in"] * label.is_whole), *(["label_joint"] * clause.has("correction"))]
        start = find_value_start(understanding, label, *joints)
        if not label.end < start < clause.end:
            continue
        if not is_long_text(item.spec, understanding.learned):
            start = words.skip_small(start, clause.end)
        if says_wrong(understanding, start):
            continue
        end = words.strip_end(start, _find_end(understanding, clause, labels))
        is_held, is_name = not form.is_open(item.path), asks_for_name(item, understanding.chart.grammar)
        if not words.give_text(start, end, is_name=is_name, is_held=is_held):
            continue
        position = understanding.find_position(start, end)
        texts[item.path] = Taken(item.path, understanding.quote(start, end), *position, TEXT, is_held)
    return [*reversed(texts.values())]


def _find_end(understanding: Understanding, clause: Clause, labels: Sequence[FieldLabel]) -> int:
    """The end of a text that a clause begins: with the clauses of its sentence that state and name no other field."""
    end, starts = clause.end, {label.start for label in labels}
    for other in understanding.clauses:
        is_next = other.start in (end, end + 1) and understanding.begins.isdisjoint(range(end, other.start + 1))
        if is_next and other.force is Force.STATES and starts.isdisjoint(range(other.start, other.end)):
            values = [
                span for span in understanding.spans if not span.is_weak and other.start <= span.start < other.end
            ]
            end = end if values or other.has("joint") else other.end
    return end


def _may_set(label: FieldLabel, clause: Clause) -> bool:
    """True in a clause that states, and for "what happened should be: …", where the name begins like a question."""
    return clause.force is Force.STATES or (
        clause.force is Force.ASKS and label.is_whole and label.start == clause.start
    )
