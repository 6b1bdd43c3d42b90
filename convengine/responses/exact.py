"""An answer as its row says it, names filled in (pipeline-2 9.4)."""

import json
from collections.abc import Mapping
from typing import Any

from convengine.domain.catalogue.response import FALLBACK_TEXT
from convengine.domain.payload import JsonPayload, Payload, TextPayload
from convengine.domain.rows import Response
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, excerpt
from convengine.domain.turn import Turn
from convengine.prompts.render import has_expressions, names, render_lenient
from convengine.prompts.variables import template_variables


def exact_payload(row: Response, session: Session, turn: Turn) -> Payload:
    """The rendered text of an EXACT row; a text that renders blank or not at all falls back and says so."""
    template = row.exact_text or ""
    text = template
    if has_expressions(template):
        wanted = {name.partition(".")[0] for name in names(template)}
        rendered = render_lenient(template, template_variables(session, turn, wanted))
        text = rendered.text
        if rendered.error or blank(text):
            text, used = _fallback(session, turn)
            error = rendered.error
            turn.audit(
                session,
                Stage.EXACT_RESPONSE_RENDERING,
                component="ResponseResolutionStep",
                fallbackUsed=used,
                errorClass=type(error).__name__ if error else None,
                errorMessage=str(error) if error else None,
                templatePreview=excerpt(template, 500),
                responseId=row.response_id,
            )
    if row.output_format != "JSON":
        return TextPayload(text)
    try:
        return JsonPayload(json.loads(text))
    except ValueError:
        return JsonPayload(text)


def _fallback(session: Session, turn: Turn) -> tuple[str, str]:
    """A tool's final answer if there is one, else the fallback text: never the template's source."""
    mcp: Any = session.context.get("mcp")
    answer = mcp.get("finalAnswer") if isinstance(mcp, Mapping) else None
    if isinstance(answer, str) and not blank(answer) and answer.strip().lower() != "null":
        return answer, "context.mcp.finalAnswer"
    return turn.config(session, FALLBACK_TEXT), "FALLBACK_TEXT"
