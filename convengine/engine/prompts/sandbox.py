"""The environment in which templates run: Jinja2's sandbox with more limits.

Jinja2's sandbox limits neither time nor output. This one allows only listed names. Loops, filters, operators and
printing count their work. A template has access to the given values only.
"""

import operator
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context, LoopContext
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from convengine.engine.prompts.filters import FILTERS, INTERNAL, TESTS
from convengine.engine.prompts.values import (
    MAX_ITEMS,
    MAX_WORK,
    Missing,
    RenderLimit,
    get_work,
    limit_value,
    measure_cost,
    measure_deep_cost,
    to_text,
)
from convengine.json_value import Json

#: The attributes of a loop variable.
LOOP_NAMES = frozenset(
    {
        "depth", "depth0", "first", "index", "index0", "last", "length", "nextitem", "previtem", "revindex",
        "revindex0",
    }
)  # fmt: skip

_NUMERIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
}
_MAX_BITS = 256
#: The name of the function in templates, and its internal name, because a variable may be named `button`, too.
BUTTON, SHOW_BUTTON = "button", "_show_button"
#: The work that a button costs: a text can have at most a hundred.
_BUTTON_COST = MAX_WORK // 100


@pass_context
def _range(context: Context, *bounds: int) -> list[int]:
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise RenderLimit(f"range() makes {MAX_ITEMS} numbers at most.")
    get_work(context).spend(len(numbers))
    return list(numbers)


@pass_context
def _add_button(context: Context, label: Json, message: Json = None) -> str:
    """Prints nothing. Without a message, the button sends its label."""
    text = to_text(label).strip()
    work = get_work(context)
    work.spend(_BUTTON_COST)
    if text:
        work.buttons.setdefault(text, to_text(message).strip() or text)
    return ""


FUNCTIONS: Mapping[str, Any] = {"range": _range, "namespace": Namespace, BUTTON: _add_button}
GLOBALS: Mapping[str, Any] = {"range": _range, "namespace": Namespace, SHOW_BUTTON: _add_button, "null": None}


@pass_context
def _print_value(context: Context, value: Json) -> str:
    work = get_work(context)
    work.spend(measure_cost(value))
    is_truth = isinstance(value, bool)
    text: str = limit_value(work.truth[value] if is_truth and work.truth else to_text(value))
    work.spend(len(text) // 256)
    return text


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment of all templates."""

    intercepted_binops = frozenset(_NUMERIC)

    def __init__(self) -> None:
        super().__init__(
            undefined=Missing,
            autoescape=False,
            finalize=_print_value,
            keep_trailing_newline=True,
            cache_size=0,
        )
        self.filters = {**FILTERS, **INTERNAL}
        self.tests = dict(TESTS)
        self.globals = dict(GLOBALS)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """`a.b`: a member of an object. Only loops and namespaces have other members; methods go through `called`."""
        if isinstance(obj, Mapping):
            return obj[attribute] if attribute in obj else self.undefined(name=attribute)
        if isinstance(obj, LoopContext) and attribute in LOOP_NAMES:
            return getattr(obj, attribute)
        if isinstance(obj, Namespace) and not attribute.startswith("_"):
            return getattr(obj, attribute, self.undefined(name=attribute))
        return self.undefined(name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """`a[b]`: a member, element or slice, never an attribute."""
        if isinstance(obj, (Mapping, str, list, tuple)):
            try:
                return obj[argument]
            except (TypeError, LookupError, ValueError):
                return self.undefined(name=str(argument))
        return self.undefined(name=str(argument)[:100])

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Arithmetic on numbers of limited size; `+` joins texts and lists, null is empty."""
        if _is_number(left) and _is_number(right):
            if operator == "**" and (abs(right) > 64 or abs(left) > 1_000_000):
                raise RenderLimit("A power grew too large.")
            result = _NUMERIC[operator](left, right)
            if isinstance(result, complex) or (isinstance(result, int) and result.bit_length() > _MAX_BITS):
                raise RenderLimit("A number grew too large.")
            return result
        if operator != "+":
            raise TypeError(f"{operator} is for numbers.")
        work = get_work(context)
        work.spend(measure_cost(left) + measure_cost(right))
        if isinstance(left, list) and isinstance(right, list):
            joined = limit_value(left + right)
            work.spend(measure_deep_cost(joined))
            return joined
        return limit_value(to_text(left) + to_text(right))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
