"""A shortest text that some patterns hold for and others do not, or the proof that there is none."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from config_admin.health.texts import letters
from config_admin.health.texts.machine import FOUND, START, Machine

#: Combinations of states that one search may look at.
MAX_STATES = 20_000


class Searched(NamedTuple):
    """The text, if one was found. `exhausted`: there is none, as far as the characters tried can tell."""

    text: str | None
    exhausted: bool = False


#: The kind of the last character, and the state of each machine.
_Spot = tuple[str, tuple[int, ...]]


def search(
    wanted: Sequence[Machine], unwanted: Sequence[Machine] = (), *, complete: bool = False, limit: int = MAX_STATES
) -> Searched:
    """Look for a text, breadth first.

    `complete` tries a character of every kind that the patterns tell apart, of all there are, so that `exhausted` is
    a proof; without it those that people write are tried.
    """
    machines = (*wanted, *unwanted)
    alphabet = [(char, letters.kind_of(char)) for char in _alphabet(machines, complete)]
    readers = [(each, place < len(wanted)) for place, each in enumerate(machines)]
    first: _Spot = (START, tuple(each.start for each in machines))
    came_from: dict[_Spot, tuple[_Spot, str] | None] = {first: None}
    waiting = deque([first])
    while waiting:
        spot = waiting.popleft()
        if _is_goal(spot, wanted, unwanted):
            return Searched(_text(spot, came_from))
        for char, kind in alphabet:
            states = _after(spot, char, readers)
            if states is None:
                continue
            after = (kind, states)
            if after not in came_from:
                if len(came_from) >= limit:
                    return Searched(None)
                came_from[after] = (spot, char)
                waiting.append(after)
    return Searched(None, exhausted=True)


def _alphabet(machines: Sequence[Machine], complete: bool) -> list[str]:
    """Characters to try, one for all that the machines cannot tell apart."""
    if complete:
        tried = letters.all_kinds((atom, each.ignore_case) for each in machines for atom in each.atoms)
        return list(tried)
    own = (char for each in machines for atom in each.atoms if (char := letters.one_of(atom, each.ignore_case)))
    kinds: dict[object, str] = {}
    for char in (*letters.USUAL, *own, *letters.UNUSUAL):
        kinds.setdefault((letters.kind_of(char), *(each.taken(char) for each in machines)), char)
    return list(kinds.values())


def _is_goal(spot: _Spot, wanted: Sequence[Machine], unwanted: Sequence[Machine]) -> bool:
    before, states = spot
    return all(each.ends(state, before) for each, state in zip(wanted, states, strict=False)) and not any(
        each.ends(state, before) for each, state in zip(unwanted, states[len(wanted) :], strict=True)
    )


def _after(spot: _Spot, char: str, readers: Sequence[tuple[Machine, bool]]) -> tuple[int, ...] | None:
    """Where a character leads; null where no text that goes on from there is worth a look."""
    before, states = spot
    after: list[int] = []
    for (each, is_wanted), state in zip(readers, states, strict=True):
        to = each.step(state, before, char)
        if each.is_dead(to) if is_wanted else to == FOUND:
            return None
        after.append(to)
    return tuple(after)


def _text(spot: _Spot, came_from: dict[_Spot, tuple[_Spot, str] | None]) -> str:
    chars: list[str] = []
    while step := came_from[spot]:
        spot, char = step
        chars.append(char)
    return "".join(reversed(chars))
