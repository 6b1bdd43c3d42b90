"""The filters and tests of templates: a short list, each with work counting.

Left out: random values, HTML, and filters that can make large output from small input (`center`, `indent`, `format`,
`batch`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MappingView
from functools import wraps
from itertools import islice
from typing import Any

from jinja2 import filters as jinja_filters
from jinja2 import pass_context
from jinja2 import tests as jinja_tests
from jinja2.runtime import Context, LoopContext

from convengine.engine.prompts.values import (
    MAX_ITEMS,
    MAX_OUTPUT,
    Missing,
    RenderLimit,
    get_work,
    is_blank,
    limit_value,
    measure_cost,
    measure_deep_cost,
    to_json,
    to_text,
)
from convengine.json_value import Json

Filter = Callable[..., Any]

_JINJA_FILTERS = (
    "abs", "d", "default", "dictsort", "first", "float", "int", "items", "last", "map", "max", "min", "reject",
    "rejectattr", "reverse", "select", "selectattr", "sort", "unique",
)  # fmt: skip
#: Text filters, for which null is an empty text instead of the word None.
_JINJA_TEXT_FILTERS = ("capitalize", "lower", "title", "trim", "truncate", "upper", "wordcount")
#: Filters and list methods that compare entries to any depth.
_COMPARING = frozenset({"dictsort", "max", "min", "sort", "unique"})
_COMPARING_METHODS = frozenset({"count", "index"})
_JINJA_TESTS = (
    "boolean", "defined", "divisibleby", "even", "false", "float", "in", "integer", "iterable", "lower", "mapping",
    "none", "number", "odd", "sequence", "string", "true", "undefined", "upper", "eq", "equalto", "==", "ne", "!=",
    "gt", "greaterthan", ">", "ge", ">=", "lt", "lessthan", "<", "le", "<=",
)  # fmt: skip


def _length(value: Json) -> int:
    return 0 if value is None or isinstance(value, Missing) else len(value)


def _join(value: Iterable[Json], separator: str = "") -> str:
    texts = [to_text(item) for item in value]
    if sum(map(len, texts)) + len(texts) * len(separator) > MAX_OUTPUT:
        raise RenderLimit(f"A text grew longer than {MAX_OUTPUT} characters.")
    return to_text(separator).join(texts)


def _replace(value: Json, old: str, new: str, count: int = -1) -> str:
    text = to_text(value)
    if len(text) + text.count(str(old)) * len(str(new)) > MAX_OUTPUT:
        raise RenderLimit(f"A text grew longer than {MAX_OUTPUT} characters.")
    return text.replace(str(old), str(new), count)


def _sum(value: Iterable[Json]) -> float:
    return sum(item for item in value if isinstance(item, (int, float)))


def _round(value: Json, digits: int = 0) -> float:
    # Beyond these, Python would compute arbitrarily large powers.
    return round(float(value), max(-15, min(15, int(digits))))


def _if_blank(value: Json, other: Json) -> Json:
    """Elvis operator: null and an empty text take the default; 0 and false stay."""
    return other if value is None or value == "" or isinstance(value, Missing) else value


_OWN: Mapping[str, Filter] = {
    "length": _length,
    "count": _length,
    "join": _join,
    "replace": _replace,
    "sum": _sum,
    "round": _round,
    "if_blank": _if_blank,
    "string": to_text,
    "tojson": to_json,
    "list": lambda value: list(islice(value, MAX_ITEMS + 1)),
}


_DEEP = frozenset(jinja_filters.FILTERS[name] for name in _COMPARING)


def _charge(function: Filter, read: Callable[[Json], Json] = lambda value: value) -> Filter:
    """The filter with work counted for its input and output; a lazy result becomes a list."""
    # Jinja2's own filters declare that they need the context, the environment, or its settings first.
    wants = getattr(getattr(function, "jinja_pass_arg", None), "name", "")
    weight = measure_deep_cost if function in _DEEP else measure_cost

    @pass_context
    @wraps(function, updated=())
    def run(context: Context, value: Json, *args: Json, **kwargs: Json) -> Json:
        work = get_work(context)
        # A long argument (a dotted path, a separator) may be read again for every entry.
        longest = max((len(text) for text in (*args, *kwargs.values()) if isinstance(text, str)), default=0)
        work.spend(weight(value) * (1 + longest // 16))
        value = read(value)
        first = {"context": context, "eval_context": context.eval_ctx, "environment": context.environment}.get(wants)
        result = function(value, *args, **kwargs) if first is None else function(first, value, *args, **kwargs)
        if isinstance(result, Iterator):
            result = list(islice(result, MAX_ITEMS + 1))
        work.spend(measure_deep_cost(result) if isinstance(result, list) else measure_cost(result))
        return limit_value(result)

    return run


#: Methods that a template may call, by type.
METHODS: Mapping[type[Any], frozenset[str]] = {
    str: frozenset(
        {
            "capitalize", "count", "endswith", "find", "isalnum", "isalpha", "isdigit", "lower", "lstrip", "rstrip",
            "split", "splitlines", "startswith", "strip", "title", "upper",
        }
    ),
    Mapping: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"count", "get", "index"}),
    LoopContext: frozenset({"changed", "cycle"}),
}  # fmt: skip
METHOD_NAMES = frozenset().union(*METHODS.values())


# --- calls that the compiler inserts ----------------------------------------------------------------------------


@pass_context
def each(context: Context, value: Json, weight: int) -> Iterator[Json]:
    """The entries of a loop; each counts one execution of the body."""
    work = get_work(context)
    for item in () if value is None else value:
        work.spend(weight)
        yield item


@pass_context
def together(context: Context, value: Json, *others: Json) -> str:
    """`a ~ b ~ …`: the joined texts of the values."""
    result: str = limit_value(_join((value, *others)))
    get_work(context).spend(measure_cost(result))
    return result


@pass_context
def call_method(context: Context, value: Json, method: str, *args: Json) -> Json:
    """`value.method(…)`: one of the listed methods of the value's type. Raises TypeError for any other."""
    work = get_work(context)
    work.spend(measure_deep_cost(value) if method in _COMPARING_METHODS else measure_cost(value))
    if isinstance(value, Missing):
        return value
    if method == "get" and isinstance(value, (list, tuple)):
        return context.environment.getitem(value, *args)
    for kind, methods in METHODS.items():
        if isinstance(value, kind) and method in methods:
            result = getattr(value, method)(*args)
            if isinstance(result, MappingView):
                result = list(result)  # type: ignore[call-overload]
            work.spend(measure_cost(result))
            return limit_value(result)
    raise TypeError(f"{type(value).__name__} has no method {method}.")


@pass_context
def charge_content(context: Context, value: Json) -> Json:
    """An operand of a comparison, or a list or object literal, with its whole content counted."""
    get_work(context).spend(measure_deep_cost(value))
    return value


@pass_context
def record_if_missing(context: Context, value: Json, path: str) -> Json:
    """The value of a printed name or dotted path; a missing one, and one that prints nothing, is recorded."""
    if value is None or isinstance(value, Missing) or (isinstance(value, str) and not value.strip()):
        get_work(context).empty[path] = None
    if isinstance(value, Missing):
        get_work(context).missing[path] = None
    return value


def _paid_test(function: Any) -> Any:
    """The test, with its arguments counted."""

    @pass_context
    @wraps(function, updated=())
    def run(context: Context, *values: Json) -> bool:
        get_work(context).spend(sum(map(measure_deep_cost, values)))
        return bool(function(*values))

    return run


FILTERS: Mapping[str, Filter] = {
    **{name: _charge(jinja_filters.FILTERS[name]) for name in _JINJA_FILTERS},
    **{name: _charge(jinja_filters.FILTERS[name], to_text) for name in _JINJA_TEXT_FILTERS},
    **{name: _charge(function) for name, function in _OWN.items()},
}
#: Filters under names that a template cannot write.
INTERNAL: Mapping[str, Filter] = {
    " each": each,
    " together": together,
    " called": call_method,
    " sized": charge_content,
    " made": charge_content,
    " named": record_if_missing,
}
TESTS: Mapping[str, Any] = {
    **{name: _paid_test(jinja_tests.TESTS[name]) for name in _JINJA_TESTS},
    "blank": _paid_test(is_blank),
}
