"""Render the prompts of one model call and record how."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from convengine.engine.errors import PromptRenderFailed, UnresolvedPromptVariable
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.prompts.render import measure_prompt_vars, render_strict
from convengine.engine.prompts.variables import build_variables
from convengine.engine.text.compare import blank
from convengine.engine.turn.facts import collect_session_facts
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.stages import PROMPT_RENDERING
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json


@dataclass(frozen=True)
class FilledPrompts:
    """The prompts of a model call."""

    system: str
    user: str
    hint: str = ""

    @property
    def audit_payload(self) -> dict[str, Json]:
        """What the event of a call says of them."""
        return {
            "system_prompt": self.system,
            "user_prompt": self.user,
            "derivation_hint": self.hint,
            "session": FOLDED,
        }

    @property
    def user_with_hint(self) -> str:
        return "\n\n".join(part for part in (self.user, self.hint) if not blank(part))


def fill_prompts(
    session: Session, turn: Turn, *, system: str, user: str, hint: str = "", selected: Json = None, **call: Json
) -> FilledPrompts:
    """Render the prompts, with PROMPT_RENDERING for each: names and sizes of its values, never the values.

    `selected` names the template or setting; `call` adds names that only the caller knows. Raises
    UnresolvedPromptVariable and PromptRenderFailed.
    """
    variables = build_variables(session, turn, **call)
    shown: Mapping[str, Json] = {"session": collect_session_facts(session)}
    hints = {} if blank(hint) else {"derivation_hint": hint}
    hint = render_strict(hints, variables, selected=selected, **shown).get("derivation_hint", "")
    # Render the hint first, because a prompt may also print it.
    variables |= {"derivation_hint": hint, "derivationHint": hint}
    sources = {"system_prompt": system, "user_prompt": user}
    texts = render_strict(sources, variables, selected=selected, **shown)
    for name, text in texts.items():
        turn.audit(
            session,
            PROMPT_RENDERING,
            rendered_template=text,
            promptVars=measure_prompt_vars([sources[name]], variables),
        )
    return FilledPrompts(texts["system_prompt"], texts["user_prompt"], hint)


def ask_for_text(
    session: Session,
    turn: Turn,
    purpose: str,
    stages: tuple[Stage, Stage, Stage],
    *,
    system: Setting[str],
    user: Setting[str],
    hint: Setting[str] | None = None,
    context: Json = None,
    **call: Json,
) -> str:
    """A text that a turn can do without, by a model; blank without a model, for faulty prompts and after a fault.

    `stages` are those of input, output and error; `call` adds names that only the caller knows.
    """
    if not turn.ports.model.configured:
        return ""
    texts = {"system": turn.config(session, system), "user": turn.config(session, user)}
    hints = {"hint": turn.config(session, hint)} if hint else {}
    selected = {"configType": system.type}
    prompts = fill_prompts_or_audit(session, turn, stages[2], **texts, **hints, selected=selected, **call)
    if prompts is None:
        return ""
    question = ModelQuestion(purpose, prompts.system, prompts.user, context=context, stages=Stages(*stages))
    if hint:
        question = replace(question, user=prompts.user_with_hint, audit_payload=prompts.audit_payload)
    reply = ask(session, turn, question)
    return "" if reply.error else reply.text.strip()


def fill_prompts_or_audit(session: Session, turn: Turn, error_stage: Stage, **prompts: Json) -> FilledPrompts | None:
    """Fill the prompts of a turn that can go on without a model.

    Returns None for faulty prompts, and records the fault as `error_stage`.
    """
    try:
        return fill_prompts(session, turn, **prompts)
    except (PromptRenderFailed, UnresolvedPromptVariable) as error:
        turn.audit(session, error_stage, errorCode=error.code, message=error.message, **error.meta)
        return None
