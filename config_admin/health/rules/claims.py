"""A rule's condition as alternatives of simple claims about a turn; each claim can be searched for.

A claim only guides the search; the engine decides at the end whether a rule holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any

from config_admin.health.rules.row_claims import translate_group
from config_admin.health.texts.predicate import TextPredicate
from convengine.engine.rules import text_bank
from convengine.engine.rules.conditions import get_target
from convengine.engine.rules.field_conditions.parser import ConditionError, parse_condition
from convengine.engine.rules.json_path import PathError
from convengine.engine.rules.json_path.compile import Test, compile_test
from convengine.engine.rules.json_path.nodes import (
    Children,
    Compare,
    Condition,
    Descendants,
    Either,
    Elements,
    Every,
    Exists,
    Length,
    Literal,
    Matches,
    Members,
    Not,
    Path,
    Slice,
    Step,
    Where,
)
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.rules.json_path.values import BudgetExceeded, Meter
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import RuleType
from convengine.engine.turn.facts import RESERVED_FACTS

#: Keys from the top of a document to a value.
Keys = tuple[str | int, ...]
#: The same from the top of the facts, where each value has one path only: `$.x` is `context.x`.
FactPath = tuple[str | int, ...]
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
    def paths(self) -> tuple[FactPath, ...]:
        """The paths of its values; for a path that branches, the path before the branch."""
        return tuple(dict.fromkeys(self._get_value_key(path) for path in _paths(self.condition)))

    @property
    def base_path(self) -> FactPath:
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

    def _get_value_key(self, path: Path) -> FactPath:
        return get_value_key((() if path.from_root else self.base) + _definite_keys(path), self.in_context)


Claim = TextClaim | FactClaim
Branch = tuple[Claim, ...]


def get_value_key(keys: Keys, in_context: bool) -> FactPath:
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


def _definite_keys(path: Path) -> Keys:
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


#: Maximum alternatives of one condition.
MAX_BRANCHES = 24


def split_condition(rule: rows.Rule, holds: bool = True) -> tuple[Branch, ...]:
    """How the condition holds, or does not hold; none for a rule that cannot be searched."""
    return _split_condition(
        code(rule.rule_type), get_target(rule), rule.match_pattern or "", rule.null_leaf_matches, holds
    )


@lru_cache(maxsize=16384)
def _split_condition(kind: str, target: str, pattern: str, null_leaf: bool, holds: bool) -> tuple[Branch, ...]:
    if kind in (RuleType.EXACT, RuleType.REGEX):
        predicate = TextPredicate(text_bank.RULE_EXACT if kind == RuleType.EXACT else text_bank.REGEX, pattern)
        return ((TextClaim(target, predicate, holds),),)
    if kind == RuleType.CONDITION:
        return _split_rows(pattern, holds)
    if kind not in (RuleType.JSON_PATH, RuleType.CONTEXT_JSON_PATH):
        return ()
    try:
        path = parse_path(pattern)
    except PathError:
        return ()
    claims = _Claims(kind == RuleType.CONTEXT_JSON_PATH)
    alternatives = claims.leading(path, null_leaf) if holds else claims.leading_nowhere(path, null_leaf)
    return tuple(islice(alternatives, MAX_BRANCHES))


def _split_rows(pattern: str, holds: bool) -> tuple[Branch, ...]:
    try:
        condition = translate_group(parse_condition(pattern))
    except ConditionError:
        return ()
    return tuple(islice(_Claims(False).of(condition, holds, ()), MAX_BRANCHES)) if condition else ()


def split_filter(condition: Condition) -> Iterator[Branch]:
    """How an element of a list fulfils the condition of a filter; its own keys are in the context."""
    return _Claims(in_context=True).of(condition, True, ())


class _Claims:
    """Splits conditions on one document into claims."""

    def __init__(self, in_context: bool) -> None:
        self._in_context = in_context

    def leading(self, path: Path, null_leaf: bool) -> Iterator[Branch]:
        """How a path holds as a condition."""
        for claims, keys in self._walk(path.steps, ()):
            if path.steps and isinstance(path.steps[-1], Where):
                yield claims
            else:
                yield (*claims, *self._leaf(keys, null_leaf))

    def _leaf(self, keys: Keys, null_leaf: bool) -> Iterator[Claim]:
        """A value exists, it is not false, and if required it is not empty."""
        relative = Path(from_root=False)
        yield FactClaim(Exists(relative), True, keys, self._in_context)
        yield FactClaim(Compare(relative, "==", Literal(False)), False, keys, self._in_context)
        if not null_leaf:
            yield FactClaim(Compare(relative, "==", Literal(None)), False, keys, self._in_context)
            yield FactClaim(Compare(relative, "empty", Literal(True)), False, keys, self._in_context)

    def leading_nowhere(self, path: Path, null_leaf: bool) -> Iterator[Branch]:
        """How it does not hold."""
        if not path.filtered:
            exists = Exists(Path(path.steps, from_root=False))
            yield (FactClaim(exists, False, (), self._in_context),)
            yield (FactClaim(Compare(exists.path, "==", Literal(False)), True, (), self._in_context),)
            if not null_leaf:
                yield (FactClaim(Compare(exists.path, "==", Literal(None)), True, (), self._in_context),)
        elif len(path.steps) == 1 and isinstance(path.steps[0], Where):
            yield from self.of(path.steps[0].condition, False, ())
        else:
            yield (FactClaim(Exists(Path(path.steps, from_root=False)), False, (), self._in_context),)

    def _walk(self, steps: Sequence[Step], keys: Keys) -> Iterator[tuple[Branch, Keys]]:
        """Where a path may lead, with the claims on the way."""
        if not steps:
            yield (), keys
            return
        step, rest = steps[0], steps[1:]
        if isinstance(step, Where):
            # An object is tested itself, of a list the elements; two rules may mean two of them.
            elements = ((*keys, 0), (*keys, 1)) if keys and keys[-1] not in (0, 1) else ()
            for base in (keys, *elements):
                for claims, (more, end) in product(self.of(step.condition, True, base), self._walk(rest, base)):
                    yield (*claims, *more), end
            return
        for key in _first_keys(step):
            yield from self._walk(rest, (*keys, key) if key != "" else keys)

    def of(self, condition: Condition, holds: bool, base: Keys) -> Iterator[Branch]:
        """Alternatives of a condition on the node at `base`."""
        match condition:
            case Not(term):
                yield from self.of(term, not holds, base)
            case Every(terms) | Either(terms):
                parts = [tuple(self.of(term, holds, base)) for term in terms]
                if isinstance(condition, Every) is holds:
                    # All parts together.
                    for chosen in islice(product(*parts), MAX_BRANCHES):
                        yield tuple(claim for branch in chosen for claim in branch)
                else:
                    yield from (branch for part in parts for branch in part)
            case Exists(path) if holds and path.filtered:
                start: Keys = () if path.from_root else base
                for claims, keys in self._walk(path.steps, start):
                    yield (*claims, FactClaim(Exists(Path(from_root=False)), True, keys, self._in_context))
            case _:
                yield (FactClaim(condition, holds, base, self._in_context),)


def _first_keys(step: Step) -> tuple[str | int, ...]:
    """Keys that a step may take; the empty one stays."""
    match step:
        case Members(names):
            return names
        case Elements(indexes):
            return tuple(max(index, 0) for index in indexes)
        case Slice(start, _, _):
            return (max(start or 0, 0),)
        case Children():
            return (0,)
        case Descendants():
            return ("",)
        case Where():
            return ()
