"""A pattern as a machine that reads a text character by character and says whether the pattern still can, or did, hold.

Where a pattern looks around without taking anything, the answer needs the character before and the one after: the
kind of the first is handed in with each step, and a step is decided when the second is known.
"""

from functools import lru_cache
from threading import Lock

from config_admin.health.texts import letters
from config_admin.health.texts.syntax import Atom, Choice, Look, Node, Repeat, Sequence, Unreadable, parse

#: More places than this are not built: the search would not end.
MAX_PLACES = 6000
#: What stands before the first character, and after the last.
START, END = "S", "E"
#: The state of a machine that has found its pattern, whatever follows.
FOUND = -1


class _Places:
    """The places of a pattern: from each leads a character to another one, a look, or nothing at all to several."""

    def __init__(self, tree: Node) -> None:
        self.atoms: dict[str, int] = {}
        self.free: list[tuple[int, ...]] = []
        self.looks: list[tuple[str, int] | None] = []
        self.taken: list[tuple[int, int] | None] = []
        self.end = self._new()
        self.entry = self._build(tree, self.end)

    def _new(self, *free: int) -> int:
        if len(self.free) >= MAX_PLACES:
            raise Unreadable("the pattern is too large to be searched")
        self.free.append(free)
        self.looks.append(None)
        self.taken.append(None)
        return len(self.free) - 1

    def _build(self, node: Node, to: int) -> int:
        """The place from which the node leads to `to`."""
        match node:
            case Atom(text):
                place = self._new()
                self.taken[place] = (self.atoms.setdefault(text, len(self.atoms)), to)
                return place
            case Look(kind):
                place = self._new()
                self.looks[place] = (kind, to)
                return place
            case Sequence(parts):
                for part in reversed(parts):
                    to = self._build(part, to)
                return to
            case Choice(parts):
                return self._new(*(self._build(part, to) for part in parts))
            case Repeat(part, low, high):
                return self._repeat(part, low, high, to)

    def _repeat(self, part: Node, low: int, high: int | None, to: int) -> int:
        if high is None:
            loop = self._new()
            self.free[loop] = (self._build(part, loop), to)
            to = loop
        else:
            behind = to
            for _ in range(high - low):
                to = self._new(self._build(part, to), behind)
        for _ in range(low):
            to = self._build(part, to)
        return to


class Machine:
    """Reads texts for one pattern. States are numbers; FOUND and what `is_dead` says are final."""

    def __init__(self, source: str, *, whole: bool, ignore_case: bool) -> None:
        self._places = _Places(parse(source))
        self._whole = whole
        self._lock = Lock()
        self.ignore_case = ignore_case
        self.atoms = tuple(self._places.atoms)
        self._looks = any(self._places.looks)
        self._sets: list[frozenset[int]] = []
        self._numbers: dict[frozenset[int], int] = {}
        self._steps: dict[tuple[int, str, str], int] = {}
        self._ends: dict[tuple[int, str], bool] = {}
        self._taken: dict[str, frozenset[int]] = {}
        self.start = self._number(frozenset((self._places.entry,)))

    def taken(self, char: str) -> frozenset[int]:
        """Which of its atoms take the character."""
        known = self._taken.get(char)
        if known is None:
            atoms = enumerate(self.atoms)
            known = frozenset(place for place, atom in atoms if letters.takes(atom, self.ignore_case, char))
            self._taken[char] = known
        return known

    def step(self, state: int, before: str, char: str) -> int:
        """The state after a character; `before` is the kind of the one before it."""
        if state == FOUND:
            return FOUND
        key = (state, before if self._looks else "", char)
        known = self._steps.get(key)
        if known is None:
            known = self._steps[key] = self._stepped(state, before, char)
        return known

    def _stepped(self, state: int, before: str, char: str) -> int:
        places, taken = self._places, self.taken(char)
        here = self._closed(self._sets[state], before, letters.kind_of(char))
        if not self._whole and places.end in here:
            return FOUND
        after = {step[1] for place in here if (step := places.taken[place]) and step[0] in taken}
        if not self._whole:
            # The pattern may begin anywhere.
            after.add(places.entry)
        return self._number(frozenset(after))

    def ends(self, state: int, before: str) -> bool:
        """True when the pattern holds for a text that ends here."""
        if state == FOUND:
            return True
        key = (state, before if self._looks else "")
        known = self._ends.get(key)
        if known is None:
            known = self._ends[key] = self._places.end in self._closed(self._sets[state], before, END)
        return known

    def is_dead(self, state: int) -> bool:
        """True when nothing that follows can make the pattern hold."""
        return state != FOUND and not self._sets[state]

    def _number(self, places: frozenset[int]) -> int:
        # Machines are kept for all threads: two must not give one number to two sets.
        with self._lock:
            if places not in self._numbers:
                self._sets.append(places)
                self._numbers[places] = len(self._sets) - 1
            return self._numbers[places]

    def _closed(self, places: frozenset[int], before: str, after: str) -> set[int]:
        found, waiting = set(places), list(places)
        while waiting:
            place = waiting.pop()
            look = self._places.looks[place]
            to = self._places.free[place] if look is None else (look[1],) if _holds(look[0], before, after) else ()
            for one in to:
                if one not in found:
                    found.add(one)
                    waiting.append(one)
        return found


def _holds(look: str, before: str, after: str) -> bool:
    match look:
        case "A":
            return before == START
        case "z":
            return after == END
        case "^":
            return before in (START, "N")
        case "$":
            return after in (END, "N")
        case _:
            return ((before == "W") != (after == "W")) is (look == "b")


@lru_cache(maxsize=1024)
def machine(source: str, whole: bool = False, ignore_case: bool = True) -> Machine:
    """The machine of a pattern as RE2 gets it, kept with what it has learnt. Raises Unreadable."""
    return Machine(source, whole=whole, ignore_case=ignore_case)
