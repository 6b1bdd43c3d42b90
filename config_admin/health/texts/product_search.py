"""A shortest text that some patterns hold for and others do not, or the proof that there is none.

Each pattern is an automaton; the search goes through combinations of their states, breadth first. What an assertion
says of a position depends on the characters before and after it: the kind of the one before is handed in with each
step, and the position is judged when the one after is known.
"""

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from convengine.engine.rules import characters
from convengine.engine.rules.pattern_tree import (
    Alternation,
    Assertion,
    Atom,
    Concatenation,
    Node,
    Repetition,
    UnsupportedPattern,
    parse,
)

#: Combinations of states that one search may look at, and positions in one pattern.
MAX_STATES, MAX_POSITIONS = 20_000, 6000
#: What stands before the first character, and after the last.
_START, _END = "S", "E"
#: Positions that a pattern may be at.
_State = frozenset[int]
#: The state of a pattern that was found, whatever follows.
_FOUND: _State = frozenset((-1,))


class SearchResult(NamedTuple):
    """The text, if one was found. `exhausted`: there is none, as far as the characters tried can tell."""

    text: str | None
    exhausted: bool = False


class Automaton:
    """Reads a text for one pattern, anywhere in it or as a whole."""

    def __init__(self, source: str, whole: bool, ignore_case: bool) -> None:
        self._whole, self.ignore_case = whole, ignore_case
        #: By position: what has to be fulfilled there, and the positions that follow.
        self._positions: list[tuple[Atom | Assertion | None, tuple[int, ...]]] = []
        self._end = self._add(None)
        self._entry = self._build(parse(source), self._end)
        self.atoms = {node.text for node, _ in self._positions if isinstance(node, Atom)}
        self._asserts = any(isinstance(node, Assertion) for node, _ in self._positions)
        self._steps: dict[tuple[_State, str, str], _State] = {}
        self._taken: dict[str, frozenset[str]] = {}
        self.start: _State = frozenset((self._entry,))

    def _add(self, node: Atom | Assertion | None, *targets: int) -> int:
        if len(self._positions) >= MAX_POSITIONS:
            raise UnsupportedPattern("the pattern is too large to be analysed")
        self._positions.append((node, targets))
        return len(self._positions) - 1

    def _build(self, node: Node, to: int) -> int:
        """The position from which the node leads to `to`."""
        match node:
            case Atom() | Assertion():
                return self._add(node, to)
            case Alternation(parts):
                return self._add(None, *(self._build(part, to) for part in parts))
            case Concatenation(parts):
                for part in reversed(parts):
                    to = self._build(part, to)
                return to
            case Repetition(part, low, high):
                behind = to
                if high is None:
                    to = self._add(None)
                    self._positions[to] = (None, (self._build(part, to), behind))
                for _ in range(high - low if high else 0):
                    to = self._add(None, self._build(part, to), behind)
                for _ in range(low):
                    to = self._build(part, to)
                return to

    def find_atoms(self, char: str) -> frozenset[str]:
        """Which of its atoms take the character."""
        if char not in self._taken:
            self._taken[char] = frozenset(a for a in self.atoms if characters.takes(a, self.ignore_case, char))
        return self._taken[char]

    def step(self, state: _State, before: str, char: str) -> _State:
        """The state after a character; `before` is the kind of the one before it. Empty: nothing can make it hold."""
        if state is _FOUND:
            return _FOUND
        key = (state, before if self._asserts else "", char)
        known = self._steps.get(key)
        if known is None:
            known = self._steps[key] = self._compute_next(state, before, char)
        return known

    def _compute_next(self, state: _State, before: str, char: str) -> _State:
        """The state after one more character; `before` is the kind of the character before it."""
        taken, reached = self.find_atoms(char), self._close(state, before, characters.kind_of(char))
        if not char.isascii():
            # RE2 also stands between the bytes of such a character, where no word begins or ends.
            reached |= self._close(self.start, "O", "O") & {self._end}
        if not self._whole and self._end in reached:
            return _FOUND
        after = set() if self._whole else {self._entry}
        for position in reached:
            node, targets = self._positions[position]
            if isinstance(node, Atom) and node.text in taken:
                after.update(targets)
        return frozenset(after)

    def holds(self, state: _State, before: str) -> bool:
        """True when the pattern holds for a text that ends here."""
        return state is _FOUND or self._end in self._close(state, before, _END)

    def _close(self, state: _State, before: str, after: str) -> set[int]:
        """The positions that are reached without taking a character."""
        reached, waiting = set(state), list(state)
        while waiting:
            node, targets = self._positions[waiting.pop()]
            if node is None or (isinstance(node, Assertion) and _is_true(node.kind, before, after)):
                waiting += (target for target in targets if target not in reached)
                reached.update(targets)
        return reached


def _is_true(assertion: str, before: str, after: str) -> bool:
    """True when an assertion (A, z, ^, $, b or B) holds between two kinds of characters."""
    match assertion:
        case "A":
            return before == _START
        case "z":
            return after == _END
        case "^":
            return before in (_START, "N")
        case "$":
            return after in (_END, "N")
        case _:
            return ((before == "W") != (after == "W")) is (assertion == "b")


@lru_cache(maxsize=1024)
def automaton(source: str, whole: bool = False, ignore_case: bool = True) -> Automaton:
    """The automaton of a pattern as RE2 gets it, kept with what it has learnt. Raises UnsupportedPattern."""
    return Automaton(source, whole, ignore_case)


def search(
    wanted: Sequence[Automaton], unwanted: Sequence[Automaton] = (), *, complete: bool = False, limit: int = MAX_STATES
) -> SearchResult:
    """Look for a text that every wanted pattern and no unwanted one holds for.

    `complete` tries a character of every kind that the patterns tell apart, of all there are, so that `exhausted` is a
    proof; without it those that people write are tried. After `limit` states the search ends without a text or a proof.
    """
    readers = [*((each, True) for each in wanted), *((each, False) for each in unwanted)]
    alphabet = [(char, characters.kind_of(char)) for char in _list_alphabet((*wanted, *unwanted), complete)]
    #: Texts by the kind of their last character and the state of each automaton.
    texts = {(_START, tuple(each.start for each, _ in readers)): ""}
    waiting = deque(texts)
    while waiting:
        before, states = key = waiting.popleft()
        pairs = list(zip(readers, states, strict=True))
        if all(each.holds(state, before) is is_wanted for (each, is_wanted), state in pairs):
            return SearchResult(texts[key])
        for char, kind in alphabet:
            after = tuple(each.step(state, before, char) for (each, _), state in pairs)
            reached = (kind, after)
            if reached in texts or any(
                state == (frozenset() if is_wanted else _FOUND)
                for (_, is_wanted), state in zip(readers, after, strict=True)
            ):
                continue
            if len(texts) >= limit:
                return SearchResult(None)
            texts[reached] = texts[key] + char
            waiting.append(reached)
    return SearchResult(None, exhausted=True)


def _list_alphabet(automata: Sequence[Automaton], complete: bool) -> list[str]:
    """Characters to try, one for all that the automata cannot tell apart."""
    atoms = sorted({(atom, each.ignore_case) for each in automata for atom in each.atoms})
    candidates = [*characters.USUAL, *(char for atom in atoms if (char := characters.sample(*atom)))]
    candidates += characters.UNUSUAL
    if complete:
        candidates += characters.KIND_EDGES
        candidates += sorted({char for atom in atoms for char in characters.edges(*atom)})
    kinds: dict[object, str] = {}
    for char in candidates:
        kinds.setdefault((characters.kind_of(char), *(each.find_atoms(char) for each in automata)), char)
    return list(kinds.values())
