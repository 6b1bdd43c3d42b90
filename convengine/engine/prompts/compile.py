"""Templates, checked and compiled once per text; what they must not contain is refused here."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jinja2 import Template, TemplateSyntaxError, meta, nodes
from jinja2.visitor import NodeTransformer

from convengine.engine.prompts.filters import METHOD_NAMES
from convengine.engine.prompts.sandbox import BUTTON, FUNCTIONS, GLOBALS, SHOW_BUTTON, Sandbox

#: Maximum length of a template.
MAX_TEMPLATE = 64 * 1024
#: Maximum number of parts of its expressions and tags.
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
    """An unusable template. `position` counts from 1: that of the line, or of the expression."""

    def __init__(self, reason: str, position: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position


@dataclass(frozen=True)
class CompiledTemplate:
    """A compiled template, and the names that it takes from outside."""

    template: Template
    #: Root names, and dotted paths as far as they are simple.
    names: frozenset[str]
    has_buttons: bool = False


@lru_cache(maxsize=2048)
def _compile_or_error(text: str) -> CompiledTemplate | TemplateError:
    # Refusals are cached as well, so that a broken row is not read again in every turn.
    if len(text) > MAX_TEMPLATE:
        return TemplateError(f"it is longer than {MAX_TEMPLATE} characters", MAX_TEMPLATE + 1)
    try:
        tree = _sandbox.parse(text)
        for count, node in enumerate(tree.find_all(nodes.Node)):
            if count > MAX_NODES:
                return TemplateError("it is too large", 1)
            if reason := _find_refusal(node):
                return TemplateError(reason, _line_start(text, node.lineno))
        buttons = [name for call in tree.find_all(nodes.Call) if (name := _get_button(call))]
        for name in buttons:
            name.name = SHOW_BUTTON
        outside = meta.find_undeclared_variables(tree)
        names = frozenset(_paths(tree, outside))
        return CompiledTemplate(_sandbox.from_string(_Metered(outside).visit(tree)), names, bool(buttons))
    except TemplateSyntaxError as error:
        return TemplateError(error.message or "it does not parse", _line_start(text, error.lineno))
    except (SyntaxError, RecursionError, MemoryError, OverflowError, ValueError):
        return TemplateError("it is nested too deeply, or too large", 1)


def compile_template(text: str) -> CompiledTemplate:
    """The compiled template, cached. Raises TemplateError."""
    outcome = _compile_or_error(text)
    if isinstance(outcome, TemplateError):
        raise TemplateError(outcome.reason, outcome.position)
    return outcome


_sandbox = Sandbox()


def _line_start(text: str, line: int) -> int:
    return sum(len(each) for each in text.splitlines(keepends=True)[: line - 1]) + 1


# --- refused nodes ----------------------------------------------------------------------------------------------


def _find_refusal(node: nodes.Node) -> str | None:
    """Why a node may not be in a template. Returns None if it may."""
    for kind, word in _REFUSED:
        if isinstance(node, kind):
            return f"{word} is not available in templates"
    # `_` is a name that templates give to a value that they do not need; Python begins its own with two.
    if isinstance(node, nodes.Getattr) and node.attr.startswith("_"):
        return f"{node.attr} is not available in templates"
    if isinstance(node, nodes.Name) and node.name.startswith("__"):
        return f"{node.name} is not available in templates"
    if isinstance(node, nodes.For) and node.recursive:
        return "recursive loops are not available in templates"
    return _find_refused_call(node) if isinstance(node, nodes.Call) else None


def _find_refused_call(node: nodes.Call) -> str | None:
    function = node.node
    if node.dyn_args is not None or node.dyn_kwargs is not None:
        return "a call needs its values spelled out"
    if node.kwargs and isinstance(function, nodes.Getattr):
        return "a method takes no named values"
    if isinstance(function, nodes.Name):
        if _get_button(node) and (node.kwargs or len(node.args) not in (1, 2)):
            return 'a button has a label, and a message that it sends: button("Yes, please", "yes")'
        return None if function.name in FUNCTIONS else f"there is no function {function.name}"
    if isinstance(function, nodes.Getattr):
        return None if function.attr in METHOD_NAMES else f"there is no method {function.attr}"
    return "only functions and methods can be called, by their names"


def _get_button(call: nodes.Call) -> nodes.Name | None:
    """The node with the name of the function, if a call shows a button."""
    return call.node if isinstance(call.node, nodes.Name) and call.node.name == BUTTON else None


# --- names of a template ----------------------------------------------------------------------------------------


def _path(node: nodes.Node) -> str | None:
    """The dotted path of an expression. Returns None if there is none."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr) and (path := _path(node.node)):
        return f"{path}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const) and (path := _path(node.node)):
        return f"{path}.{node.arg.value}" if isinstance(node.arg.value, str) else None
    return None


def _paths(node: nodes.Node, outside: set[str]) -> Iterator[str]:
    """The longest simple paths below a node whose root comes from outside, without methods."""
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


# --- inserted calls ---------------------------------------------------------------------------------------------


class _Metered(NodeTransformer):
    """Adds work counting to loops, joins and comparisons, and records missing names that are printed."""

    def __init__(self, outside: set[str]) -> None:
        self._outside = outside

    def visit_Output(self, node: nodes.Output) -> nodes.Output:
        """Record every plain name that is printed and missing."""
        paths = [_path(child) for child in node.nodes]
        self.generic_visit(node)
        node.nodes = [
            _filter(child, " named", nodes.Const(path)) if path and path.split(".")[0] in self._outside else child
            for child, path in zip(node.nodes, paths, strict=True)
        ]
        return node

    def visit_For(self, node: nodes.For) -> nodes.For:
        """Each iteration counts the size of the body."""
        weight = 1 + sum(1 for part in node.body for _ in part.find_all(nodes.Node))
        self.generic_visit(node)
        node.iter = _filter(node.iter, " each", nodes.Const(weight))
        return node

    def visit_Call(self, node: nodes.Call) -> nodes.Expr:
        """A method is resolved by name and type at the call, and is not accessible otherwise."""
        self.generic_visit(node)
        if isinstance(node.node, nodes.Getattr):
            return _filter(node.node.node, " called", nodes.Const(node.node.attr), *node.args)
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Getitem:
        """A slice counts its size."""
        self.generic_visit(node)
        if isinstance(node.arg, nodes.Slice):
            node.node = _filter(node.node, " sized")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Expr:
        """`~` joins the values as they are printed."""
        self.generic_visit(node)
        first, *others = node.nodes
        return _filter(first, " together", *others)

    def visit_List(self, node: nodes.List) -> nodes.Expr:
        """A list literal counts its content, unless it has constants only."""
        plain = all(isinstance(item, nodes.Const) for item in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Tuple(self, node: nodes.Tuple) -> nodes.Expr:
        """A tuple counts its content, as a list does. Targets of loops and assignments are not values."""
        plain = node.ctx != "load" or all(isinstance(item, nodes.Const) for item in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Dict(self, node: nodes.Dict) -> nodes.Expr:
        plain = all(isinstance(pair.value, nodes.Const) for pair in node.items)
        self.generic_visit(node)
        return node if plain else _filter(node, " made")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Compare:
        """Comparing or searching a value counts its size."""
        self.generic_visit(node)
        if any(operand.op in _COMPARED for operand in node.ops):
            node.expr = _filter(node.expr, " sized")
            for operand in node.ops:
                operand.expr = _filter(operand.expr, " sized")
        return node


def _filter(node: nodes.Node, name: str, *arguments: nodes.Expr) -> nodes.Filter:
    made: Any = nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)
    return made  # type: ignore[no-any-return]
