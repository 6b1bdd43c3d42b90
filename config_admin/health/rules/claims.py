"""A simple claim about a turn: a part of a rule's condition.

A claim only guides the search; the engine decides at the end whether a rule holds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from config_admin.health.texts.predicate import TextPredicate
from convengine.engine.rules.json_path.compile import Test, compile_test
from convengine.engine.rules.json_path.meter import BudgetExceeded, Meter
from convengine.engine.rules.json_path.nodes import Compare, Elements, Exists, Length, Matches, Members, Path
from convengine.engine.turn.facts import RESERVED_FACTS

#: Keys from the top of a document to a value.
Keys = tuple[str | int, ...]
#: The same from the top of the facts, where each value has one path only: `$.x` is `context.x`.
Place = tuple[str | int, ...]
#: A comparison, a pattern or a path alone.
Simple = Compare | Matches | Exists


class _Nothing:
    def __repr__(self) -> str:
        return "NOTHING"


#: Stands for a missing value, which is not the same as null.
NOTHING: Any = _Nothing()


@dataclass(frozen=True)
class TextClaim:
    """A text of the turn fulfils a predicate, or does not."""

    target: str
    predicate: TextPredicate
    holds: bool


@dataclass(frozen=True)
class FactClaim:
    """A simple condition holds, or does not hold, for the value at `base`."""

    condition: Simple
    holds: bool
    base: Keys = ()
    #: True when the document is the context alone.
    in_context: bool = False

    @property
    def places(self) -> tuple[Place, ...]:
        """The paths of its values; for a path that branches, the path before the branch."""
        return tuple(dict.fromkeys(self._get_value_key(path) for path in _paths(self.condition)))

    @property
    def base_place(self) -> Place:
        """The path of the node that it tests."""
        return get_value_key(self.base, self.in_context)

    def holds_for(self, node: Any, root: Any) -> bool:
        """The engine's result for the condition on a node; no node fulfils nothing."""
        try:
            return node is not NOTHING and self._test(node, root, Meter())
        except (BudgetExceeded, RecursionError):
            return False

    @cached_property
    def _test(self) -> Test:
        return compile_test(self.condition)

    def _get_value_key(self, path: Path) -> Place:
        return get_value_key((() if path.from_root else self.base) + _certain(path), self.in_context)


Claim = TextClaim | FactClaim
Branch = tuple[Claim, ...]


def get_value_key(keys: Keys, in_context: bool) -> Place:
    """The only path of a value."""
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
    """The keys of a path before it branches."""
    keys: list[str | int] = []
    for step in path.steps:
        match step:
            case Members((name,)):
                keys.append(name)
            case Elements((index,)):
                # From the end: in a list of one element that is the first.
                keys.append(max(index, 0))
            case _:
                break
    return tuple(keys)
