"""An answer with the row's own text, names filled in (pipeline-2 9.4)."""

import json
from collections.abc import Mapping
from typing import Any

from convengine.engine.prompts.render import has_expressions, list_names, render_lenient
from convengine.engine.prompts.variables import build_variables
from convengine.engine.steps.responses.settings import FALLBACK_TEXT
from convengine.engine.steps.responses.stages import EXACT_RESPONSE_RENDERING
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.payload import JsonPayload, Payload, TextPayload
from convengine.engine.turn.rows import Response
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn


def render_payload(row: Response, session: Session, turn: Turn) -> Payload:
    """The rendered text of an EXACT row; a blank or failed text is replaced by a fallback and recorded."""
    template = row.exact_text or ""
    text = template
    if has_expressions(template):
        wanted = {name.partition(".")[0] for name in list_names(template)}
        rendered = render_lenient(template, build_variables(session, turn, wanted))
        text = rendered.text
        if rendered.error or blank(text):
            text, used = _choose_fallback(session, turn)
            error = rendered.error
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
    if row.output_format != "JSON":
        return TextPayload(text)
    try:
        return JsonPayload(json.loads(text))
    except ValueError:
        return JsonPayload(text)


def _choose_fallback(session: Session, turn: Turn) -> tuple[str, str]:
    """A tool's final answer if there is one, else the fallback text; never the template's source."""
    mcp: Any = session.context.get("mcp")
    answer = mcp.get("finalAnswer") if isinstance(mcp, Mapping) else None
    if isinstance(answer, str) and not blank(answer) and answer.strip().lower() != "null":
        return answer, "context.mcp.finalAnswer"
    return turn.config(session, FALLBACK_TEXT), "FALLBACK_TEXT"
