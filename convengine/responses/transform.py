"""What registered code makes of an answer before anything of it is stored (pipeline-2 9.6)."""

from convengine.domain.payload import Payload
from convengine.domain.session import Session
from convengine.domain.stages import Stage
from convengine.domain.turn import Turn

#: What a response row produced; and every answer, whoever decided it.
LLM = "LLM"
FINAL = "FINAL"


def transformed(payload: Payload, session: Session, turn: Turn, *stages: str) -> Payload:
    """The answer after the transformers of the stages, in order.

    One that fails leaves the answer as it was, and RESPONSE_TRANSFORM_FAILED in the trail.
    """
    for stage in stages:
        answer = turn.ports.transformers.transform(stage, payload, session)
        if answer.error_type is not None:
            turn.audit(
                session,
                Stage.RESPONSE_TRANSFORM_FAILED,
                stage=stage,
                transformer=answer.transformer,
                errorType=answer.error_type,
                errorMessage=answer.error_message,
            )
        elif answer.payload is not None:
            payload = answer.payload
    return payload
