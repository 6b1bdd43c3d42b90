"""Values to try at a path: those that claims name, their neighbours, and those that a schema allows."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any

from config_admin.health.rules.claims import NOTHING, FactClaim, FactPath, split_filter
from config_admin.health.rules.document import Conflict, build_document
from config_admin.health.rules.forms import list_schema_values, make_pattern_predicate
from config_admin.health.texts.predicate import FITS, FITS_CASE, TextPredicate, find_text
from convengine.engine.rules.json_path.nodes import Compare, Exists, Length, Literal, Matches, Path, Where
from convengine.engine.rules.json_path.values import is_number
from convengine.engine.rules.text_bank import REGEX

Json = Any
#: Values for any path.
USUAL: tuple[Json, ...] = ("text", 1, True, NOTHING, False, None, "", 0, [], {}, ["text"], {"name": "text"})
_LONGEST = 50


def list_candidates(at: FactPath, claims: Sequence[FactClaim], schema: Mapping[str, Json] | None) -> Iterator[Json]:
    """Values to try at a path, likely ones first; `schema` is that of the field there."""
    seen: set[str] = set()
    for value in chain(_values_of_claims(at, claims, schema), list_schema_values(schema), USUAL):
        if (key := f"{type(value).__name__} {value!r}") not in seen:
            seen.add(key)
            yield value


def _values_of_claims(at: FactPath, claims: Sequence[FactClaim], schema: Mapping[str, Json] | None) -> Iterator[Json]:
    yield from _list_texts(at, claims, schema)
    yield from _combine_lists(claims)
    yield from _list_midpoints(claims)
    for claim in claims:
        match claim.condition:
            case Compare(left, op, right):
                yield from _values_of_comparison(at, claim, left, op, right)
            case Exists(path):
                yield from _values_of_branching_path(claim, path)
            case Matches(Path() as path):
                yield from _values_of_branching_path(claim, path)


def _list_texts(at: FactPath, claims: Sequence[FactClaim], schema: Mapping[str, Json] | None) -> Iterator[Json]:
    """A text that matches all patterns for the path and its field, and its number."""
    wanted, unwanted = collect_predicates(at, claims)
    if not wanted and not unwanted:
        return
    if schema and isinstance(pattern := schema.get("pattern"), str):
        wanted.append(make_pattern_predicate(pattern))
    match = find_text(wanted, unwanted)
    for text in (match.text if match else None, *(sample for predicate in wanted for sample in predicate.samples)):
        if text is not None:
            yield text
            if text.isdecimal() and len(text) < 16:
                yield int(text)


def _combine_lists(claims: Sequence[FactClaim]) -> Iterator[Json]:
    """A list with an element of every list in the claims."""
    elements: list[Json] = []
    for claim in claims:
        match claim.condition:
            case Compare(_, "contains" | "anyof" | "all", Literal(value)) if claim.holds:
                elements += value if isinstance(value, list) else [value]
            case Compare(Literal(value), "in", _) if claim.holds:
                elements.append(value)
    if len(elements) > 1:
        yield elements


def _list_midpoints(claims: Sequence[FactClaim]) -> Iterator[Json]:
    """Numbers between those in the claims."""
    named: set[int | float] = set()
    for claim in claims:
        operands = (claim.condition.left, claim.condition.right) if isinstance(claim.condition, Compare) else ()
        named |= {lower.value for lower in operands if isinstance(lower, Literal) and is_number(lower.value)}
    for lower, upper in pairwise(sorted(named)):
        yield (lower + upper) / 2


def collect_predicates(at: FactPath, claims: Sequence[FactClaim]) -> tuple[list[TextPredicate], list[TextPredicate]]:
    """The patterns that the text at a path must match, and those that it must not."""
    predicates: tuple[list[TextPredicate], list[TextPredicate]] = ([], [])
    for claim in claims:
        match claim.condition:
            case Matches(Path() as path, pattern) if claim.paths == (at,) and path.definite:
                kind = FITS if pattern.ignore_case else FITS_CASE
                predicates[not claim.holds].append(TextPredicate(kind, pattern.text))
            case Compare(Path() as path, "contains", Literal(str() as part)) if path.definite:
                predicates[not claim.holds].append(TextPredicate(REGEX, part if part.isalnum() else rf"\Q{part}\E"))
    return predicates


def _values_of_comparison(at: FactPath, claim: FactClaim, left: Any, op: str, right: Any) -> Iterator[Json]:
    literal = next((operand.value for operand in (left, right) if isinstance(operand, Literal)), NOTHING)
    measured = next((operand for operand in (left, right) if isinstance(operand, Length)), None)
    path = next((operand for operand in (left, right) if isinstance(operand, Path)), None)
    if measured is not None:
        yield from _list_values_of_size(literal)
        yield from _values_of_branching_path(claim, measured.path, (literal,))
    elif literal is not NOTHING and op in ("==", "!="):
        yield from _values_near_equality(literal)
    elif literal is not NOTHING and op in ("<", "<=", ">", ">="):
        yield from _list_neighbours(literal)
    elif literal is not NOTHING and op in ("in", "nin"):
        yield from (literal if left is path and isinstance(literal, list) else [[literal]])
    elif literal is not NOTHING and op == "contains":
        yield from ([literal], f"a {literal} b" if isinstance(literal, str) else [literal, literal])
    elif op in ("anyof", "noneof", "subsetof", "all") and isinstance(literal, list):
        yield from (literal[:1], literal, [*literal, "other"], ["other"])
    elif op == "size":
        yield from _list_values_of_size(literal)
    elif op == "empty":
        yield from ([], ["text"], "", "text", {})
    if path is not None and not path.definite:
        yield from _values_of_branching_path(claim, path, (literal,))


def _values_near_equality(literal: Json) -> Iterator[Json]:
    yield literal
    if is_number(literal):
        yield from (str(literal), literal + 1)
    elif isinstance(literal, str):
        if literal.lstrip("-").isdecimal() and len(literal) < 16:
            yield int(literal)
        yield f"{literal}x"


def _list_neighbours(literal: Json) -> Iterator[Json]:
    if is_number(literal):
        yield from (literal, literal + 1, literal - 1, literal + 0.5, literal - 0.5)
    elif isinstance(literal, str):
        yield from (literal, f"{literal}a", literal[:-1])


def _list_values_of_size(literal: Json) -> Iterator[Json]:
    if is_number(literal):
        for count in (int(literal), int(literal) + 1, max(int(literal) - 1, 0)):
            if 0 <= count <= _LONGEST:
                yield from (["text"] * count, "a" * count, [None] * count)


def _values_of_branching_path(claim: FactClaim, path: Path, literals: Sequence[Json] = ()) -> Iterator[Json]:
    """For a path that branches: lists and objects where some elements fulfil its filters."""
    if path.definite:
        return
    for step in path.steps:
        if isinstance(step, Where):
            for element in _matching_elements(step):
                yield from ([element], element, [element, element])
    last = path.steps[-1]
    name = next((name for name in getattr(last, "names", ())), None)
    for value in (*literals, "text", 1):
        if value is not NOTHING:
            element = {name: value} if isinstance(name, str) else value
            yield from ([element], {"one": element}, [element, element])


def _matching_elements(step: Where) -> Iterator[Json]:
    """Objects that fulfil a filter, made of values for each of its paths."""
    for branch in split_filter(step.condition):
        facts = [claim for claim in branch if isinstance(claim, FactClaim)]
        values = {
            at: next(iter(list_candidates(at, [claim for claim in facts if at in claim.paths], None)), "text")
            for claim in facts
            for at in claim.paths
        }
        try:
            yield build_document(values).get("context", {})
        except Conflict:
            continue
