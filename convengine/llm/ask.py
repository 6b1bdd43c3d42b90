"""The one way to ask a model: within budgets, judged, told in the trail and in the call log (pipeline-2 15)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from convengine.codec import dumps
from convengine.domain.catalogue import llm as catalogue
from convengine.domain.ports import LlmAnswer, LlmRequest, ModelCall
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, excerpt
from convengine.domain.turn import Turn
from convengine.llm import budget
from convengine.llm.faults import ModelFault
from convengine.llm.reply import Unusable, hold, read_json

Json = Any
#: How much of an unusable answer is shown to the model again.
_SHOWN = 4000


@dataclass(frozen=True)
class Stages:
    """What a call site writes to the trail; null where its page names no stage."""

    input: Stage | None = None
    output: Stage | None = None
    error: Stage | None = None


@dataclass(frozen=True)
class Question:
    """What a model is asked, and for what."""

    #: One of `catalogue.llm.PURPOSES`: the qualifier of the settings.
    purpose: str
    system: str
    user: str
    #: Data that goes along, set apart from the words of the prompt; null for none.
    context: Json = None
    #: With a schema the answer is JSON; with `want_json` too, without one.
    json_schema: Mapping[str, Json] | None = None
    want_json: bool = False
    #: The answer is held against the schema, and the service is asked to keep it.
    strict: bool = False
    #: The service is asked to keep the schema, and the caller reads what it can of the answer: it has something to fall
    #: back on, so that an answer is neither held against the schema nor given back.
    lenient: bool = False
    #: A template's own; null for the setting of the purpose.
    temperature: float | None = None
    template_id: int | None = None
    stages: Stages = Stages()
    #: The payload of the input stage; null for system_prompt, user_prompt and the schema.
    told: Mapping[str, Json] | None = None
    #: The name under which the answer stands in the output stage; blank for `json` or `output`.
    answered: str = ""
    #: More of the payload of the output stage.
    beside: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_json(self) -> bool:
        """True when the answer is to be JSON."""
        return self.want_json or self.json_schema is not None


@dataclass(frozen=True)
class Reply:
    """A model's answer, or why there is none that can be used."""

    text: str = ""
    #: The parsed answer to a JSON question.
    value: Json = None
    error: ModelFault | None = None


def ask(session: Session, turn: Turn, question: Question) -> Reply:
    """Ask the model. Never raises for a fault of the model: the reply carries it, and the error stage tells it.

    An answer in JSON that cannot be used is given back once, with what is wrong with it.
    """
    if not turn.ports.model.configured:
        return Reply(error=ModelFault("LLM_NOT_CONFIGURED", "No model is configured."))
    _tell(session, turn, question.stages.input, _asked(question))
    reply = _asked_within_budget(session, turn, question, question.user)
    if question.is_json and not question.lenient and reply.error and not blank(reply.text):
        again = _asked_within_budget(session, turn, question, _repair(question.user, reply))
        # Without a second answer the first fault is the one to tell.
        reply = again if again.text or not again.error else reply
    if not blank(reply.text):
        said = reply.text if reply.value is None else reply.value
        name = question.answered or ("json" if question.is_json else "output")
        _tell(session, turn, question.stages.output, {name: said, **question.beside})
    if fault := reply.error:
        told = {"errorCode": fault.code, "message": fault.message, "exception": fault.name}
        _tell(session, turn, question.stages.error, told)
    return reply


def _tell(session: Session, turn: Turn, stage: Stage | None, payload: Mapping[str, Json]) -> None:
    if stage:
        turn.audit(session, stage, **payload)


def _asked(question: Question) -> Mapping[str, Json]:
    if question.told is not None:
        return question.told
    prompts = {"system_prompt": question.system, "user_prompt": question.user}
    return {**prompts, "schema": question.json_schema} if question.json_schema is not None else prompts


def _asked_within_budget(session: Session, turn: Turn, question: Question, user: str) -> Reply:
    if fault := budget.exceeded(session, turn):
        return Reply(error=fault)
    request = _request(session, turn, replace(question, user=user))
    answer = turn.ports.model.complete(request)
    _log(session, turn, question, request, answer)
    if answer.error_code:
        return Reply(error=ModelFault(answer.error_code, answer.error_message or ""))
    reply = _read(answer.text, question)
    if fault := reply.error:
        # The service answered, and the answer is of no use: the call log says so.
        unusable = replace(answer, error_code=fault.code, error_message=fault.message)
        turn.model_calls[-1] = replace(turn.model_calls[-1], answer=unusable)
    return reply


def _request(session: Session, turn: Turn, question: Question) -> LlmRequest:
    purpose = question.purpose
    total = budget.ms_left(session, turn)
    temperature = question.temperature
    if temperature is None:
        temperature = turn.config(session, catalogue.TEMPERATURE, purpose)
    return LlmRequest(
        purpose,
        question.system,
        question.user,
        "{}" if question.context is None else dumps(question.context),
        question.json_schema if question.json_schema is not None else {"type": "object"} if question.is_json else None,
        question.strict or question.lenient,
        temperature,
        _model(session, turn, purpose),
        min(turn.config(session, catalogue.TIMEOUT_SECONDS, purpose) * 1000, total),
        total,
        min(turn.config(session, catalogue.MAX_ATTEMPTS, purpose), budget.calls_left(session, turn)),
    )


def _model(session: Session, turn: Turn, purpose: str) -> str:
    """What the session prefers while there is such a model, else what the settings say."""
    preferred = session.preferences.get("model")
    if preferred and turn.ports.model.allows(preferred):
        return preferred
    return turn.config(session, catalogue.MODEL, purpose).strip()


def _log(session: Session, turn: Turn, question: Question, request: LlmRequest, answer: LlmAnswer) -> None:
    """Leave a row of the call log for each try; the commit writes them (R60)."""
    now, calls = turn.ports.clock.elapsed_ms(), turn.model_calls
    # A second question about the same answer counts on.
    before = calls[-1].attempt if calls and request.user != question.user else 0
    for place, one in enumerate(answer.attempts, start=before + 1):
        calls.append(ModelCall(request, one, place, session.intent, session.state, question.template_id, now))


def _read(text: str, question: Question) -> Reply:
    if not question.is_json:
        return Reply(text, error=ModelFault("LLM_EMPTY_RESPONSE", "empty response") if blank(text) else None)
    value = None
    try:
        value = read_json(text)
        if question.strict and question.json_schema is not None:
            hold(value, question.json_schema)
    except Unusable as unusable:
        return Reply(text, value, unusable.fault)
    return Reply(text, value)


def _repair(user: str, reply: Reply) -> str:
    problem = reply.error.message if reply.error else ""
    return (
        f"{user}\n\nYour last answer could not be used. {problem}\nIt was:\n{excerpt(reply.text, _SHOWN)}\n\n"
        "Answer again, with one JSON value in the shape that was asked for and nothing else."
    )
