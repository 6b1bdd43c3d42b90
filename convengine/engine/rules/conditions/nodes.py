"""The tree of a condition: groups, comparisons of operands, and paths. Both notations are parsed into it."""

from collections.abc import Iterator
from dataclasses import dataclass

from convengine.engine.rules.conditions.operators import Operator
from convengine.engine.rules.conditions.values import shorten_value
from convengine.engine.turn.fault import Fault
from convengine.json_value import Json


class PathError(ValueError):
    """A JSON path that does not parse. `position` counts from 1."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position

    def fault(self, field: str, text: str) -> Fault:
        remedy = "Write a path that parses, for example $[?(@.state == 'CONFIRM' && @.inputParams.ok == true)]."
        return Fault(f"{self.reason} at position {self.position}", field, text, remedy)


# --- steps of a path --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Members:
    """`.name`, `['name']` or `['one','other']`: members of an object."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Elements:
    """`[0]`, `[-1]` or `[0,1]`: elements of a list."""

    indexes: tuple[int, ...]


@dataclass(frozen=True)
class Slice:
    """`[from:to:step]`: a part of a list."""

    start: int | None
    stop: int | None
    step: int | None


@dataclass(frozen=True)
class Children:
    """`*`: every member of an object, every element of a list."""


@dataclass(frozen=True)
class Descendants:
    """`..`: the node itself and everything below it."""


@dataclass(frozen=True)
class Where:
    """`[?(…)]`: an object that fulfils the condition, or the elements of a list that do."""

    condition: "Condition"


Step = Members | Elements | Slice | Children | Descendants | Where


# --- operands ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Path:
    """Steps from the document (`$`) or, inside a filter, from the node being tested (`@`)."""

    steps: tuple[Step, ...] = ()
    from_root: bool = True

    def then(self, *steps: Step) -> "Path":
        return Path((*self.steps, *steps), self.from_root)

    @property
    def definite(self) -> bool:
        """True when the path has at most one value."""
        return all(
            (isinstance(step, Members) and len(step.names) == 1)
            or (isinstance(step, Elements) and len(step.indexes) == 1)
            for step in self.steps
        )

    @property
    def filtered(self) -> bool:
        return any(isinstance(step, Where) for step in self.steps)

    @property
    def filter(self) -> "Condition | None":
        """The condition of a path that is one filter, `$[?(…)]`. Returns None for another path."""
        match self.steps:
            case (Where(condition),):
                return condition
        return None

    @property
    def dotted(self) -> str | None:
        """The names of a path that consists of names, joined by dots. Returns None for another path."""
        names = [step.names[0] for step in self.steps if isinstance(step, Members) and len(step.names) == 1]
        return ".".join(names) if names and len(names) == len(self.steps) else None

    def __str__(self) -> str:
        text = "$" if self.from_root else "@"
        for step in self.steps:
            text += _write_step(step, after_dots=text.endswith(".."))
        return text


@dataclass(frozen=True)
class Length:
    """`path.length()`: the size of the path's value."""

    path: Path

    def __str__(self) -> str:
        return f"{self.path}.length()"


@dataclass(frozen=True)
class ConditionField:
    """The field of a row: a fact or a field of the form, by its name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class RuleTarget:
    """The text that an EXACT or REGEX rule tests. `written`: as its row names it."""

    name: str
    written: str | None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Literal:
    """A number, text, boolean, null, pattern, or list of these."""

    value: Json
    #: What a record shows, if not the value.
    written: Json = ...

    @property
    def recorded_value(self) -> Json:
        return shorten_value(self.value) if self.written is ... else self.written

    def __str__(self) -> str:
        return repr(self.value) if isinstance(self.value, str) else str(self.value)


Operand = Literal | Path | Length | ConditionField | RuleTarget


# --- conditions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """A comparison of two operands."""

    left: Operand
    operator: Operator
    right: Operand


@dataclass(frozen=True)
class Exists:
    """A path alone in a filter: true if it finds something, even null."""

    path: Path


@dataclass(frozen=True)
class Finds:
    """A path without a filter as the whole condition: one boolean is the result, else whether it finds something.

    Without `null_matches`, null, blank texts, and empty lists and objects are nothing.
    """

    path: Path
    written: str
    null_matches: bool = True


@dataclass(frozen=True)
class Group:
    """All of the members must hold (`and`), or any of them (`or`). `negated` reverses the result."""

    combinator: str
    negated: bool
    members: "tuple[Condition, ...]"

    def list_comparisons(self) -> Iterator[Comparison]:
        for member in self.members:
            if isinstance(member, Group):
                yield from member.list_comparisons()
            elif isinstance(member, Comparison):
                yield member


Condition = Comparison | Exists | Finds | Group


def _write_step(step: Step, *, after_dots: bool) -> str:
    """A step as it is written in a path; a filter without its condition."""
    match step:
        case Members((name,)) if name.replace("-", "_").isidentifier():
            return name if after_dots else f".{name}"
        case Members(names):
            return "[" + ",".join(f"'{name}'" for name in names) + "]"
        case Elements(indexes):
            return "[" + ",".join(map(str, indexes)) + "]"
        case Slice(start, stop, size):
            parts = (start, stop) if size is None else (start, stop, size)
            return "[" + ":".join("" if part is None else str(part) for part in parts) + "]"
        case Children():
            return "[*]"
        case Descendants():
            return ".."
        case Where():
            return "[?…]"
