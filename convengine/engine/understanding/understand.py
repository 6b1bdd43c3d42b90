"""One message, understood by itself: its words, values, clauses and moves. Everything else reads this, not the text."""

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from convengine.engine.cached_property import cached_property
from convengine.engine.turn.ports import LearnedPort
from convengine.engine.understanding.clauses import Clause, Cue, Force, find_cues, list_sentences, split_clauses
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart
from convengine.engine.understanding.kinds.pairs import join_pairs
from convengine.engine.understanding.language import Tables
from convengine.engine.understanding.learned_moves import (
    ENDING,
    SURE,
    SURE_YES,
    Learned,
    learn_moves,
    settle_questions,
)
from convengine.engine.understanding.moves import Move, MoveKind, find_moves
from convengine.engine.understanding.span import Finder, Sort, Span, list_sorts
from convengine.engine.understanding.words import Lexicon, Word, cover, is_part, read_words

#: More values of a sort are no answer.
_MOST_SPANS = 12


@dataclass(frozen=True, eq=False)
class Understanding:
    """What a message says. Positions are those of `words`."""

    text: str
    words: tuple[Word, ...]
    spans: tuple[Span, ...]
    cues: tuple[Cue, ...]
    clauses: tuple[Clause, ...]
    moves: tuple[Move, ...]
    #: Moves that are likely, and not sure enough for what they would do: they are asked back.
    doubtful_moves: tuple[Move, ...]
    #: The words that say nothing of a value: "looking", "place".
    talk: frozenset[int]
    #: What the tables match in the message.
    chart: Chart = field(repr=False)
    #: What is learned decides here; the tables decide alone without it.
    learned: LearnedPort | None = field(default=None, repr=False)

    @cached_property
    def begins(self) -> frozenset[int]:
        """The words that sentences begin with."""
        return frozenset(start for start, _, _ in list_sentences(self.chart, self.spans))

    def quote(self, start: int, end: int) -> str:
        return self.chart.quote(start, end)

    def find_clause(self, at: int) -> Clause | None:
        """The clause that has a word. Returns None for a sign between two clauses."""
        number = bisect_right(self.clauses, at, key=lambda clause: clause.start) - 1
        return self.clauses[number] if number >= 0 and at < self.clauses[number].end else None

    def find_position(self, start: int, end: int) -> tuple[int, int]:
        """The positions in the text of one word up to another."""
        return self.words[start].start, self.words[end - 1].end

    def find_move(self, *kinds: MoveKind) -> Move | None:
        """The first move of these kinds. Returns None if there is none."""
        return next((move for move in self.moves if move.kind in kinds), None)

    @property
    def is_cut_off(self) -> bool:
        """True for a message that ends where something should follow: "yes but"."""
        end = max(self.chart.content, default=0) + 1
        return any(cue.name in ("joint", "alternative") and cue.end == end for cue in self.cues)

    def has_value_beside_moves(self, held_words: Collection[str], remarks: set[int]) -> bool:
        """True for a message with something like a value that is no part of a move or a small word: "yes, but at 5".

        `held_words`: those of what is held already, as of a name under the message. `remarks`: other sentences.
        """
        held = {index for index, word in enumerate(self.words) if word.key in held_words}
        covered = cover(self.moves) | cover(self.cues) | held | remarks
        return any(not covered.issuperset(range(span.start, span.end)) for span in self.spans)

    @property
    def is_bare_move(self) -> bool:
        """True when the message says nothing but moves and courtesies."""
        covered = cover(move for move in self.moves if move.is_whole) | cover(self.cues)
        if not self.moves or self.is_cut_off or self.is_doubted:
            return False
        return covered.issuperset(self.chart.content)

    @property
    def is_doubted(self) -> bool:
        """True when a clause that is no move denies or supposes something: "yes but not now"."""
        whole = cover(move for move in self.moves if move.is_whole)
        doubting = (clause for clause in self.clauses if clause.force in (Force.SUPPOSES, Force.DENIES))
        return any(whole.isdisjoint(cover([clause])) for clause in doubting)


def understand(
    text: str,
    tables: Tables,
    finders: Mapping[Sort, Finder],
    specs: Sequence[FieldSpec] = (),
    lexicon: Lexicon | None = None,
    fillers: Collection[tuple[str, ...]] = (),
    *,
    learned: LearnedPort | None = None,
) -> Understanding:
    """Understand a message, with at most _MOST_SPANS values of a sort.

    `specs`: the fields of the open form. `lexicon`: the tables' with the words of the form.
    `fillers`: the words that say nothing in this form. `learned`: tells questions from wishes, which
    the tables do alone without it, and what the message means by the rest (`add_learned_moves`).
    """
    words = read_words(text, lexicon or tables.lexicon)
    chart = Chart(tables.grammar, words, text)
    wanted = {sort for spec in specs for sort in list_sorts(spec)}
    needed = [finder for sort, finder in finders.items() if sort in wanted]
    spans = join_pairs(chart, [span for finder in needed for span in finder.find(chart, specs)[:_MOST_SPANS]], specs)
    cues = tuple(find_cues(chart, spans, fillers))
    clauses = split_clauses(chart, spans, cues)
    clauses = settle_questions(chart, clauses, spans, learned) if learned else clauses
    moves = _find_moves(chart, clauses, spans)
    talk = frozenset(index for index, word in enumerate(words) if word.key in tables.talk and not word.is_mended)
    return Understanding(text, words, tuple(spans), cues, clauses, moves, (), talk, chart, learned)


def add_learned_moves(understanding: Understanding) -> Understanding:
    """The understanding by the tables, with what the learned sentences tell of clauses that the tables do not explain.

    They add moves, make clauses ask, and drop moves of the tables.
    """
    chart, spans, port = understanding.chart, understanding.spans, understanding.learned
    rated = list(learn_moves(chart, understanding.clauses, spans, understanding.moves, port)) if port else []
    likely = [each.move for each in rated if each.move]
    clauses, moves = _apply(understanding, rated)
    # A yes counts earlier, because the user is asked before it runs anything.
    sure = [move for move in likely if move.probability >= (SURE if move.kind is MoveKind.AFFIRM else move.needed)]
    # The user is asked about a yes, which may run something, and what ends the form or hands over.
    risky = [move for move in likely if move.kind in (MoveKind.AFFIRM, *ENDING)]
    doubtful = tuple(move for move in risky if move.probability < move.needed)
    in_order = sorted((*moves, *sure), key=lambda move: (move.start, -move.end))
    return replace(understanding, clauses=clauses, moves=tuple(in_order), doubtful_moves=doubtful)


def _apply(understanding: Understanding, learned: Sequence[Learned]) -> tuple[tuple[Clause, ...], tuple[Move, ...]]:
    """The clauses with those that were learned to ask, and the moves of the tables that still hold."""
    clauses, moves = understanding.clauses, understanding.moves
    if asking := [each for each in learned if each.asking]:
        clauses = tuple(_apply_asking(clause, asking) for clause in clauses)
        moves = _find_moves(understanding.chart, clauses, understanding.spans)
    dropped = {move for each in learned for move in each.dropped}
    return clauses, tuple(move for move in moves if move not in dropped)


def _apply_asking(clause: Clause, asking: Sequence[Learned]) -> Clause:
    own = next((each.asking for each in asking if clause.overlaps(each.clause)), 0.0)
    return replace(clause, force=Force.ASKS, probability=own, needed=SURE_YES) if own else clause


def _find_moves(chart: Chart, clauses: Sequence[Clause], spans: Sequence[Span]) -> tuple[Move, ...]:
    """The moves by the tables. The "person" of "one more person" asks for nobody."""
    plain = [span for span in spans if not span.is_weak]
    return tuple(move for move in find_moves(chart, clauses) if not any(is_part(move, span) for span in plain))
