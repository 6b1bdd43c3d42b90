"""The prompts of one model call: names filled in, and what was made of them in the trail (pipeline-2 9.5)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from convengine.domain.facts import session_dict
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank
from convengine.domain.turn import Turn
from convengine.errors import PromptRenderFailed, UnresolvedPromptVariable
from convengine.prompts.render import prompt_vars, render_strict
from convengine.prompts.variables import template_variables

Json = Any


@dataclass(frozen=True)
class Filled:
    """What a model is told."""

    system: str
    user: str
    hint: str = ""

    @property
    def asked(self) -> str:
        """The user prompt with the hint behind it."""
        return "\n\n".join(part for part in (self.user, self.hint) if not blank(part))


def filled(
    session: Session, turn: Turn, *, system: str, user: str, hint: str = "", selected: Json = None, **call: Json
) -> Filled:
    """The rendered prompts, with PROMPT_RENDERING for each: names and sizes of what they use, never values.

    `selected` says which template or setting it was; `call` adds names that only
    the caller knows. Raises UnresolvedPromptVariable and PromptRenderFailed.
    """
    variables = template_variables(session, turn, **call)
    shown: Mapping[str, Json] = {"session": session_dict(session)}
    hints = {} if blank(hint) else {"derivation_hint": hint}
    hint = render_strict(hints, variables, selected=selected, **shown).get("derivation_hint", "")
    # The hint's own names are filled in first: a prompt may show it elsewhere as well.
    variables |= {"derivation_hint": hint, "derivationHint": hint}
    sources = {"system_prompt": system, "user_prompt": user}
    texts = render_strict(sources, variables, selected=selected, **shown)
    for name, text in texts.items():
        turn.audit(
            session,
            Stage.PROMPT_RENDERING,
            rendered_template=text,
            promptVars=prompt_vars([sources[name]], variables),
        )
    return Filled(texts["system_prompt"], texts["user_prompt"], hint)


def filled_or_told(session: Session, turn: Turn, told: Stage, **prompts: Json) -> Filled | None:
    """The same where the turn goes on without a model: null for prompts with a fault, which is in the stage `told`."""
    try:
        return filled(session, turn, **prompts)
    except (PromptRenderFailed, UnresolvedPromptVariable) as error:
        turn.audit(session, told, errorCode=error.code, message=error.message, **error.meta)
        return None
