import pytest

from convengine.domain.payload import TextPayload
from convengine.domain.session import FinalResult, Session
from convengine.errors import PipelineNoFinalResult
from convengine.steps.pipeline_end_guard import PipelineEndGuardStep
from tests.builders import CONVERSATION, make_turn, payload


def test_the_timing_of_a_complete_turn_is_written() -> None:
    turn, answer = make_turn(), TextPayload("hi")
    session = Session(CONVERSATION, payload=answer, final_result=FinalResult("A", "B", answer, {}))

    PipelineEndGuardStep().execute(session, turn)

    assert payload(turn, "PIPELINE_TIMING")["status"] == "COMPLETED"


def test_a_turn_without_a_result_is_refused() -> None:
    with pytest.raises(PipelineNoFinalResult):
        PipelineEndGuardStep().execute(Session(CONVERSATION), make_turn())
