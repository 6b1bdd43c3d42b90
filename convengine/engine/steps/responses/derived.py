"""An answer that a model writes (pipeline-2 9.3, 9.4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convengine.engine.clarification.stages import (
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.errors import LlmNotConfigured
from convengine.engine.llm.ask import Question, Stages, ask
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.prompts.select import decide_template
from convengine.engine.prompts.variables import list_history
from convengine.engine.steps.responses.settings import HISTORY_TURNS
from convengine.engine.steps.responses.stages import RESOLVE_RESPONSE_SELECTED
from convengine.engine.text.compare import blank, code
from convengine.engine.turn.enums import OutputFormat
from convengine.engine.turn.facts import collect_schema_values
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.rows import PromptTemplate, Response
from convengine.engine.turn.session import Session
from convengine.engine.turn.trail import FOLDED
from convengine.engine.turn.turn import Turn

Json = Any
#: The stages of a model call for an answer.
STAGES = Stages(RESOLVE_RESPONSE_LLM_INPUT, RESOLVE_RESPONSE_LLM_OUTPUT, RESOLVE_RESPONSE_LLM_ERROR)


def derive_payload(row: Response, session: Session, turn: Turn) -> Payload | None:
    """The model's answer to the prompts of the scope's template. Null if it failed and the row has a text instead.

    Otherwise raises LlmNotConfigured, the model's fault, PromptContextMissing, or errors of the prompt.
    """
    if not turn.ports.model.configured:
        if not blank(row.exact_text):
            return None
        raise LlmNotConfigured(
            f"Answer {row.response_id} should be written by a model, but no model is configured. Configure a "
            "model, or add a fallback text to the answer."
        )
    form = code(row.output_format)
    template = decide_template(session, turn, form)
    turn.audit(
        session,
        RESOLVE_RESPONSE_SELECTED,
        templateId=template.template_id,
        intent=session.intent,
        outputFormat=form,
        resolver=f"DERIVED_{form}",
    )
    reply = ask(session, turn, _build_question(row, template, session, turn))
    if reply.error:
        if blank(row.exact_text):
            raise reply.error.error(responseId=row.response_id, templateId=template.template_id)
        return None
    return JsonPayload(reply.value) if form == OutputFormat.JSON else TextPayload(reply.text.strip())


def _build_question(row: Response, template: PromptTemplate, session: Session, turn: Turn) -> Question:
    is_json = code(row.output_format) == OutputFormat.JSON
    schema = row.json_schema if is_json and isinstance(row.json_schema, Mapping) else None
    prompts = fill_prompts(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        hint=row.derivation_hint or "",
        selected={"templateId": template.template_id},
        conversation_history=list_history(session, turn.config(session, HISTORY_TURNS)),
    )
    prompts = replace(prompts, hint=_join_hints(prompts.hint, session))
    return Question(
        "RESPONSE_JSON" if is_json else "RESPONSE_TEXT",
        prompts.system,
        prompts.asked,
        context=_build_model_context(session),
        json_schema=schema,
        want_json=is_json,
        strict=schema is not None,
        temperature=template.temperature,
        template_id=template.template_id,
        stages=STAGES,
        told={
            "system_prompt": prompts.system,
            "user_prompt": prompts.user,
            "derivation_hint": prompts.hint,
            **({} if schema is None else {"schema": schema}),
            "session": FOLDED,
        },
        answered="output",
    )


def _join_hints(hint: str, session: Session) -> str:
    """The row's hint, followed by the unchanged hint of a rule in this turn (R66)."""
    rule_hint = session.input_params.get("response_hint")
    return "\n\n".join(part for part in (hint, rule_hint) if isinstance(part, str) and not blank(part))


def _build_model_context(session: Session) -> Mapping[str, Json]:
    """What a model may use for an answer: the context, and the form with its values (R89)."""
    schema = session.resolved_schema
    if schema is None:
        return session.context
    return {**session.context, "jsonSchema": schema.json_schema, "schemaJson": collect_schema_values(session)}
