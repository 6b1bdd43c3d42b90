"""The question which action is meant, in a model's words (pipeline-1 12 (6))."""

from collections.abc import Collection, Mapping
from typing import Any

from convengine.domain.catalogue.interaction import ENABLE_LLM, LLM_SYSTEM_PROMPT, LLM_USER_PROMPT
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn
from convengine.llm.ask import Question, Stages, ask
from convengine.prompts.fill import filled_or_told

_ERROR = Stage.DISAMBIGUATION_LLM_ERROR
_STAGES = Stages(Stage.DISAMBIGUATION_LLM_INPUT, Stage.DISAMBIGUATION_LLM_OUTPUT, _ERROR)
#: The model's text does not name every option: it would hide one from the user.
OPTION_OMITTED = "OPTION_OMITTED"


def worded(session: Session, turn: Turn, names: Mapping[str, Any], keys: Collection[str]) -> str:
    """The model's question, which names each of the keys; blank where it is not to be asked, or gives none."""
    if not turn.config(session, ENABLE_LLM) or not turn.ports.model.configured:
        return ""
    prompts = filled_or_told(
        session,
        turn,
        _ERROR,
        system=turn.config(session, LLM_SYSTEM_PROMPT),
        user=turn.config(session, LLM_USER_PROMPT),
        selected={"configType": LLM_SYSTEM_PROMPT.type},
        **names,
    )
    if prompts is None:
        return ""
    reply = ask(session, turn, Question("DISAMBIGUATION", prompts.system, prompts.user, stages=_STAGES))
    if reply.error:
        return ""
    omitted = [key for key in keys if key.lower() not in reply.text.lower()]
    if omitted:
        message = "The question does not name every option, so the template's is asked."
        turn.audit(session, _ERROR, errorCode=OPTION_OMITTED, message=message, omitted=omitted)
    return "" if omitted else reply.text.strip()
