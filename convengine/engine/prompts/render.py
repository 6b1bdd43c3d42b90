"""Render templates: prompts strictly, answers and progress texts leniently."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from convengine.engine.errors import PromptRenderFailed, UnresolvedPromptVariable
from convengine.engine.prompts.compile import TemplateError, compile_template
from convengine.engine.prompts.sandbox import GLOBALS
from convengine.engine.prompts.values import KEY, MAX_OUTPUT, RenderLimit, Work, to_text
from convengine.engine.text.compare import blank
from convengine.engine.text.several_texts import OR_LINE, select_text, split_texts
from convengine.engine.text.wording import drop_second_stop
from convengine.json_value import Json

_BEGIN = re.compile(r"\{[{%#]")


@dataclass(frozen=True)
class RenderedText:
    """A rendered text. If `error` is set, the text is empty and the caller uses a fallback."""

    text: str
    error: Exception | None = None
    #: Printed names and dotted paths without a value.
    missing: tuple[str, ...] = ()
    #: Printed names and dotted paths that printed nothing: the missing ones, and those with a blank value.
    empty: tuple[str, ...] = ()
    #: The labels of its buttons, each with the message that it sends.
    buttons: tuple[tuple[str, str], ...] = ()

    @property
    def failed(self) -> bool:
        return self.error is not None


def has_expressions(text: str) -> bool:
    return _BEGIN.search(text) is not None


def check_template(text: str) -> None:
    """Check a template. Raises TemplateError with a reason and a position."""
    if not has_expressions(text):
        return
    texts, lines = split_texts(text), [match.start() + 1 for match in OR_LINE.finditer(text)]
    # As a whole, so that a fault has its position in the template.
    compile_template(OR_LINE.sub(" ", text) if lines else text)
    for number, (each, position) in enumerate(zip(texts, [*lines, *lines[-1:]], strict=False), 1):
        if blank(each):
            raise TemplateError(f"text {number} is empty: write it, or remove a line {{% or %}}", position)
        try:
            compile_template(each)
        except TemplateError:
            reason = "a block begins before {% or %} and ends after it: each text needs the whole block"
            raise TemplateError(reason, position) from None


def list_names(text: str) -> frozenset[str]:
    """The names that a template takes from outside: root names, and dotted paths as far as they are simple.

    An invalid template has none.
    """
    if not has_expressions(text):
        return frozenset()
    try:
        return frozenset().union(*(compile_template(each).names for each in split_texts(text)))
    except TemplateError:
        return frozenset()


def has_buttons(text: str) -> bool:
    """Whether a template shows buttons. An invalid one shows none."""
    try:
        return has_expressions(text) and any(compile_template(each).has_buttons for each in split_texts(text))
    except TemplateError:
        return False


def render_lenient(
    text: str, variables: Mapping[str, Json], *, truth: Mapping[bool, str] | None = None
) -> RenderedText:
    """The text of an EXACT answer or a progress text. A name without a value prints nothing. Never raises.

    Of several texts, the conversation gets one. `truth`: the words for true and false in a sentence for people. There
    no full stop follows that of a value.
    """
    if not has_expressions(text):
        return RenderedText(text)
    text = select_text(text, str(variables.get("conversationId")))
    work, pieces, size = Work(truth), list[str](), 0
    try:
        template = compile_template(text).template
        # `shared`: without it Jinja2 copies a ChainMap, which takes longer than the rendering.
        for piece in template.root_render_func(template.new_context({**GLOBALS, **variables, KEY: work}, shared=True)):
            size += len(piece)
            if size > MAX_OUTPUT:
                raise RenderLimit(f"The text grew longer than {MAX_OUTPUT} characters.")
            if piece:
                pieces.append(drop_second_stop(pieces[-1], piece) if work.truth and pieces else piece)
    except Exception as error:
        # Whatever goes wrong in a template, the turn goes on with the caller's fallback.
        return RenderedText("", error, tuple(work.missing))
    return RenderedText("".join(pieces), None, tuple(work.missing), tuple(work.empty), tuple(work.buttons.items()))


def render_strict(
    prompts: Mapping[str, str], variables: Mapping[str, Json], *, selected: Json = None, **meta: Json
) -> dict[str, str]:
    """The prompts of one model call, by name (system_prompt, user_prompt).

    Raises UnresolvedPromptVariable with every printed name without a value, and PromptRenderFailed. `selected` names
    the template; it and `meta` go into the error's meta.
    """
    rendered = {name: render_lenient(text or "", variables) for name, text in prompts.items()}
    meta = {
        "promptSelected": selected,
        **prompts,
        **meta,
        "promptVars": measure_prompt_vars(prompts.values(), variables),
    }
    for result in rendered.values():
        if result.error is not None:
            raise PromptRenderFailed(errorType=type(result.error).__name__, errorMessage=str(result.error), **meta)
    if missing := [name for result in rendered.values() for name in result.missing]:
        raise UnresolvedPromptVariable(missingPromptVars=list(dict.fromkeys(missing)), **meta)
    return {name: result.text for name, result in rendered.items()}


def measure_prompt_vars(texts: Iterable[str], variables: Mapping[str, Json]) -> dict[str, int]:
    """The root names that prompts use, each with the length of its printed value, never the value."""
    roots = sorted({name.split(".")[0] for text in texts for name in list_names(text or "")})
    return {root: len(to_text(variables[root])) for root in roots if root in variables}


__all__ = [
    "RenderedText",
    "TemplateError",
    "check_template",
    "has_buttons",
    "has_expressions",
    "list_names",
    "measure_prompt_vars",
    "render_lenient",
    "render_strict",
]
