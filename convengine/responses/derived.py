"""An answer that a model writes (pipeline-2 9.3, 9.4)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convengine.domain.catalogue.response import HISTORY_TURNS
from convengine.domain.enums import OutputFormat
from convengine.domain.facts import schema_values
from convengine.domain.payload import JsonPayload, Payload, TextPayload
from convengine.domain.rows import PromptTemplate, Response
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code
from convengine.domain.trail import FOLDED
from convengine.domain.turn import Turn
from convengine.errors import LlmNotConfigured
from convengine.llm.ask import Question, Stages, ask
from convengine.prompts.fill import filled
from convengine.prompts.select import decide_template
from convengine.prompts.variables import history_of

Json = Any
#: What asking for an answer leaves in the trail.
STAGES = Stages(Stage.RESOLVE_RESPONSE_LLM_INPUT, Stage.RESOLVE_RESPONSE_LLM_OUTPUT, Stage.RESOLVE_RESPONSE_LLM_ERROR)


def derived_payload(row: Response, session: Session, turn: Turn) -> Payload | None:
    """The model's answer to the prompts of the scope's template. Null when it has none and the row has a text instead.

    Raises LlmNotConfigured and the model's fault where the row has no text, PromptContextMissing, and what a prompt
    raises.
    """
    if not turn.ports.model.configured:
        if not blank(row.exact_text):
            return None
        raise LlmNotConfigured(
            f"Response {row.response_id} is written by a model, and no model is configured. "
            "Configure a model, or give the row a text to fall back to."
        )
    form = code(row.output_format)
    template = decide_template(session, turn, form)
    turn.audit(
        session,
        Stage.RESOLVE_RESPONSE_SELECTED,
        templateId=template.template_id,
        intent=session.intent,
        outputFormat=form,
        resolver=f"DERIVED_{form}",
    )
    reply = ask(session, turn, _question(row, template, session, turn))
    if reply.error:
        if blank(row.exact_text):
            raise reply.error.error(responseId=row.response_id, templateId=template.template_id)
        return None
    return JsonPayload(reply.value) if form == OutputFormat.JSON else TextPayload(reply.text.strip())


def _question(row: Response, template: PromptTemplate, session: Session, turn: Turn) -> Question:
    is_json = code(row.output_format) == OutputFormat.JSON
    schema = row.json_schema if is_json and isinstance(row.json_schema, Mapping) else None
    prompts = filled(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        hint=row.derivation_hint or "",
        selected={"templateId": template.template_id},
        conversation_history=history_of(session, turn.config(session, HISTORY_TURNS)),
    )
    prompts = replace(prompts, hint=_with_hint(prompts.hint, session))
    return Question(
        "RESPONSE_JSON" if is_json else "RESPONSE_TEXT",
        prompts.system,
        prompts.asked,
        context=_known(session),
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


def _with_hint(hint: str, session: Session) -> str:
    """The row's hint, and behind it, as it is, what a rule asked for in this turn (R66)."""
    said = session.input_params.get("response_hint")
    return "\n\n".join(part for part in (hint, said) if isinstance(part, str) and not blank(part))


def _known(session: Session) -> Mapping[str, Json]:
    """What a model may use for an answer: the context, and what the form asks for with what it holds (R89)."""
    schema = session.resolved_schema
    if schema is None:
        return session.context
    return {**session.context, "jsonSchema": schema.json_schema, "schemaJson": schema_values(session)}
