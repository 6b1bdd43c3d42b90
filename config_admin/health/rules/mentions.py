"""What the conditions of rules read: the paths, with values and texts to try there.

A mention only suggests something. The engine decides whether a condition holds.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from config_admin.health.texts.predicate import FITS, FITS_CASE, TextPredicate
from convengine.engine.rules import text_bank
from convengine.engine.rules.conditions import get_target
from convengine.engine.rules.field_conditions.evaluate import ALIASES
from convengine.engine.rules.field_conditions.operators import Needs, list_values, read_number
from convengine.engine.rules.field_conditions.parser import Comparison, ConditionError, parse_condition
from convengine.engine.rules.field_conditions.time_points import read_time_point
from convengine.engine.rules.json_path import PathError
from convengine.engine.rules.json_path.nodes import (
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
    Operand,
    Path,
    Where,
)
from convengine.engine.rules.json_path.parser import parse_path
from convengine.engine.rules.json_path.values import is_number
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, MatchTarget, RuleType
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.params import PARAMS

Json = Any
#: Keys from the top of the facts, where each value has one path only: `$.x` is `context.x`. `*` is any list element.
FactPath = tuple[str, ...]
ELEMENT = "*"
DIALOGUE_ACT: FactPath = ("inputParams", "dialogue_act")
_LONGEST = 50


class Mention(NamedTuple):
    """One value that a condition reads."""

    path: FactPath
    values: tuple[Json, ...] = ()
    text: TextPredicate | None = None
    sizes: tuple[int, ...] = ()
    #: The other value that it is compared with.
    like: FactPath | None = None


def list_mentions(rule: rows.Rule) -> tuple[Mention, ...]:
    """What the condition of a rule reads, besides the message of a text rule; nothing for a condition in code."""
    return _list_mentions(code(rule.rule_type), get_target(rule), rule.match_pattern or "", get_noon())


def get_noon() -> datetime:
    """The time of played turns: noon of today."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)


def get_text_predicate(rule: rows.Rule) -> TextPredicate | None:
    """The test of a text rule; null for another rule."""
    kind = code(rule.rule_type)
    if kind not in (RuleType.EXACT, RuleType.REGEX):
        return None
    return TextPredicate(text_bank.RULE_EXACT if kind == RuleType.EXACT else text_bank.REGEX, rule.match_pattern or "")


@lru_cache(maxsize=16384)
def _list_mentions(kind: str, target: str, pattern: str, now: datetime) -> tuple[Mention, ...]:
    if kind in (RuleType.EXACT, RuleType.REGEX):
        acts = tuple(act.value for act in DialogueAct)
        return (Mention(DIALOGUE_ACT, acts),) if target == MatchTarget.DIALOGUE_ACT else ()
    reader = _Reader(kind == RuleType.CONTEXT_JSON_PATH)
    try:
        if kind == RuleType.CONDITION:
            return tuple(_mention_comparison(row, now) for row in parse_condition(pattern).list_comparisons())
        if kind in (RuleType.JSON_PATH, RuleType.CONTEXT_JSON_PATH):
            reader.read(Exists(parse_path(pattern)), ())
    except (ConditionError, PathError):
        return ()
    return tuple(reader.found)


#: Steps and resolvers that ask a model or a tool.
_ASKING = ("AgentIntentResolver", "McpToolStep", "ToolOrchestrationStep")


def is_of_tool_result(mention: Mention) -> bool:
    """True for a part of what a tool answers."""
    return mention.path[:2] == ("inputParams", "tool_result")


def is_of_model(mention: Mention) -> bool:
    """True for what a model may decide: the dialogue act, or what the agent or the planner leaves."""
    match mention.path:
        case ("context", "mcp", *_) | ("lastLlmOutput", *_) | ("lastLlmStage",) | ("inputParams", "dialogue_act"):
            return True
        case ("inputParams", name, *_):
            return name in PARAMS and any(step in PARAMS[name].writers for step in _ASKING)
        case _:
            return False


class _Reader:
    """Reads the mentions of a condition in JSON paths."""

    def __init__(self, in_context: bool) -> None:
        self._in_context = in_context
        self.found: list[Mention] = []

    def read(self, condition: Condition, base: FactPath) -> None:
        """Read a condition on the node at `base`."""
        match condition:
            case Not(term):
                self.read(term, base)
            case Every(terms) | Either(terms):
                for term in terms:
                    self.read(term, base)
            case Exists(path):
                self._add(path, base)
            case Matches(Path() as path, pattern):
                self._add(path, base, text=TextPredicate(FITS if pattern.ignore_case else FITS_CASE, pattern.text))
            case Compare(left, op, right):
                self._read_operand(left, op, right, base)
                self._read_operand(right, op, left, base)

    def _read_operand(self, operand: Operand, op: str, other: Operand, base: FactPath) -> None:
        match operand, other:
            case Length(path), Literal(size) if is_number(size):
                self._add(path, base, sizes=(int(size),))
            case Path(), Literal(value) if op == "size" and is_number(value):
                self._add(operand, base, sizes=(int(value),))
            case Path(), Literal(value):
                self._add(operand, base, values=tuple(_suggest_values(op, value)))
            case Path(), Path() | Length():
                path = other if isinstance(other, Path) else other.path
                for end in self._find_ends(path, base):
                    self._add(operand, base, like=self._get_fact_path(end))

    def _add(self, path: Path, base: FactPath, **mention: Any) -> None:
        ends = (self._get_fact_path(end) for end in self._find_ends(path, base))
        self.found += [Mention(end, **mention) for end in ends if end]

    def _find_ends(self, path: Path, base: FactPath) -> list[FactPath]:
        """The keys where a path may end; the conditions of its filters are read on the way."""
        ends: list[FactPath] = [() if path.from_root else base]
        for step in path.steps:
            match step:
                case Members(names):
                    ends = [(*end, name) for end in ends for name in names]
                case Descendants():
                    pass
                case Where(condition):
                    ends = [(*end, ELEMENT) if end else end for end in ends]
                    for end in ends:
                        self.read(condition, end)
                case _:
                    if isinstance(step, Elements):
                        size = max(step.indexes) + 1
                        self.found += [Mention(self._get_fact_path(end), sizes=(max(size, 1),)) for end in ends]
                    ends = [(*end, ELEMENT) for end in ends]
        return ends

    def _get_fact_path(self, keys: FactPath) -> FactPath:
        return ("context", *keys) if self._in_context else get_fact_path(keys)


def get_fact_path(keys: FactPath) -> FactPath:
    """The only path of a value."""
    if not keys or keys[0] in RESERVED_FACTS - {"schemaJson"}:
        return keys
    return ("context", *(keys[1:] if keys[0] == "schemaJson" else keys))


def _suggest_values(op: str, literal: Json) -> Iterator[Json]:
    """Values near the one that a condition compares with."""
    if isinstance(literal, list):
        yield from (literal, *literal, literal[:1], [*literal, "other"], ["other"])
    elif op == "empty":
        yield from ([], ["text"], "", "text", {})
    elif op in ("contains", "anyof", "all", "noneof", "subsetof"):
        yield from ([literal], f"a {literal} b" if isinstance(literal, str) else [literal, literal], literal)
    elif is_number(literal):
        yield from (literal, literal + 1, literal - 1, str(literal))
    elif isinstance(literal, str):
        yield from (literal, f"{literal}x", literal[:-1], [literal])
        if literal.lstrip("-").isdecimal() and len(literal) < 16:
            yield int(literal)
    else:
        yield literal


# --- conditions of rows -----------------------------------------------------------------------------------------


def _mention_comparison(row: Comparison, now: datetime) -> Mention:
    path = _get_field_path(row.field)
    if row.from_field:
        return Mention(path, like=_get_field_path(str(row.value)))
    if row.operator.needs is Needs.PATTERN:
        return Mention(path, text=TextPredicate(FITS, f"(?s).*(?:{row.value}).*"))
    size = int(read_number(row.value) or 0) if row.operator.needs is Needs.COUNT else _LONGEST
    return Mention(path, tuple(_suggest_field_values(row, now)), sizes=(size,) if size < _LONGEST else ())


def _get_field_path(field: str) -> FactPath:
    first, *rest = field.split(".")
    if first == "memory" and rest:
        return ("context", "memory", *rest)
    keys = (*ALIASES.get(first, (first,)), *rest)
    return tuple(ELEMENT if key.isdecimal() else key for key in get_fact_path(keys))


def _suggest_field_values(row: Comparison, now: datetime) -> Iterator[Json]:
    """Values near the one of a row: the same, one more and one less, an hour or a day before and after."""
    if row.operator.needs is Needs.NOTHING:
        yield from (True, False, "text", "", [])
        return
    if row.operator.values:
        # A calendar: each weekday, and a day of each month.
        yield from (_shift(now.date(), timedelta(days=days)) for days in (*range(7), *range(30, 365, 30)))
        return
    parts = list_values(row.value) or [row.value]
    if row.operator.needs is Needs.LIST:
        yield from ([*parts], parts[:1], ["other"])
    if row.operator.needs is Needs.RANGE and len(parts) == 2 and None not in map(read_number, parts):
        yield sum(float(read_number(part) or 0) for part in parts) / 2
    for part in parts:
        yield from _suggest_near(part, now)
        if row.operator.needs is Needs.COUNT:
            count = int(read_number(part) or 0)
            for days in (count, -count, count + 1, -count - 1):
                yield _shift(now.date(), timedelta(days=days))
            for hours in (count, -count, count + 1, -count - 1):
                yield _shift(now, timedelta(hours=hours))


def _suggest_near(part: Json, now: datetime) -> Iterator[Json]:
    number, point = read_number(part), read_time_point(part, now)
    if number is not None:
        near = float(number) if number % 1 else int(number)
        yield from (near, near + 1, near - 1)
    elif point is not None:
        yield point.isoformat()
        for step in (timedelta(days=1), timedelta(hours=1)):
            yield from (_shift(point, step), _shift(point, -step))
    else:
        yield from (part, f"{part}x", f"a {part} b")


def _shift(point: Any, step: timedelta) -> str:
    """A day, a moment or a time of the day, later or earlier."""
    if isinstance(point, time):
        return (datetime.combine(date(2000, 1, 1), point) + step).time().isoformat()
    try:
        return str((point + step).isoformat())
    except OverflowError:
        return str(point)
