"""The memory of a conversation: recalled at the start of a turn, written at its end, summed up, also by a model."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from convengine.engine.llm.ask import ModelQuestion, Stages, ask
from convengine.engine.memory.context_summary import (
    build_prompts,
    flatten_line,
    format_summary,
    parse_model_summary,
    parse_summary,
)
from convengine.engine.memory.settings import (
    ENABLED,
    LLM_EVERY_TURNS,
    RECENT_TURNS_FOR_SUMMARY,
    SUMMARY_MAX_CHARS,
    SUMMARY_MODE,
    SUMMARY_WITH_LLM,
    SYSTEM_PROMPT,
    USER_PROMPT,
)
from convengine.engine.memory.stages import MEMORY_LLM_ERROR, MEMORY_LLM_INPUT, MEMORY_LLM_OUTPUT, MEMORY_STORE_ERROR
from convengine.engine.prompts.fill import fill_prompts_or_audit
from convengine.engine.prompts.variables import list_history
from convengine.engine.text.compare import blank, shorten
from convengine.engine.turn.owned_params import MemoryParams
from convengine.engine.turn.payload import TextPayload, to_spoken_text
from convengine.engine.turn.ports import MemoryAnswer
from convengine.engine.turn.session import Exchange, Session
from convengine.engine.turn.turn import Turn
from convengine.json_value import Json

#: The branch of the context for memory.
BRANCH = "memory"
#: The key in the memory branch for the number of the turn after which the model wrote its summary.
WRITTEN_AFTER = "written_after_turn"
#: Purposes of these model calls.
PURPOSES = ("MEMORY", "SUMMARY")
_ERROR = MEMORY_LLM_ERROR
_STAGES = Stages(MEMORY_LLM_INPUT, MEMORY_LLM_OUTPUT, _ERROR)


def recall_memory(session: Session, turn: Turn) -> Session:
    """Set `memory_recall` if there is any memory.

    The first registered store that returns something, else the conversation's own last summary, else the summary of the
    thread's earlier session.
    """
    if not turn.config(session, ENABLED):
        return session
    answer = turn.ports.memory.read(session)
    audit_store_faults(session, turn, "read", answer)
    for text in (answer.text, get_own_summary(session), turn.ports.conversations.load().memory_recall):
        if isinstance(text, str) and not blank(text):
            return set_recall(session, text)
    return session


def set_recall(session: Session, text: str) -> Session:
    """Set a text as `memory_recall`. A text from elsewhere is in the context from now on."""
    session = session.with_values(MemoryParams(memory_recall=text))
    if text == get_own_summary(session):
        return session
    return session.with_context({BRANCH: {**_get_branch(session), "recalled_summary": text}})


def build_branch(session: Session, summary: str) -> dict[str, Json]:
    """`context.memory` after the turn. Recalled text from elsewhere stays for the whole session."""
    recalled = session.memory.memory_recall
    elsewhere = recalled if recalled != get_own_summary(session) else _get_branch(session).get("recalled_summary")
    return {"session_summary": summary, **({"recalled_summary": elsewhere} if elsewhere else {})}


def get_own_summary(session: Session) -> Json:
    """The summary that the conversation's last turn stored, or None."""
    return _get_branch(session).get("session_summary")


def audit_store_faults(session: Session, turn: Turn, operation: str, answer: MemoryAnswer) -> None:
    """Write one MEMORY_STORE_ERROR for each store that failed. A store never fails a turn."""
    for fault in answer.faults:
        turn.audit(
            session,
            MEMORY_STORE_ERROR,
            store=fault.store,
            operation=operation,
            errorType=fault.error_type,
            errorMessage=fault.error_message,
        )


def _get_branch(session: Session) -> Mapping[str, Json]:
    branch = session.context.get(BRANCH)
    return branch if isinstance(branch, Mapping) else {}


def get_model_summary(session: Session, turn: Turn) -> str | None:
    """The summary that a model wrote and that still applies. Returns None if there is none."""
    if turn.config(session, SUMMARY_MODE) != "LLM" or get_turn_of_summary(session) is None:
        return None
    summary = get_own_summary(session)
    return summary if isinstance(summary, str) and not blank(summary) else None


def get_turn_of_summary(session: Session) -> int | None:
    """The number of the turn after which a model wrote the summary. Returns None if there is none."""
    branch = session.context.get(BRANCH)
    number = branch.get(WRITTEN_AFTER) if isinstance(branch, Mapping) else None
    return number if isinstance(number, int) else None


def is_due(session: Session, turn: Turn) -> bool:
    """True when a model should write something after this turn."""
    if not turn.ports.model.configured:
        return False
    return turn.config(session, SUMMARY_WITH_LLM) or _is_memory_due(session, turn)


def rewrite_summaries(session: Session, turn: Turn) -> Session:
    """The session with the model's summaries. An unavailable model changes nothing."""
    writes_memory = _is_memory_due(session, turn)
    if writes_memory and (summary := fold_summary(session, turn, get_own_summary(session) or "")) is not None:
        branch = {**session.context[BRANCH], "session_summary": summary, WRITTEN_AFTER: turn.turn_no}
        session = session.with_context({BRANCH: branch}).with_values(MemoryParams(memory_session_summary=summary))
    return _rewrite_context_summary(session, turn) if turn.config(session, SUMMARY_WITH_LLM) else session


def _is_memory_due(session: Session, turn: Turn) -> bool:
    if turn.config(session, SUMMARY_MODE) != "LLM" or not turn.config(session, ENABLED):
        return False
    before = get_turn_of_summary(session)
    rested = before is None or turn.turn_no - before >= turn.config(session, LLM_EVERY_TURNS)
    return rested and len(session.history) > turn.config(session, RECENT_TURNS_FOR_SUMMARY)


def fold_summary(session: Session, turn: Turn, before: str) -> str | None:
    """The model's summary of an earlier summary and the turns after it. Returns None if there is none."""
    after = get_turn_of_summary(session)
    with_this_turn = session.evolve(history=(*session.history, _build_exchange(session)))
    prompts = fill_prompts_or_audit(
        session,
        turn,
        _ERROR,
        system=turn.config(session, SYSTEM_PROMPT),
        user=turn.config(session, USER_PROMPT),
        selected={"configType": SYSTEM_PROMPT.type},
        memory_session_summary=before,
        conversation_history=list_history(with_this_turn, None if after is None else turn.turn_no - after),
    )
    if prompts is None:
        return None
    reply = ask(session, turn, _build_question("MEMORY", prompts.system, prompts.user))
    return None if reply.error else shorten(flatten_line(reply.text), turn.config(session, SUMMARY_MAX_CHARS))


def _rewrite_context_summary(session: Session, turn: Turn) -> Session:
    """The context summary in the model's words. If its form is wrong, the built one stays."""
    built, last = session.context_summary, _build_exchange(session)
    reply = ask(session, turn, _build_question("SUMMARY", *build_prompts(built, last.user, last.assistant)))
    if reply.error:
        return session
    parts = parse_model_summary(reply.text)
    if parts is None:
        message = "The answer is not the four lines that were asked for, so the summary that was built stays."
        turn.audit(session, _ERROR, errorCode="LLM_INVALID_RESPONSE", message=message)
        return session
    return session.evolve(context_summary=format_summary(replace(parts, turns=parse_summary(built).turns)))


def _build_exchange(session: Session) -> Exchange:
    """This turn, as prompts see earlier ones."""
    return Exchange(session.user_text or "", to_spoken_text(session.last_assistant))


def _build_question(purpose: str, system: str, user: str) -> ModelQuestion:
    audit_payload = {"purpose": purpose, "system_prompt": system, "user_prompt": user}
    return ModelQuestion(
        purpose, system, user, stages=_STAGES, audit_payload=audit_payload, beside={"purpose": purpose}
    )


def build_session_summary(session: Session, *, recent_turns: int, max_chars: int) -> str:
    """One line: intent, state, the user's text, the newest turns, and the answer if it is a text.

    Never longer than `max_chars`: the oldest turns are dropped first, then the user's text is shortened, then the
    answer.
    """
    head = f"intent={flatten_line(session.intent)}, state={flatten_line(session.state)}, user="
    user = flatten_line(session.user_text)
    answer = session.payload
    tail = f", response={flatten_line(answer.value)}" if isinstance(answer, TextPayload) else ""
    recent = session.history[-recent_turns:] if recent_turns > 0 else ()
    while recent and len(head) + len(user) + len(_format_turns(recent)) + len(tail) > max_chars:
        recent = recent[1:]
    if not recent:
        room = max_chars - len(head) - len(tail)
        user = shorten(user, room) if room > 0 else ""
    return f"{head}{user}{_format_turns(recent)}{tail}"[:max_chars]


def _format_turns(recent: Sequence[Exchange]) -> str:
    texts = (f"{{u={flatten_line(turn.user)},a={flatten_line(turn.assistant)}}}" for turn in recent)
    return f", recentTurns=[{', '.join(texts)}]" if recent else ""
