"""Filling in templates: prompts strictly, answers and progress texts leniently (pipeline-2 9.4, 9.5)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from convengine.errors import PromptRenderFailed, UnresolvedPromptVariable
from convengine.prompts.compile import TemplateError, compiled
from convengine.prompts.convert import has_expressions
from convengine.prompts.sandbox import GLOBALS
from convengine.prompts.values import text_of
from convengine.prompts.work import KEY, MAX_OUTPUT, RenderLimit, Work

Json = Any


@dataclass(frozen=True)
class Rendered:
    """A rendered text; when `error` is set, the text is empty and the caller has something to fall back on."""

    text: str
    error: Exception | None = None
    #: Plain names and dotted paths that were printed and that nothing set.
    missing: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """True when the template could not be rendered."""
        return self.error is not None


def parse(text: str) -> None:
    """Check a template, in any of the accepted forms. Raises TemplateError with a reason and a position."""
    if has_expressions(text):
        compiled(text)


def names(text: str) -> frozenset[str]:
    """What a template takes from outside: root names, and dotted paths as far as they are plain.

    A template that does not parse names nothing.
    """
    if not has_expressions(text):
        return frozenset()
    try:
        return compiled(text).names
    except TemplateError:
        return frozenset()


def render_lenient(text: str, variables: Mapping[str, Json]) -> Rendered:
    """The text of an EXACT answer or a progress line: a name that nothing set prints as nothing. Never raises."""
    if not has_expressions(text):
        return Rendered(text)
    work = Work()
    try:
        return Rendered(_run(text, variables, work), None, tuple(work.missing))
    except Exception as error:
        # Whatever a template does wrong, the turn goes on with the caller's fallback.
        return Rendered("", error, tuple(work.missing))


def render_strict(
    prompts: Mapping[str, str], variables: Mapping[str, Json], *, selected: Json = None, **meta: Json
) -> dict[str, str]:
    """The prompts of one model call, by name (system_prompt, user_prompt).

    Raises UnresolvedPromptVariable, naming every printed name that nothing set, and PromptRenderFailed. `selected`
    says which template it was; it and `meta` go into the error's meta.
    """
    rendered = {name: render_lenient(text or "", variables) for name, text in prompts.items()}
    meta = {"promptSelected": selected, **prompts, **meta, "promptVars": prompt_vars(prompts.values(), variables)}
    for result in rendered.values():
        if result.error is not None:
            raise PromptRenderFailed(errorType=type(result.error).__name__, errorMessage=str(result.error), **meta)
    if missing := [name for result in rendered.values() for name in result.missing]:
        raise UnresolvedPromptVariable(missingPromptVars=list(dict.fromkeys(missing)), **meta)
    return {name: result.text for name, result in rendered.items()}


def prompt_vars(texts: Iterable[str], variables: Mapping[str, Json]) -> dict[str, int]:
    """The root names that prompts use, each with the length of what it prints as: names and sizes, never values."""
    roots = sorted({name.split(".")[0] for text in texts for name in names(text or "")})
    return {root: len(text_of(variables[root])) for root in roots if root in variables}


def _run(text: str, variables: Mapping[str, Json], work: Work) -> str:
    template = compiled(text).template
    # `shared`: one dictionary as it is. Else Jinja copies a ChainMap, which takes longer than the rendering.
    context = template.new_context({**GLOBALS, **variables, KEY: work}, shared=True)
    pieces: list[str] = []
    size = 0
    for piece in template.root_render_func(context):
        size += len(piece)
        if size > MAX_OUTPUT:
            raise RenderLimit(f"The text grew longer than {MAX_OUTPUT} characters.")
        pieces.append(piece)
    return "".join(pieces)


__all__ = [
    "Rendered",
    "TemplateError",
    "has_expressions",
    "names",
    "parse",
    "prompt_vars",
    "render_lenient",
    "render_strict",
]
