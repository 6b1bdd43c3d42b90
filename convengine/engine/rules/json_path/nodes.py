"""The nodes of a parsed JSON path: the parser makes them, the compiler reads them (pipeline-2 0.8)."""

from dataclasses import dataclass
from typing import Any

from convengine.engine.rules.patterns import Pattern
from convengine.engine.turn.fault import Fault

Json = Any


class PathError(ValueError):
    """A JSON path that does not parse. `position` counts from 1."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position

    def fault(self, field: str, text: str) -> Fault:
        """The fault of a row with this path in this field."""
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
        """True when the path has a filter."""
        return any(isinstance(step, Where) for step in self.steps)


# --- conditions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Literal:
    """A number, text, boolean, null, or list of these."""

    value: Json


@dataclass(frozen=True)
class Length:
    """`path.length()`: the size of the path's value."""

    path: Path


Operand = Literal | Path | Length


@dataclass(frozen=True)
class Compare:
    """A comparison of two operands."""

    left: Operand
    op: str
    right: Operand


@dataclass(frozen=True)
class Matches:
    """`operand =~ /pattern/flags`."""

    operand: Operand
    pattern: Pattern
    #: The pattern with its slashes and flags, as written.
    written: str


@dataclass(frozen=True)
class Exists:
    """A path alone: true if it finds something, even null."""

    path: Path


@dataclass(frozen=True)
class Not:
    """`!term`."""

    term: "Condition"


@dataclass(frozen=True)
class Every:
    """`one && other && …`."""

    terms: tuple["Condition", ...]


@dataclass(frozen=True)
class Either:
    """`one || other || …`."""

    terms: tuple["Condition", ...]


Condition = Compare | Matches | Exists | Not | Every | Either


# --- back to text -----------------------------------------------------------------------------------------------


def format_path(path: Path) -> str:
    """The path as text, for explanations."""
    text = "$" if path.from_root else "@"
    for step in path.steps:
        text += _step(step, after_dots=text.endswith(".."))
    return text


def _step(step: Step, *, after_dots: bool) -> str:
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
