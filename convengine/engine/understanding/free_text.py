"""Free text of an asked text field: the message as typed, without what stands around it (docs/forms.md)."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import product

from convengine.engine.understanding.assign import Claim, is_text
from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.decide import Explained
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.labels import Label, asks_for_name, find_value_start, says_nothing
from convengine.engine.understanding.left_over import (
    LeftOver,
    Piece,
    choose_piece,
    list_relations,
    takes_sentences,
)
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.reading import Doubt, Offered, Refused, Taken
from convengine.engine.understanding.span import Reason
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover, has_same_letters

TEXT, RELATION = "TEXT", "RELATION"
_NOT_IN_NAMES = ("filler", "denial", "supposition", "question", "request")
#: Signs that end a text and do not belong to it.
_ENDS = frozenset(".,;:!?\n-–")


def read_free_text(
    explained: Explained, claims: Sequence[Claim], *, is_phrase: bool
) -> Taken | Offered | Refused | None:
    """The text that the asked field takes. Returns None where the message says something else.

    `is_phrase`: a phrase of another intent matches the whole message.
    """
    understanding, item = explained.understanding, explained.form.asked_field
    if item is None or not understanding.words or _says_something_else(understanding, item, is_phrase):
        return None
    if item.spec.long:
        return Taken(item.path, understanding.text.strip(), 0, len(understanding.text), TEXT)
    if holds(Principle.LEFT_OVER) and not takes_sentences(item, understanding.chart.grammar):
        return _take_piece(item, explained, claims)
    return _take_sentences(item, explained, claims)


def _take_sentences(item: FormField, explained: Explained, claims: Sequence[Claim]) -> Taken | None:
    """The message from its first to its last clause that is no question or move, and not all of another field.

    Returns None if it has no such clause.
    """
    understanding = explained.understanding
    clauses = [clause for clause in understanding.clauses if _says_more(explained, claims, clause)]
    if not clauses:
        return None
    first, last = understanding.find_position(clauses[0].start, clauses[-1].end)
    return Taken(item.path, understanding.text[first:last], first, last, TEXT, bool(claims))


def _says_more(explained: Explained, claims: Sequence[Claim], clause: Clause) -> bool:
    if clause.force is Force.ASKS or not explained.says_more(clause.start, clause.end):
        return False
    return bool(explained.list_unexplained(clause)) or not any(claim.clause is clause for claim in claims)


def _take_piece(item: FormField, explained: Explained, claims: Sequence[Claim]) -> Taken | Offered | Refused | None:
    """Take the part of the message that nothing explains. If there are several, the user chooses one.

    Returns None if there is none, or if it is no name where a name was asked for.
    """
    understanding, grammar = explained.understanding, explained.understanding.chart.grammar
    pieces = LeftOver(explained, claims).pieces
    if not pieces:
        return None
    relations = list_relations(item, grammar)
    chosen = choose_piece([piece for piece in pieces if _may_be_meant(piece, relations)], relations)
    if not chosen or (
        asks_for_name(item, grammar) and not _TextWords(understanding).are_name(chosen[0].start, chosen[0].end)
    ):
        return None
    texts = [understanding.quote(piece.start, piece.end) for piece in chosen]
    first, last = understanding.find_position(chosen[0].start, chosen[-1].end)
    if len(chosen) > 1:
        return Refused(item.path, understanding.text[first:last], Reason.AMBIGUOUS, {"candidates": texts}, first, last)
    clause = chosen[0].clause
    if clause is not None and clause.force is Force.SUPPOSES:
        return Offered(item.path, texts[0], first, last, Doubt.SUPPOSED)
    is_echoed = len(pieces) > 1 or any(map(explained.list_talk, understanding.clauses))
    return Taken(item.path, texts[0], first, last, RELATION if len(pieces) > 1 else TEXT, is_echoed)


def _may_be_meant(piece: Piece, relations: frozenset[str]) -> bool:
    """False for the dog of "can I bring my dog?": a question gives names, or what its relation marks."""
    asks = piece.clause is not None and piece.clause.force is Force.ASKS
    return not asks or piece.is_capital or bool(piece.relations & relations)


def list_related_texts(
    explained: Explained, claims: Sequence[Claim], results: Sequence[Taken | Offered | Refused]
) -> Iterator[Taken]:
    """Texts that were not asked for, behind a word that only one open field means: "from Fremont to Napa"."""
    if not holds(Principle.RELATED_TEXTS):
        return
    understanding, left_over = explained.understanding, LeftOver(explained, claims)
    taken = [(item.start, item.end) for item in results if not isinstance(item, Refused)]
    fields = _find_unasked(explained, {item.field for item in results})
    for piece in left_over.pieces if left_over.uses_capitals else ():
        first, last = understanding.find_position(piece.start, piece.end)
        means = [item for item, relations in fields.items() if relations & piece.relations]
        is_free = not any(start < last and first < end for start, end in taken)
        if len(means) == 1 and is_free and _is_stated_name(piece):
            del fields[means[0]]
            yield Taken(means[0].path, understanding.text[first:last], first, last, RELATION, is_echoed=True)


def _find_unasked(explained: Explained, touched: set[str]) -> dict[FormField, frozenset[str]]:
    """The open fields for a short text that the message says nothing else for, with the relations that mean them."""
    form, grammar = explained.form, explained.understanding.chart.grammar
    untouched = [item for item in form.fields if form.is_open(item.path) and item.path not in touched]
    return {
        item: list_relations(item, grammar)
        for item in untouched
        if is_text(item) and not takes_sentences(item, grammar)
    }


def _is_stated_name(piece: Piece) -> bool:
    clause = piece.clause
    return piece.is_capital and (clause is None or clause.force is Force.STATES or clause.is_wish)


def _says_something_else(understanding: Understanding, item: FormField, is_phrase: bool) -> bool:
    """True for a move alone, and, unless a long text is asked for, for a question, a phrase, or a wish for a person."""
    words, text = understanding.words, understanding.text
    if understanding.is_bare_move and all(has_same_letters(word, text) for word in words if word.is_mended):
        return True
    is_other = is_phrase or understanding.find_move(MoveKind.PERSON) is not None
    only_asks = all(clause.force is Force.ASKS and not clause.is_wish for clause in understanding.clauses)
    return (is_other or only_asks) and not item.spec.long


def list_labelled_texts(
    understanding: Understanding, form: OpenForm, labels: Sequence[Label], touched: set[str]
) -> list[Taken]:
    """Texts behind the name of their field and a joint: "my name is Ann Hill". Of several for a field, the last one."""
    if not labels:
        return []
    words, texts = _TextWords(understanding), dict[str, Taken]()
    for label in reversed(labels):
        item = form.field(label.field)
        clause = understanding.find_clause(label.start)
        if item is None or not is_text(item) or clause is None or clause.force is not Force.STATES:
            continue
        if item.path in touched or item.path in texts or says_nothing(understanding, label):
            continue
        start = find_value_start(understanding, label)
        if not label.end < start < clause.end:
            continue
        end = words.strip_end(start, clause.end)
        is_held, is_name = not form.is_open(item.path), asks_for_name(item, understanding.chart.grammar)
        if not words.give_text(start, end, is_name=is_name, is_held=is_held):
            continue
        position = understanding.find_position(start, end)
        texts[item.path] = Taken(item.path, understanding.quote(start, end), *position, TEXT, is_held)
    return [*reversed(texts.values())]


class _TextWords:
    """What the words of a message are in a text."""

    def __init__(self, understanding: Understanding) -> None:
        self._words, self._chart = understanding.words, understanding.chart
        small = _find_small(understanding)
        words = [(index, word) for index, word in enumerate(self._words) if not word.is_sign]
        self._not_in_names = [index for index, word in words if word.is_number or index in small]
        #: In no table, or with a slip there.
        self._new = [index for index, word in words if word.key not in self._chart.grammar.words or word.is_mended]
        self._courtesies = _find_courtesies(self._chart)
        self._stripped: dict[int, int] = {}

    def give_text(self, start: int, end: int, *, is_name: bool, is_held: bool) -> bool:
        """False for what is no name where a name is asked for, and for "wrong" of a field that has a text already."""
        return (self.are_name(start, end) or not is_name) and (self.have_new(start, end) or not is_held)

    def are_name(self, start: int, end: int) -> bool:
        """True for a few words if at least one is in no table, and none is a number or a small word."""
        return self.have_new(start, end) and not _has_between(self._not_in_names, start, end)

    def have_new(self, start: int, end: int) -> bool:
        """True when a word is in no table, or has a slip there."""
        return _has_between(self._new, start, end)

    def strip_end(self, start: int, end: int) -> int:
        """The end of a text without the courtesies and signs behind it; all of it where it has nothing else."""
        if end not in self._stripped:
            shorter = end
            while shorter and (shorter in self._courtesies or self._words[shorter - 1].key in _ENDS):
                shorter = self._courtesies.get(shorter, shorter - 1)
            self._stripped[end] = shorter
        return self._stripped[end] if self._stripped[end] > start else end


def _find_courtesies(chart: Chart) -> dict[int, int]:
    """By their end, where courtesies begin that have no slip."""
    starts = product(("courtesy", "lead_out"), range(len(chart.words)))
    return {match.end: at for name, at in starts if (match := chart.match_exactly(name, at))}


def _find_small(understanding: Understanding) -> set[int]:
    """The words of cues that no name has. In a free text, a cue with a slip is rather a name: "Tom" is no "to"."""
    is_mended = understanding.chart.is_mended
    cues = (cue for cue in understanding.cues if cue.name in _NOT_IN_NAMES)
    return cover(cue for cue in cues if not is_mended(cue.start, cue.end))


def _has_between(positions: Sequence[int], start: int, end: int) -> bool:
    first = bisect_left(positions, start)
    return first < len(positions) and positions[first] < end
