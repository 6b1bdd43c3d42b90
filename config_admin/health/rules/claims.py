"""A simple claim of a moment: what a rule's condition comes to when it is taken apart.

A claim is a guide for the search alone; whether a rule holds is said by the engine, at the end.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from config_admin.health.texts.wish import Wish
from convengine.domain.facts import RESERVED_FACTS
from convengine.rules.json_path.compile import Test, test
from convengine.rules.json_path.meter import BudgetExceeded, Meter
from convengine.rules.json_path.nodes import Compare, Elements, Exists, Length, Matches, Members, Path

#: Where a value stands: keys from the top of a document.
Keys = tuple[str | int, ...]
#: The same from the top of the facts, where each value has one place only: `$.x` is `context.x`.
Place = tuple[str | int, ...]
#: A comparison, a pattern or a bare path.
Simple = Compare | Matches | Exists


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


#: Stands for a value that is not there, which is something else than null.
NOTHING: Any = _Nothing()


@dataclass(frozen=True)
class TextClaim:
    """A text of the turn is, or is not, as wished."""

    target: str
    wish: Wish
    holds: bool


@dataclass(frozen=True)
class FactClaim:
    """A simple condition holds, or does not hold, of what stands at `base`."""

    condition: Simple
    holds: bool
    base: Keys = ()
    #: True when the document is the context alone.
    in_context: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """Where the values stand that it speaks of; for a path that branches, where it begins to."""
        return tuple(dict.fromkeys(self._place(path) for path in _paths(self.condition)))

    @property
    def base_place(self) -> Place:
        """Where the node stands that it is asked of."""
        return place(self.base, self.in_context)

    def asked(self, node: Any, root: Any) -> bool:
        """What the engine says of the condition on a node of a document; no node fulfils nothing."""
        try:
            return node is not NOTHING and self._test(node, root, Meter())
        except (BudgetExceeded, RecursionError):
            return False

    @cached_property
    def _test(self) -> Test:
        return test(self.condition)

    def _place(self, path: Path) -> Place:
        return place((() if path.from_root else self.base) + _certain(path), self.in_context)


Claim = TextClaim | FactClaim
Branch = tuple[Claim, ...]


def place(keys: Keys, in_context: bool) -> Place:
    """The one place of a value that keys lead to."""
    if in_context:
        return ("context", *keys)
    if not keys or keys[0] in RESERVED_FACTS - {"schemaJson"}:
        return keys
    return ("context", *(keys[1:] if keys[0] == "schemaJson" else keys))


def _paths(condition: Simple) -> Iterator[Path]:
    operands: tuple[Any, ...]
    match condition:
        case Compare(left, _, right):
            operands = (left, right)
        case Matches(operand):
            operands = (operand,)
        case Exists(path):
            operands = (path,)
    measured = (operand.path if isinstance(operand, Length) else operand for operand in operands)
    yield from (path for path in measured if isinstance(path, Path))


def _certain(path: Path) -> Keys:
    """The keys that a path goes by before it branches."""
    keys: list[str | int] = []
    for step in path.steps:
        match step:
            case Members((name,)):
                keys.append(name)
            case Elements((index,)):
                # From the end: of a list of one that is the first.
                keys.append(max(index, 0))
            case _:
                break
    return tuple(keys)
