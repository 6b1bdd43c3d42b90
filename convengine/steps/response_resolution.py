"""ResponseResolutionStep: choose the answer and produce it (pipeline-2 9)."""

from typing import Any

from convengine.continuity.ending import answer_at_the_edge
from convengine.domain.catalogue.response import FALLBACK_TEXT, ON_MISSING
from convengine.domain.catalogue.session import FRESH_START_TEXT, STALE_TEXT
from convengine.domain.enums import DecisionKind, OutputFormat, ResponseType
from convengine.domain.facts import schema_values
from convengine.domain.outcome import Continue
from convengine.domain.payload import JsonPayload, Payload, TextPayload, stored
from convengine.domain.rows import Response
from convengine.domain.scope import INTENT_COLLISION
from convengine.domain.session import ReplyOverride, Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, code
from convengine.domain.turn import Turn
from convengine.errors import NoResponseConfigured, ResponseMappingNotFound
from convengine.intents.clarified import clarified, is_askable
from convengine.pipeline.step import Step
from convengine.responses.derived import derived_payload
from convengine.responses.exact import exact_payload
from convengine.responses.select import choose_response
from convengine.responses.transform import FINAL, LLM, transformed
from convengine.state_graph.override import overridden

#: Overrides that come before the question of an intent collision (R36).
_FIRST = frozenset({"RESET", "RESUME", "GUARDRAIL"})


class ResponseResolutionStep(Step):
    """An override, else the collision question, else the response row."""

    after = ("StateGraphStep",)
    rank = 2400
    requires_persisted = True
    writes = frozenset(
        {
            "payload", "last_assistant", "last_llm_output", "last_llm_stage", "clarification", "intent", "state",
            "transitions", "reply_override",
        }
    )  # fmt: skip

    def execute(self, session: Session, turn: Turn) -> Continue:
        """Raises ResponseMappingNotFound when no row fits and ON_MISSING is ERROR, and what stops a model's answer."""
        override = session.reply_override
        if override and override.source in _FIRST:
            return Continue(_say(session, turn, TextPayload(override.text), "OVERRIDE", source=override.source))
        if code(session.state) == INTENT_COLLISION and is_askable(session, turn.snapshot):
            session, question = clarified(session, turn)
            return Continue(_say(session, turn, TextPayload(question), "COLLISION"))
        if override := override or answer_at_the_edge(session, turn):
            session = session.evolve(reply_override=override)
            return Continue(_say(session, turn, TextPayload(override.text), "OVERRIDE", source=override.source))
        return Continue(_by_row(session, turn))


def _by_row(session: Session, turn: Turn) -> Session:
    choice = choose_response(turn.snapshot, session.intent, session.state)
    turn.decide(
        session,
        DecisionKind.RESPONSE,
        key={"intent": session.intent, "state": session.state},
        winner=choice.winner,
        candidates=choice.candidates(),
        cut=choice.cut,
    )
    row = choice.winner
    if row is None:
        return _missing(session, turn)
    turn.audit(session, Stage.RESOLVE_RESPONSE, responseId=row.response_id, intent=session.intent, state=session.state)
    _check_kind(row)
    written = derived_payload(row, session, turn) if code(row.response_type) == ResponseType.DERIVED else None
    payload = written or _exact(row, session, turn)
    stage = f"RESPONSE_{code(row.output_format)}" if written else "RESPONSE_EXACT"
    session = session.evolve(last_llm_output=payload.value, last_llm_stage=stage)
    if isinstance(written, JsonPayload):
        session = overridden(session, turn, written.value)
    payload = transformed(payload, session, turn, LLM)
    return _say(session, turn, payload, row.response_type, responseId=row.response_id)


def _exact(row: Response, session: Session, turn: Turn) -> Payload:
    payload = exact_payload(row, session, turn)
    turn.audit(session, Stage.RESPONSE_EXACT, text=payload.value)
    return payload


def _check_kind(row: Response) -> None:
    if OutputFormat.read(row.output_format) is None or ResponseType.read(row.response_type) is None:
        raise NoResponseConfigured(
            f"Response {row.response_id} has type {row.response_type!r} and format {row.output_format!r}; "
            "use EXACT or DERIVED, and TEXT or JSON."
        )


def _missing(session: Session, turn: Turn) -> Session:
    """No row: a reset is acknowledged (R22); else the turn fails, or the fallback text answers (R11)."""
    if session.reset_only:
        override = ReplyOverride(turn.config(session, FRESH_START_TEXT), "RESET")
        return _say(session, turn, TextPayload(override.text), "OVERRIDE", source=override.source)
    turn.audit(session, Stage.RESPONSE_MAPPING_NOT_FOUND, intent=session.intent, state=session.state)
    if turn.config(session, ON_MISSING) == "FALLBACK":
        return _say(session, turn, TextPayload(turn.config(session, FALLBACK_TEXT)), "FALLBACK")
    raise ResponseMappingNotFound(
        f"No response row fits intent {session.intent} in state {session.state}. "
        "Add one, or one for ANY, or set ResponseResolutionStep/ON_MISSING to FALLBACK."
    )


def _welcomed(payload: Payload, session: Session, turn: Turn) -> Payload:
    """The answer, preceded by a word on the session that it replaces, where that became stale (R80)."""
    if not turn.request.after_stale or not isinstance(payload, TextPayload):
        return payload
    text = turn.config(session, STALE_TEXT)
    return payload if blank(text) else TextPayload(f"{text}\n\n{payload.value}")


def _say(session: Session, turn: Turn, payload: Payload, response_type: str, **about: Any) -> Session:
    payload = transformed(_welcomed(payload, session, turn), session, turn, FINAL)
    session = session.evolve(payload=payload, last_assistant=stored(payload))
    turn.audit(
        session,
        Stage.ASSISTANT_OUTPUT,
        output=payload.value,
        outputFormat="JSON" if isinstance(payload, JsonPayload) else "TEXT",
        responseType=response_type,
        **about,
        intent=session.intent,
        state=session.state,
        context=session.context,
        schemaJson=schema_values(session),
    )
    return session
