from convengine.engine.pipeline.timing import audit_timing
from convengine.engine.turn.ports import LlmAnswer, LlmRequest, ModelCall
from convengine.engine.turn.session import Session, StepTiming
from convengine.engine.turn.turn import Turn
from tests.builders import make_turn, payload


def make_timed_turn(*timings: StepTiming) -> Turn:
    turn = make_turn()
    turn.timings.extend(timings)
    audit_timing(Session("c"), turn, "COMPLETED")
    return turn


def test_P2_12_V1_the_total_is_the_sum_of_the_steps() -> None:
    turn = make_timed_turn(StepTiming("A", 0, 5, True), StepTiming("B", 5, 7, True), StepTiming("C", 12, 1, True))

    assert payload(turn, "PIPELINE_TIMING")["totalMs"] == 13


def test_P2_12_V2_a_failed_step_is_marked() -> None:
    turn = make_timed_turn(StepTiming("A", 0, 5, True), StepTiming("B", 5, 7, False, "ValueError: x"))

    assert payload(turn, "PIPELINE_TIMING")["steps"] == "A=5ms, B=7ms(ERR)"


def test_P2_12_V5_steps_stand_in_the_order_in_which_they_began() -> None:
    turn = make_timed_turn(StepTiming("B", 5, 7, True), StepTiming("A", 0, 5, True))

    assert [item["step"] for item in payload(turn, "PIPELINE_TIMING")["stepList"]] == ["A", "B"]


def test_it_tells_what_was_waited_for() -> None:
    turn = make_turn()
    tries = [LlmAnswer(error_code="LLM_TIMEOUT", latency_ms=1000), LlmAnswer("yes", latency_ms=234)]
    turn.model_calls += [ModelCall(LlmRequest("POLICY", "", ""), attempt, 1, None, None, None, 0) for attempt in tries]
    turn.tool_ms = 56.7
    audit_timing(Session("c"), turn, "FAILED")
    timing = payload(turn, "PIPELINE_TIMING")

    assert (timing["llmMs"], timing["llmCalls"], timing["toolMs"]) == (1234, 2, 56)
