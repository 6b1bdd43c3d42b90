"""A template, checked and compiled once for each text: what it may not hold is refused here (pipeline-2 9.5)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateSyntaxError, meta, nodes
from jinja2.visitor import NodeTransformer

from convengine.prompts.convert import ConversionError, convert
from convengine.prompts.filters import METHOD_NAMES
from convengine.prompts.sandbox import FUNCTIONS, GLOBALS, Sandbox

#: Longest template.
MAX_TEMPLATE = 64 * 1024
#: How many parts its expressions and tags may have altogether.
MAX_NODES = 15_000
_REFUSED: tuple[tuple[type[nodes.Node], str], ...] = (
    (nodes.Include, "include"),
    (nodes.Import, "import"),
    (nodes.FromImport, "import"),
    (nodes.Extends, "extends"),
    (nodes.Block, "block"),
    (nodes.Macro, "macro"),
    (nodes.CallBlock, "call"),
    (nodes.FilterBlock, "filter block"),
    (nodes.AssignBlock, "set block"),
    (nodes.ScopedEvalContextModifier, "autoescape"),
)
_COMPARED = ("in", "notin", "eq", "ne")


class TemplateError(ValueError):
    """A template that cannot be used. `position` counts from 1 and is that of the line, or of the expression."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@dataclass(frozen=True)
class Compiled:
    """A template ready to render, and the names that it takes from outside."""

    template: Template
    #: Root names, and dotted paths as far as they are plain.
    names: frozenset[str]


@lru_cache(maxsize=2048)
def _outcome(text: str) -> Compiled | TemplateError:
    # A refusal is kept as well: a broken row must not be read anew on every turn.
    try:
        return _compile(text)
    except TemplateError as error:
        return error


def compiled(text: str) -> Compiled:
    """The compiled template. Raises TemplateError."""
    outcome = _outcome(text)
    if isinstance(outcome, TemplateError):
        raise TemplateError(outcome.reason, outcome.position)
    return outcome


_sandbox = Sandbox()


def _compile(text: str) -> Compiled:
    if len(text) > MAX_TEMPLATE:
        raise TemplateError(f"it is longer than {MAX_TEMPLATE} characters", MAX_TEMPLATE + 1)
    try:
        source = convert(text).text
        tree = _sandbox.parse(source)
        for count, node in enumerate(tree.find_all(nodes.Node)):
            if count > MAX_NODES:
                raise TemplateError("it is too large", 1)
            _check(node, text)
        outside = meta.find_undeclared_variables(tree)
        names = frozenset(_paths(tree, outside))
        template = _sandbox.from_string(_Metered(outside).visit(tree))
    except ConversionError as error:
        raise TemplateError(error.reason, error.position) from None
    except TemplateSyntaxError as error:
        raise TemplateError(error.message or "it does not parse", _line_start(text, error.lineno)) from None
    except (SyntaxError, RecursionError, MemoryError, OverflowError, ValueError) as error:
        if isinstance(error, TemplateError):
            raise
        raise TemplateError("it is nested too deeply, or too large", 1) from None
    return Compiled(template, names)


def _line_start(text: str, line: int) -> int:
    return sum(len(each) for each in text.splitlines(keepends=True)[: line - 1]) + 1


# --- what is refused --------------------------------------------------------------------------------------------


def _check(node: nodes.Node, text: str) -> None:
    for kind, word in _REFUSED:
        if isinstance(node, kind):
            raise TemplateError(f"{word} is not available in templates", _line_start(text, node.lineno))
    reason = _unsafe(node)
    if reason:
        raise TemplateError(reason, _line_start(text, node.lineno))


def _unsafe(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
        return f"{node.attr} is not available in templates"
    if isinstance(node, nodes.Name) and node.name.startswith("__"):
        return f"{node.name} is not available in templates"
    if isinstance(node, nodes.For) and node.recursive:
        return "recursive loops are not available in templates"
    if isinstance(node, nodes.Call):
        return _unsafe_call(node)
    return None


def _unsafe_call(node: nodes.Call) -> str | None:
    function = node.node
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return "a call needs its values spelled out"
    if node.kwargs and isinstance(function, nodes.Getattr):
        return "a method takes no named values"
    if isinstance(function, nodes.Name):
        return None if function.name in FUNCTIONS else f"there is no function {function.name}"
    if isinstance(function, nodes.Getattr):
        return None if function.attr in METHOD_NAMES else f"there is no method {function.attr}"
    return "only functions and methods can be called, by their names"


# --- what is looked at ------------------------------------------------------------------------------------------


def _path(node: nodes.Node) -> str | None:
    """The dotted path that an expression is; null for anything else."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr) and (path := _path(node.node)):
        return f"{path}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and (path := _path(node.node)):
        return f"{path}.{node.arg.value}" if isinstance(node.arg.value, str) else None
    return None


def _paths(node: nodes.Node, outside: set[str]) -> Iterator[str]:
    """The longest plain paths below a node whose root comes from outside; a method is no part of one."""
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Getattr):
        yield from _paths(node.node.node, outside)
        for argument in (*node.args, *node.kwargs):
            yield from _paths(argument, outside)
    elif path := _path(node):
        if path.split(".")[0] in outside - GLOBALS.keys():
            yield path
    else:
        for child in node.iter_child_nodes():
            yield from _paths(child, outside)


# --- what is put in ---------------------------------------------------------------------------------------------


class _Metered(NodeTransformer):
    """Makes loops, joins and comparisons pay, and prints of plain names tell when the name is missing."""

    def __init__(self, outside: set[str]) -> None:
        self._outside = outside

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        """Every plain name that is printed is noted down when it is missing."""
        paths = [_path(child) for child in node.nodes]
        self.generic_visit(node)
        node.nodes = [
            _filter(child, " named", nodes.Const(path)) if path and path.split(".")[0] in self._outside else child
            for child, path in zip(node.nodes, paths, strict=True)
        ]
        return node

    def visit_For(self, node: nodes.For) -> nodes.For:
        """Each run of the body pays for the body's size."""
        weight = 1 + sum(1 for part in node.body for _ in part.find_all(nodes.Node))
        self.generic_visit(node)
        node.iter = _filter(node.iter, " each", nodes.Const(weight))
        return node

    def visit_Call(self, node: nodes.Call) -> nodes.Expr:
        """A method is looked up by name and type when it is called, and cannot be had otherwise."""
        self.generic_visit(node)
        if isinstance(node.node, nodes.Getattr):
            return _filter(node.node.node, " called", nodes.Const(node.node.attr), *node.args)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Getitem:
        """What is cut pays for its size."""
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            node.node = _filter(node.node, " sized")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        """`~` joins the values as they print."""
        self.generic_visit(node)
        first, *others = node.nodes
        return _filter(first, " together", *others)

    def visit_List(self, node: nodes.List) -> nodes.Expr:
        """What is written down pays for what it holds, unless that is nothing but constants."""
        plain = all(isinstance(item, nodes.Const) for item in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:
        """Likewise; the names that a loop or an assignment fills are no value."""
        plain = node.ctx != "load" or all(isinstance(item, nodes.Const) for item in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Expr:
        """Likewise."""
        plain = all(isinstance(pair.value, nodes.Const) for pair in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        """What is compared as a whole, or searched, pays for its size."""
        self.generic_visit(node)
        if any(operand.op in _COMPARED for operand in node.ops):
            node.expr = _filter(node.expr, " sized")
            for operand in node.ops:
                operand.expr = _filter(operand.expr, " sized")
        return node


def _filter(node: nodes.Node, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    made: Any = nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)
    return made  # type: ignore[no-any-return]
