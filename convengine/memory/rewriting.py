"""Summaries that a model writes, once the answer is given (pipeline-2 10.1, sessions 8, R90)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from convengine.domain.catalogue.memory import (
    ENABLED,
    LLM_EVERY_TURNS,
    RECENT_TURNS_FOR_SUMMARY,
    SUMMARY_MAX_CHARS,
    SUMMARY_MODE,
    SYSTEM_PROMPT,
    USER_PROMPT,
)
from convengine.domain.catalogue.session import SUMMARY_WITH_LLM
from convengine.domain.payload import spoken
from convengine.domain.session import Exchange, Session
from convengine.domain.stages import Stage
from convengine.domain.text import blank, excerpt
from convengine.domain.turn import Turn
from convengine.llm.ask import Question, Stages, ask
from convengine.memory.context_summary import asked, parsed, read, written
from convengine.memory.recall import BRANCH, own_summary
from convengine.memory.summary import one_line
from convengine.prompts.fill import filled_or_told
from convengine.prompts.variables import history_of

Json = Any
#: Where the branch of memory keeps the number of the turn after which the model wrote its summary.
WRITTEN_AFTER = "written_after_turn"
#: What models are asked for here.
PURPOSES = ("MEMORY", "SUMMARY")
_ERROR = Stage.MEMORY_LLM_ERROR
_STAGES = Stages(Stage.MEMORY_LLM_INPUT, Stage.MEMORY_LLM_OUTPUT, _ERROR)


def kept(session: Session, turn: Turn) -> str | None:
    """The summary that a model wrote and that stands until it writes again; null where none does."""
    if turn.config(session, SUMMARY_MODE) != "LLM" or written_after(session) is None:
        return None
    summary = own_summary(session)
    return summary if isinstance(summary, str) and not blank(summary) else None


def written_after(session: Session) -> int | None:
    """The number of the turn after which a model wrote the summary; null when none did."""
    branch = session.context.get(BRANCH)
    number = branch.get(WRITTEN_AFTER) if isinstance(branch, Mapping) else None
    return number if isinstance(number, int) else None


def due(session: Session, turn: Turn) -> bool:
    """True when a model is to write something after this turn."""
    if not turn.ports.model.configured:
        return False
    return turn.config(session, SUMMARY_WITH_LLM) or _memory_due(session, turn)


def rewritten(session: Session, turn: Turn) -> Session:
    """The session with what the model wrote; the same where it wrote nothing. A model that is out changes nothing."""
    if _memory_due(session, turn):
        session = _remembered(session, turn)
    return _summed_up(session, turn) if turn.config(session, SUMMARY_WITH_LLM) else session


def _memory_due(session: Session, turn: Turn) -> bool:
    if turn.config(session, SUMMARY_MODE) != "LLM" or not turn.config(session, ENABLED):
        return False
    before = written_after(session)
    rested = before is None or turn.turn_no - before >= turn.config(session, LLM_EVERY_TURNS)
    return rested and len(session.history) > turn.config(session, RECENT_TURNS_FOR_SUMMARY)


def folded(session: Session, turn: Turn, before: str) -> str | None:
    """What a model makes of a summary so far and the turns that it does not tell; null when it makes nothing of it."""
    after = written_after(session)
    prompts = filled_or_told(
        session,
        turn,
        _ERROR,
        system=turn.config(session, SYSTEM_PROMPT),
        user=turn.config(session, USER_PROMPT),
        selected={"configType": SYSTEM_PROMPT.type},
        memory_session_summary=before,
        conversation_history=_since(session, None if after is None else turn.turn_no - after),
    )
    if prompts is None:
        return None
    reply = ask(session, turn, _question("MEMORY", prompts.system, prompts.user))
    return None if reply.error else excerpt(one_line(reply.text), turn.config(session, SUMMARY_MAX_CHARS))


def _remembered(session: Session, turn: Turn) -> Session:
    """The summary so far and the turns since, folded into one paragraph."""
    summary = folded(session, turn, own_summary(session) or "")
    if summary is None:
        return session
    branch = {**session.context[BRANCH], "session_summary": summary, WRITTEN_AFTER: turn.turn_no}
    return session.with_context({BRANCH: branch}).with_params({"memory_session_summary": summary})


def _summed_up(session: Session, turn: Turn) -> Session:
    """The context summary in the model's words; one that breaks the shape leaves the one that was built."""
    built, last = session.context_summary, _exchange(session)
    reply = ask(session, turn, _question("SUMMARY", *asked(built, last.user, last.assistant)))
    if reply.error:
        return session
    told = parsed(reply.text)
    if told is None:
        message = "The answer is not the four lines that were asked for, so the summary that was built stays."
        turn.audit(session, _ERROR, errorCode="LLM_INVALID_RESPONSE", message=message)
        return session
    return session.evolve(context_summary=written(replace(told, turns=read(built).turns)))


def _since(session: Session, turns: int | None) -> list[Json]:
    return history_of(session.evolve(history=(*session.history, _exchange(session))), turns)


def _exchange(session: Session) -> Exchange:
    """This turn, as prompts see earlier ones."""
    return Exchange(session.user_text or "", spoken(session.last_assistant))


def _question(purpose: str, system: str, user: str) -> Question:
    told = {"purpose": purpose, "system_prompt": system, "user_prompt": user}
    return Question(purpose, system, user, stages=_STAGES, told=told, beside={"purpose": purpose})
