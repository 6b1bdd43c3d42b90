"""Write the answer of a row: its rendered text, or a model's, after the transformers of the deployment."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from convengine.engine.clarification.stages import (
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.errors import LlmNotConfigured, NoResponseConfigured
from convengine.engine.forms.asking import read_text_setting
from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.prompts.chosen_text import choose_text
from convengine.engine.prompts.fill import fill_prompts
from convengine.engine.prompts.render import RenderedText, has_expressions, list_names, render_lenient
from convengine.engine.prompts.select import choose_template, decide_template
from convengine.engine.prompts.variables import OPTIONAL_NAMES, build_variables, list_history
from convengine.engine.steps.responses.form_question import find_truth_words, say_fields
from convengine.engine.steps.responses.not_understood import write_help
from convengine.engine.steps.responses.settings import FALLBACK_TEXT, HISTORY_TURNS
from convengine.engine.steps.responses.stages import (
    EXACT_RESPONSE_RENDERING,
    RESOLVE_RESPONSE_SELECTED,
    RESPONSE_EXACT,
    RESPONSE_TRANSFORM_FAILED,
)
from convengine.engine.text.compare import blank, code, shorten
from convengine.engine.turn.enums import OutputFormat, ResponseType
from convengine.engine.turn.facts import audit_transformed, collect_schema_values
from convengine.engine.turn.field_options import write_schema
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.rows import PromptTemplate, Response
from convengine.engine.turn.session import Session
from convengine.engine.turn.stages import TEMPLATE_VALUE_EMPTY
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The stage of a row's answer.
LLM = "LLM"
#: The stages of a model call for an answer.
STAGES = Stages(RESOLVE_RESPONSE_LLM_INPUT, RESOLVE_RESPONSE_LLM_OUTPUT, RESOLVE_RESPONSE_LLM_ERROR)


def write_answer(row: Response, session: Session, turn: Turn) -> tuple[Payload, str]:
    """What the row answers, and the stage that tells how.

    Raises NoResponseConfigured for a row of an unknown type or format, and the errors of `derive_payload`.
    """
    if OutputFormat.read(row.output_format) is None or ResponseType.read(row.response_type) is None:
        raise NoResponseConfigured(
            f"Response {row.response_id} has type {row.response_type!r} and format {row.output_format!r}; "
            "use EXACT or DERIVED, and TEXT or JSON."
        )
    if code(row.response_type) == ResponseType.DERIVED and (derived := derive_payload(row, session, turn)):
        return derived, f"RESPONSE_{code(row.output_format)}"
    payload = render_payload(row, session, turn)
    turn.audit(session, RESPONSE_EXACT, text=payload.value)
    return payload, str(RESPONSE_EXACT)


def derive_payload(row: Response, session: Session, turn: Turn) -> Payload | None:
    """The model's answer to the prompts of the scope's template.

    Returns None if it failed, or if no template applies and the row has a text instead.

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
    if not blank(row.exact_text) and choose_template(turn.snapshot, form, session.intent, session.state).winner is None:
        return None
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


def _build_question(row: Response, template: PromptTemplate, session: Session, turn: Turn) -> ModelQuestion:
    """The question to the model: the template's prompts, the hints, and the row's schema for JSON.

    Raises the errors of the prompt.
    """
    is_json = code(row.output_format) == OutputFormat.JSON
    schema = row.json_schema if is_json and isinstance(row.json_schema, Mapping) else None
    prompts = fill_prompts(
        session,
        turn,
        system=template.system_prompt,
        user=template.user_prompt,
        hint=row.derivation_hint or "",
        selected={"templateId": template.template_id},
        responseType=row.response_type,
        outputFormat=row.output_format,
        promptTemplateId=template.template_id,
        conversation_history=list_history(session, turn.config(session, HISTORY_TURNS)),
    )
    # The unchanged hint of a rule in this turn follows the row's.
    hints = (prompts.hint, session.dialogue.response_hint)
    prompts = replace(prompts, hint="\n\n".join(hint for hint in hints if isinstance(hint, str) and not blank(hint)))
    context = session.context
    if form := session.resolved_schema:
        context = {**context, "jsonSchema": write_schema(session, form), "schemaJson": collect_schema_values(session)}
    return ModelQuestion(
        "RESPONSE_JSON" if is_json else "RESPONSE_TEXT",
        prompts.system,
        prompts.user_with_hint,
        context=context,
        json_schema=schema,
        want_json=is_json,
        strict=schema is not None,
        temperature=template.temperature,
        template_id=template.template_id,
        stages=STAGES,
        audit_payload=prompts.audit_payload | ({} if schema is None else {"schema": schema}),
        answered="output",
    )


def _describe_response(row: Response) -> Mapping[str, Json]:
    """The names of a fixed answer itself."""
    own = {"responseType": row.response_type, "outputFormat": row.output_format, "promptTemplateId": ""}
    return {**own, "derivation_hint": row.derivation_hint or ""}


def render_payload(row: Response, session: Session, turn: Turn) -> Payload:
    """The rendered text of an EXACT row; for JSON the document that it is, or the text if it is none.

    A rendered text that is blank or failed is replaced by a fallback, and recorded.
    """
    template = choose_text(session, turn, row.exact_text or "", **_locate_text(row))
    text = _render_row(row, template, session, turn) if has_expressions(template) else RenderedText(template)
    if row.output_format == "JSON":
        return _parse_json(text.text)
    # Calls that show buttons leave blank lines.
    return TextPayload(text.text.rstrip() if text.buttons else text.text, text.buttons)


def _locate_text(row: Response) -> dict[str, Json]:
    return {"table": row.table, "row": row.response_id, "field": "exact_text"}


def _render_row(row: Response, template: str, session: Session, turn: Turn) -> RenderedText:
    wanted = {name.partition(".")[0] for name in list_names(template)}
    is_text = row.output_format != "JSON"
    names, truth = (say_fields(session, turn), find_truth_words(session, turn)) if is_text else ({}, None)
    if "help_text" in wanted:
        names = {**names, "help_text": write_help(session, turn)}
    variables = build_variables(session, turn, wanted, **_describe_response(row), **names)
    rendered = render_lenient(template, variables, truth=truth)
    if empty := [name for name in rendered.empty if name.partition(".")[0] not in OPTIONAL_NAMES]:
        turn.audit(session, TEMPLATE_VALUE_EMPTY, names=empty, **_locate_text(row))
    error = rendered.error
    if not (error or blank(rendered.text) or _lacks_result(session, (*rendered.empty, *rendered.missing))):
        return rendered
    text, used = _choose_fallback(session, turn)
    turn.audit(
        session,
        EXACT_RESPONSE_RENDERING,
        component="ResponseResolutionStep",
        fallbackUsed=used,
        errorClass=type(error).__name__ if error else None,
        errorMessage=str(error) if error else None,
        templatePreview=shorten(template, 500),
        responseId=row.response_id,
    )
    return RenderedText(text)


def _parse_json(text: str) -> Payload:
    try:
        return JsonPayload(json.loads(text))
    except (ValueError, RecursionError):
        return JsonPayload(text)


def _lacks_result(session: Session, unprinted: Iterable[str]) -> bool:
    """True if the tool failed, and the answer would print its result."""
    return session.tools.tool_status == "ERROR" and any(name.startswith("tool_result.") for name in unprinted)


def _choose_fallback(session: Session, turn: Turn) -> tuple[str, str]:
    """A tool's final answer if there is one, else the fallback text; never the template's source."""
    mcp: Any = session.context.get("mcp")
    answer = mcp.get("finalAnswer") if isinstance(mcp, Mapping) else None
    if isinstance(answer, str) and not blank(answer) and answer.strip().lower() != "null":
        return answer, "context.mcp.finalAnswer"
    return read_text_setting(session, turn, FALLBACK_TEXT), "FALLBACK_TEXT"


def transform_payload(payload: Payload, session: Session, turn: Turn, *stages: str, row_id: Json = None) -> Payload:
    """The answer after the transformers of the stages, in order.

    If one fails, the answer stays and RESPONSE_TRANSFORM_FAILED is recorded.
    """
    for stage in stages:
        answer = turn.ports.transformers.transform(stage, payload, session)
        if answer.error_type is not None:
            turn.audit(
                session,
                RESPONSE_TRANSFORM_FAILED,
                stage=stage,
                transformer=answer.transformer,
                errorType=answer.error_type,
                errorMessage=answer.error_message,
            )
        elif answer.payload is not None:
            audit_transformed(
                session,
                turn,
                payload,
                answer.payload,
                by=str(answer.transformer),
                kind="TRANSFORMER",
                stage=stage,
                responseId=row_id,
            )
            payload = answer.payload
    return payload
