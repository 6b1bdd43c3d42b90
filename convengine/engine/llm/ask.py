"""The only way to call a model: within budgets, validated, recorded in events and in the call log."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from convengine.engine.llm import settings as catalogue
from convengine.engine.llm.faults import ModelFault
from convengine.engine.llm.reply import UnusableAnswer, clean_answer, read_json, validate_value
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.codec import dumps
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.ports import LlmRequest, ModelCall
from convengine.engine.turn.session import Session
from convengine.engine.turn.stage import Stage
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: How much of an unusable answer the model sees again.
_SHOWN = 4000


@dataclass(frozen=True)
class Stages:
    """The stages that a caller writes. Each may be missing."""

    input: Stage | None = None
    output: Stage | None = None
    error: Stage | None = None


@dataclass(frozen=True)
class ModelQuestion:
    """The prompt for a model and its purpose."""

    #: One of `PURPOSES`: the qualifier of the settings.
    purpose: str
    system: str
    user: str
    #: Data beside the prompt, if there are any.
    context: Json = None
    #: With a schema the answer is JSON. With `want_json` the answer is JSON without a schema.
    json_schema: Mapping[str, Json] | None = None
    want_json: bool = False
    #: Validate the answer by the schema, and ask the service to keep it.
    strict: bool = False
    #: Only the first property must keep the schema, which is what is asked for; the caller reads the others as it can.
    lenient: bool = False
    #: The temperature of a template. None for the setting of the purpose.
    temperature: float | None = None
    template_id: int | None = None
    stages: Stages = Stages()
    #: The payload of the input stage. None for system_prompt, user_prompt and the schema.
    audit_payload: Mapping[str, Json] | None = None
    #: The key of the answer in the output stage; blank for `json` or `output`.
    answered: str = ""
    #: More of the payload of the output stage.
    beside: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_json(self) -> bool:
        return self.want_json or self.json_schema is not None


@dataclass(frozen=True)
class Reply:
    """A model's answer, or why there is no usable one."""

    text: str = ""
    #: The parsed answer of a JSON prompt.
    value: Json = None
    error: ModelFault | None = None


def ask(session: Session, turn: Turn, question: ModelQuestion) -> Reply:
    """Call the model. Never raises for a fault: the reply has it.

    The error stage records the fault, except that nothing at all is recorded if no model is configured.
    An unusable JSON answer goes back once, with its error, unless it is empty.
    """
    if not turn.ports.model.configured:
        return Reply(error=ModelFault("LLM_NOT_CONFIGURED", "No model is configured."))
    prompts = {"system_prompt": question.system, "user_prompt": question.user}
    schema = {} if question.json_schema is None else {"schema": question.json_schema}
    described = {**prompts, **schema} if question.audit_payload is None else question.audit_payload
    _audit_stage(session, turn, question.stages.input, described)
    reply = _call_within_budget(session, turn, question, question.user)
    if question.is_json and reply.error and not blank(reply.text):
        reply = _ask_again(session, turn, question, reply)
    if not blank(reply.text):
        answer = reply.text if reply.value is None else reply.value
        name = question.answered or ("json" if question.is_json else "output")
        _audit_stage(session, turn, question.stages.output, {name: answer, **question.beside})
    if fault := reply.error:
        details = {"errorCode": fault.code, "message": fault.message, "exception": fault.name}
        _audit_stage(session, turn, question.stages.error, details)
    return reply


def _ask_again(session: Session, turn: Turn, question: ModelQuestion, first: Reply) -> Reply:
    """Ask once more. If the model gives no second answer, the reply has the first fault."""
    problem = first.error.message if first.error else ""
    prompt = (
        f"{question.user}\n\nYour last answer could not be used. {problem}\nIt was:\n{shorten(first.text, _SHOWN)}\n\n"
        "Answer again, with one JSON value in the shape that was asked for and nothing else."
    )
    again = _call_within_budget(session, turn, question, prompt)
    reply = again if again.text or not again.error else first
    return replace(reply, error=None) if question.lenient and reply.value is not None else reply


def _audit_stage(session: Session, turn: Turn, stage: Stage | None, payload: Mapping[str, Json]) -> None:
    if stage:
        turn.audit(session, stage, **payload)


def _call_within_budget(session: Session, turn: Turn, question: ModelQuestion, user: str) -> Reply:
    if fault := find_exceeded_budget(session, turn):
        return Reply(error=fault)
    request = _build_request(session, turn, replace(question, user=user))
    answer = turn.ports.model.complete(request)
    now, calls, seq = turn.ports.clock.elapsed_ms(), turn.model_calls, len(turn.trail.events)
    # A second prompt about the same answer continues the count. The commit writes a row for each attempt.
    before = calls[-1].attempt if calls and request.user != question.user else 0
    for number, attempt in enumerate(answer.attempts, start=before + 1):
        calls.append(ModelCall(request, attempt, number, session.intent, session.state, question.template_id, now, seq))
    if answer.error_code:
        return Reply(error=ModelFault(answer.error_code, answer.error_message or ""))
    reply = _read_answer(answer.text, question)
    if fault := reply.error:
        # The service answered, but the answer is unusable; the call log says so.
        unusable = replace(answer, error_code=fault.code, error_message=fault.message)
        calls[-1] = replace(calls[-1], answer=unusable)
    return reply


def _build_request(session: Session, turn: Turn, question: ModelQuestion) -> LlmRequest:
    purpose = question.purpose
    total = count_ms_left(session, turn)
    temperature = question.temperature
    if temperature is None:
        temperature = turn.config(session, catalogue.TEMPERATURE, purpose)
    preferred = session.preferences.get("model") or ""
    is_allowed = preferred != "" and turn.ports.model.allows(preferred)
    return LlmRequest(
        purpose,
        question.system,
        question.user,
        "{}" if question.context is None else dumps(question.context),
        question.json_schema if question.json_schema is not None else {"type": "object"} if question.is_json else None,
        question.strict or question.lenient,
        temperature,
        preferred if is_allowed else turn.config(session, catalogue.MODEL, purpose).strip(),
        min(turn.config(session, catalogue.TIMEOUT_SECONDS, purpose) * 1000, total),
        total,
        min(turn.config(session, catalogue.MAX_ATTEMPTS, purpose), count_calls_left(session, turn)),
    )


def _read_answer(whole_text: str, question: ModelQuestion) -> Reply:
    """The usable part of what a model said. The call log has all of it."""
    text = clean_answer(whole_text)
    if not question.is_json:
        return Reply(text, error=ModelFault("LLM_EMPTY_RESPONSE", "empty response") if blank(text) else None)
    value = None
    try:
        value = read_json(whole_text)
        if question.strict and question.json_schema is not None:
            validate_value(value, question.json_schema)
        elif question.lenient and question.json_schema is not None:
            validate_value(value, _require_first(question.json_schema))
    except UnusableAnswer as unusable:
        return Reply(text, value, unusable.fault)
    return Reply(text, value)


def _require_first(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    """A schema that requires nothing but the first property."""
    declared = schema.get("properties")
    first = next(iter(declared), None) if isinstance(declared, Mapping) else None
    if not isinstance(declared, Mapping) or first is None:
        return {"type": "object"}
    return {"type": "object", "properties": {first: declared[first]}, "required": [first]}


def find_exceeded_budget(session: Session, turn: Turn) -> ModelFault | None:
    """The exhausted budget, or null. Time comes from the calls themselves, so that a replay counts the same."""
    answers = [call.answer for call in turn.model_calls]
    tokens = sum((answer.input_tokens or 0) + (answer.output_tokens or 0) for answer in answers)
    spent: tuple[tuple[Setting[int], int], ...] = (
        (catalogue.MAX_CALLS_PER_TURN, len(turn.model_calls)),
        (catalogue.MAX_MS_PER_TURN, count_used_ms(turn)),
        (catalogue.MAX_TOKENS_PER_TURN, tokens),
    )
    for setting, used in spent:
        limit = turn.config(session, setting)
        # A token limit of 0 means no limit; the other two are at least 1.
        if limit and used >= limit:
            return _build_fault(setting.name, limit, used)
    most = turn.config(session, catalogue.MAX_COST_PER_CONVERSATION)
    if not most:
        return None
    # Only with a limit, because it costs a database query.
    cost = turn.ports.model.sum_cost(session.conversation_id) + sum(answer.cost or 0.0 for answer in answers)
    return _build_fault(catalogue.MAX_COST_PER_CONVERSATION.name, most, cost) if cost >= most else None


def count_calls_left(session: Session, turn: Turn) -> int:
    """How many attempts this turn may still make."""
    return turn.config(session, catalogue.MAX_CALLS_PER_TURN) - len(turn.model_calls)


def count_ms_left(session: Session, turn: Turn) -> int:
    """How many milliseconds the model calls of this turn may still take."""
    return turn.config(session, catalogue.MAX_MS_PER_TURN) - count_used_ms(turn)


def count_used_ms(turn: Turn) -> int:
    """How many milliseconds the model calls of this turn took."""
    return sum(call.answer.latency_ms for call in turn.model_calls)


def _build_fault(name: str, limit: float, used: float) -> ModelFault:
    return ModelFault("LLM_BUDGET_EXCEEDED", f"{name} is {limit:g}, and {used:g} is used. Raise it, or ask less often.")
