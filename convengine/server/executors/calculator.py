"""The executor of group CALCULATOR_TRANSFORM: one expression over the arguments, in a closed language.

Python parses the expression; this module evaluates it. Names are arguments, numbers are decimal, and only listed
functions exist. The work is limited.
"""

import ast
import operator
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal, InvalidOperation, localcontext
from typing import Any

from convengine.engine.text.wording import join_names
from convengine.engine.tools.fault import ToolFault
from convengine.engine.turn.ports import ToolAnswer
from convengine.json_value import Json
from convengine.server.executors.job import ToolJob

INVALID = "EXPRESSION_INVALID"
LONGEST_TEXT = 10_000


def number(value: Json) -> Any:
    """Numbers, and texts of up to 40 characters that are numbers, as decimals; others unchanged."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(str(value))
    if isinstance(value, str) and value and len(value) <= 40:
        try:
            made = Decimal(value.strip().replace("_", "x"))
        except InvalidOperation:
            return value
        return made if made.is_finite() else value
    return value


def as_json(value: Any) -> Json:
    """A value as JSON: a whole decimal becomes an integer."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() and abs(value) < 10**18 else float(value)
    return [as_json(part) for part in value] if isinstance(value, list) else value


def _round(value: Decimal, digits: Decimal = Decimal(0)) -> Decimal:
    return value.quantize(Decimal(1).scaleb(-int(digits)), ROUND_HALF_UP)


def _read_numbers(values: tuple[Any, ...]) -> list[Decimal]:
    """The numbers of a list, or of several arguments. Raises ToolFault without any, or for one that is no number."""
    listed = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    numbers = [number(value) for value in listed]
    if not numbers or not all(isinstance(value, Decimal) for value in numbers):
        raise ToolFault(INVALID, "This needs numbers.")
    return numbers


def _format(value: Decimal, digits: Decimal = Decimal(2)) -> str:
    return f"{_round(value, digits):,.{min(int(digits), 20)}f}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(as_json(value))


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs,
    "round": _round,
    "floor": lambda value: value.to_integral_value(ROUND_FLOOR),
    "ceil": lambda value: value.to_integral_value(ROUND_CEILING),
    "sqrt": lambda value: value.sqrt(),
    "min": lambda *values: min(_read_numbers(values)),
    "max": lambda *values: max(_read_numbers(values)),
    "sum": lambda *values: sum(_read_numbers(values), Decimal(0)),
    "avg": lambda *values: sum(_read_numbers(values), Decimal(0)) / len(_read_numbers(values)),
    "count": lambda values: Decimal(len(values)),
    "number": lambda value: Decimal(str(value).strip().replace(",", "").replace("_", "x")),
    "text": _text,
    "format": _format,
    "upper": lambda value: _text(value).upper(),
    "lower": lambda value: _text(value).lower(),
    "trim": lambda value: _text(value).strip(),
    "replace": lambda value, old, new: _text(value)[:LONGEST_TEXT].replace(old, new) if old else _text(value),
    "concat": lambda *values: "".join(_text(value) for value in values),
}


_LONGEST_EXPRESSION = 1000
_LARGEST_EXPONENT = 100
#: 28 digits; a number beyond 10^100 is an error.
_PRECISION = Context(prec=28, Emax=100, Emin=-100)


def run(job: ToolJob) -> ToolAnswer:
    """`{value}` of the argument `expression`; the other arguments are its names.

    Raises ToolFault: INVALID_ARGS without an expression, EXPRESSION_INVALID for one that cannot be worked out.
    """
    expression = job.args.get("expression")
    if not isinstance(expression, str) or not expression.strip():
        raise ToolFault("INVALID_ARGS", "expression must be a text such as price * quantity.")
    return ToolAnswer({"value": evaluate(expression, job.args)})


def evaluate(expression: str, names: Mapping[str, Json]) -> Json:
    """The value of an expression, as JSON. Raises ToolFault EXPRESSION_INVALID with the reason."""
    if len(expression) > _LONGEST_EXPRESSION:
        raise ToolFault(INVALID, f"An expression can have at most {_LONGEST_EXPRESSION} characters.")
    try:
        tree = ast.parse(expression.strip(), mode="eval")
        with localcontext(_PRECISION):
            return as_json(_evaluate(tree.body, names))
    except ToolFault:
        raise
    except ZeroDivisionError:
        raise ToolFault(INVALID, "Division by zero.") from None
    except (ArithmeticError, InvalidOperation):
        raise ToolFault(INVALID, "A number is too large, or an operation has no result.") from None
    except (SyntaxError, RecursionError, MemoryError):
        raise ToolFault(INVALID, f"{expression[:100]} is not an expression.") from None
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise ToolFault(INVALID, f"{expression[:100]} cannot be worked out: {error}.") from None


def _evaluate(node: ast.expr, names: Mapping[str, Json]) -> Any:
    """The value of a part of an expression. Raises ToolFault for a kind of part that the language does not have."""
    worked_out = _KINDS.get(type(node))
    if worked_out is None:
        raise ToolFault(INVALID, f"{type(node).__name__} is not part of expressions.")
    return worked_out(node, names)


def _evaluate_constant(node: Any, names: Mapping[str, Json]) -> Any:
    """A number, a text, yes, no or nothing. Raises ToolFault for any other constant."""
    if node.value is None or isinstance(node.value, (str, bool)):
        return node.value
    if isinstance(node.value, (int, float)):
        return Decimal(str(node.value))
    raise ToolFault(INVALID, f"{node.value!r} is neither a number nor text.")


def _evaluate_name(node: Any, names: Mapping[str, Json]) -> Any:
    """The value of an argument. Raises ToolFault for an unknown name."""
    if node.id not in names or node.id == "expression":
        known = join_names(set(names) - {"expression"})
        raise ToolFault(INVALID, f"There is no argument {node.id}. Arguments: {known}.")
    return number(names[node.id])


def _evaluate_binary(node: Any, names: Mapping[str, Json]) -> Any:
    """Work out `left + right` and the like; `+` also joins two texts.

    Raises ToolFault for other operands, and for an exponent above the limit.
    """
    left, right = _evaluate(node.left, names), _evaluate(node.right, names)
    act = _BINARY.get(type(node.op))
    if act is None or not (isinstance(left, Decimal) and isinstance(right, Decimal)):
        if isinstance(node.op, ast.Add) and isinstance(left, str) and isinstance(right, str):
            return _check_length(left + right)
        raise ToolFault(INVALID, f"{type(node.op).__name__} takes two numbers, not {_quote(left)} and {_quote(right)}.")
    if isinstance(node.op, ast.Pow) and abs(right) > _LARGEST_EXPONENT:
        raise ToolFault(INVALID, f"An exponent is at most {_LARGEST_EXPONENT}.")
    return act(left, right)


def _evaluate_unary(node: Any, names: Mapping[str, Json]) -> Any:
    """Work out `not value`, `-value` or `+value`. Raises ToolFault for another operator or operand."""
    value = _evaluate(node.operand, names)
    if isinstance(node.op, ast.Not):
        return not value
    if isinstance(node.op, (ast.USub, ast.UAdd)) and isinstance(value, Decimal):
        return -value if isinstance(node.op, ast.USub) else value
    raise ToolFault(INVALID, f"{type(node.op).__name__} takes a number, not {_quote(value)}.")


def _evaluate_and_or(node: Any, names: Mapping[str, Json]) -> Any:
    """The first part that decides, else the last one, as in Python: the parts behind it are not evaluated."""
    wanted = isinstance(node.op, ast.Or)
    value: Any = None
    for part in node.values:
        value = _evaluate(part, names)
        if bool(value) == wanted:
            break
    return value


def _evaluate_comparison(node: Any, names: Mapping[str, Json]) -> bool:
    """True when every comparison of a chain holds, as in Python."""
    left = _evaluate(node.left, names)
    for how, part in zip(node.ops, node.comparators, strict=True):
        right = _evaluate(part, names)
        act = _COMPARED.get(type(how))
        if act is None:
            raise ToolFault(INVALID, f"{type(how).__name__} is not part of expressions.")
        if not act(left, right):
            return False
        left = right
    return True


def _evaluate_choice(node: Any, names: Mapping[str, Json]) -> Any:
    return _evaluate(node.body if _evaluate(node.test, names) else node.orelse, names)


def _evaluate_list(node: Any, names: Mapping[str, Json]) -> list[Any]:
    return [_evaluate(part, names) for part in node.elts]


def _evaluate_member(node: Any, names: Mapping[str, Json]) -> Any:
    """The member of an object. Raises ToolFault if it has none of this name."""
    holder = _evaluate(node.value, names)
    if not isinstance(holder, Mapping) or node.attr not in holder:
        raise ToolFault(INVALID, f"There is no {node.attr} in {_quote(holder)}.")
    return number(holder[node.attr])


def _evaluate_item(node: Any, names: Mapping[str, Json]) -> Any:
    """A part of a list by its index, or of an object by its name. Raises ToolFault for anything else."""
    holder, index = _evaluate(node.value, names), _evaluate(node.slice, names)
    if isinstance(holder, list) and isinstance(index, Decimal):
        return number(holder[int(index)])
    if isinstance(holder, Mapping) and isinstance(index, str):
        return number(holder[index])
    raise ToolFault(INVALID, f"{_quote(holder)} has no part {_quote(index)}.")


def _evaluate_call(node: Any, names: Mapping[str, Json]) -> Any:
    """Call one of `FUNCTIONS`; nothing else can be called."""
    name = node.func.id if isinstance(node.func, ast.Name) else None
    function = FUNCTIONS.get(name or "")
    if function is None or node.keywords:
        raise ToolFault(INVALID, f"There is no function {name or 'of that kind'}. Functions: {', '.join(FUNCTIONS)}.")
    return _check_length(function(*(_evaluate(part, names) for part in node.args)))


def _check_length(value: Any) -> Any:
    """The value. Raises ToolFault for a text that grew too long."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise ToolFault(INVALID, f"A text grew longer than {LONGEST_TEXT} characters.")
    return value


def _quote(value: Any) -> str:
    return str(value)[:40] if value is not None else "nothing"


_BINARY: Mapping[type, Callable[[Decimal, Decimal], Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_COMPARED: Mapping[type, Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda value, container: value in container,
    ast.NotIn: lambda value, container: value not in container,
}
_KINDS: Mapping[type, Callable[[Any, Mapping[str, Json]], Any]] = {
    ast.Constant: _evaluate_constant,
    ast.Name: _evaluate_name,
    ast.BinOp: _evaluate_binary,
    ast.UnaryOp: _evaluate_unary,
    ast.BoolOp: _evaluate_and_or,
    ast.Compare: _evaluate_comparison,
    ast.IfExp: _evaluate_choice,
    ast.List: _evaluate_list,
    ast.Attribute: _evaluate_member,
    ast.Subscript: _evaluate_item,
    ast.Call: _evaluate_call,
}
