import pytest

from convengine.engine.errors import PipelineNoFinalResult
from convengine.engine.steps.conversation.pipeline_end_guard import PipelineEndGuardStep
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.session import FinalResult, Session
from tests.builders import CONVERSATION, make_turn, payload


def test_the_timing_of_a_complete_turn_is_written() -> None:
    turn, answer = make_turn(), TextPayload("hi")
    session = Session(CONVERSATION, payload=answer, final_result=FinalResult("A", "B", answer, {}))

    PipelineEndGuardStep().execute(session, turn)

    assert payload(turn, "PIPELINE_TIMING")["status"] == "COMPLETED"


def test_a_turn_without_a_result_is_refused() -> None:
    with pytest.raises(PipelineNoFinalResult):
        PipelineEndGuardStep().execute(Session(CONVERSATION), make_turn())
