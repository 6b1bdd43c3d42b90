"""What the conditions of rules read: the paths, with values and texts to try there.

A mention only suggests something. The engine decides whether a condition holds.
"""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from config_admin.health.texts.predicate import FITS, FITS_CASE, TextPredicate
from convengine.engine.rules import text_bank
from convengine.engine.rules.conditions.evaluate import ALIASES
from convengine.engine.rules.conditions.nodes import (
    Comparison,
    Condition,
    ConditionField,
    Descendants,
    Elements,
    Exists,
    Finds,
    Group,
    Length,
    Literal,
    Members,
    Operand,
    Path,
    RuleTarget,
    Where,
)
from convengine.engine.rules.conditions.operators import Needs, Operator
from convengine.engine.rules.conditions.rule import UNREADABLE, RuleCondition, read_condition
from convengine.engine.rules.conditions.values import read_number
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.enums import DialogueAct, MatchTarget, RuleType
from convengine.engine.turn.facts import RESERVED_FACTS
from convengine.engine.turn.params import PARAMS
from convengine.json_value import Json

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
    try:
        condition = read_condition(rule)
    except UNREADABLE:
        return ()
    return _list_mentions(condition, get_noon()) if condition else ()


def get_noon() -> datetime:
    """The time of played turns: noon of today."""
    return datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)


def get_text_predicate(rule: rows.Rule) -> TextPredicate | None:
    """The test of a text rule. Returns None for another rule."""
    kind = code(rule.rule_type)
    if kind not in (RuleType.EXACT, RuleType.REGEX):
        return None
    return TextPredicate(text_bank.RULE_EXACT if kind == RuleType.EXACT else text_bank.REGEX, rule.match_pattern or "")


@lru_cache(maxsize=16384)
def _list_mentions(condition: RuleCondition, now: datetime) -> tuple[Mention, ...]:
    reader = _Reader(condition.root == "context", now)
    reader.read(condition.tree, ())
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
    def __init__(self, in_context: bool, now: datetime) -> None:
        self._in_context, self._now = in_context, now
        self.found: list[Mention] = []

    def read(self, condition: Condition, base: FactPath) -> None:
        """Read a condition on the node at `base`."""
        match condition:
            case Group(_, _, members):
                for member in members:
                    self.read(member, base)
            case Exists(path) | Finds(path):
                self._add(path, base)
            case Comparison(left, operator, right):
                self._read_operand(left, operator, right, base)
                self._read_operand(right, operator, left, base)

    def _read_operand(self, operand: Operand, operator: Operator, other: Operand, base: FactPath) -> None:
        """Note the facts of an operand, with values that its comparison with the other one suggests."""
        match operand, other:
            case RuleTarget(MatchTarget.DIALOGUE_ACT), _:
                self.found.append(Mention(DIALOGUE_ACT, tuple(act.value for act in DialogueAct)))
            case Path() | Length() | ConditionField(), Literal(value):
                self._add(operand, base, **self._suggest(operand, operator, value))
            case Path() | ConditionField(), Path() | Length() | ConditionField():
                for like in self._find_facts(other, base):
                    self._add(operand, base, like=like)

    def _suggest(self, operand: Operand, operator: Operator, value: Json) -> dict[str, Any]:
        """Values, texts or sizes near the one that an operand is compared with."""
        if operator.needs is Needs.PATTERN:
            # A row's pattern occurs in the text, a path's one matches all of it.
            if isinstance(value, str):
                return {"text": TextPredicate(FITS, f"(?s).*(?:{value}).*")}
            return {"text": TextPredicate(FITS if value.ignore_case else FITS_CASE, value.text)}
        is_counted = isinstance(operand, Length) or operator.needs in (Needs.SIZE, Needs.COUNT)
        size = read_number(value) if is_counted else None
        values = () if isinstance(operand, Length) else tuple(operator.list_near(value, self._now))
        return {"values": values, "sizes": (int(size),) if size is not None and size < _LONGEST else ()}

    def _add(self, operand: Operand, base: FactPath, **mention: Any) -> None:
        self.found += [Mention(path, **mention) for path in self._find_facts(operand, base) if path]

    def _find_facts(self, operand: Operand, base: FactPath) -> list[FactPath]:
        """The paths of the facts that an operand reads; none for a literal."""
        match operand:
            case ConditionField(name):
                first, *rest = name.split(".")
                if first == "memory" and rest:
                    return [("context", "memory", *rest)]
                keys = get_fact_path((*ALIASES.get(first, (first,)), *rest))
                # A number means any element of a list.
                return [tuple(ELEMENT if key.isdecimal() else key for key in keys)]
            case Path() | Length():
                path = operand if isinstance(operand, Path) else operand.path
                return [self._get_fact_path(end) for end in self._find_ends(path, base)]
        return []

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
