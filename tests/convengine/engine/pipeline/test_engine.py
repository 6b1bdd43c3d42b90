from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from convengine.engine.errors import ConvEngineError, ResponseMappingNotFound
from convengine.engine.pipeline.engine import Engine, audit_timing
from convengine.engine.pipeline.hooks import Hooks, StepHook
from convengine.engine.pipeline.step import Continue, Step, Stop
from convengine.engine.rules.stages import SET_JSON, SET_STATE
from convengine.engine.threads.lifecycle import BEGIN_TASK, begin_new_task
from convengine.engine.turn.enums import ResetReason
from convengine.engine.turn.owned_params import ActionParams
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.ports import LlmAnswer, LlmRequest, ModelCall
from convengine.engine.turn.reset import RESET, reset_session
from convengine.engine.turn.session import FIELDS, FinalResult, Session, StepTiming
from convengine.engine.turn.turn import Turn
from convengine.server import wiring
from tests.builders import make_turn, payload, stages
from tests.fakes.clock import FrozenClock

RESULT = FinalResult("LOAN", "IDLE", TextPayload("hi"), {})


class Passes(Step):
    def execute(self, session: Session, turn: Turn) -> Continue:
        return Continue(session)


class Ends(Step):
    writes = frozenset({"final_result"})

    def execute(self, session: Session, turn: Turn) -> Continue:
        return Continue(session.evolve(final_result=RESULT))


class Stops(Step):
    def execute(self, session: Session, turn: Turn) -> Stop:
        return Stop(session, RESULT)


class Breaks(Step):
    error: Exception = ValueError("the password is swordfish")

    def execute(self, session: Session, turn: Turn) -> Continue:
        for _ in range(3):
            turn.audit(session, SET_STATE)
        raise self.error


def test_ENG_V7_stop_ends_the_turn_with_its_result() -> None:
    turn = make_turn()

    outcome = Engine([Passes(), Stops(), type("Later", (Passes,), {})()]).run(turn)

    assert outcome.result is RESULT
    assert outcome.stopped
    entered = [e.payload["step"] for e in turn.trail.events if e.stage == "STEP_ENTER"]
    assert entered == ["Passes", "Stops"]
    assert payload(turn, "PIPELINE_TIMING")["status"] == "STOPPED"
    assert payload(turn, "STEP_EXIT", 1)["outcome"] == "Stop"


def test_steps_see_the_message_with_composed_letters() -> None:
    seen: list[str | None] = []

    class Reads(Stops):
        def execute(self, session: Session, turn: Turn) -> Stop:
            seen.append(session.user_text)
            return super().execute(session, turn)

    Engine([Reads()]).run(make_turn(text="cafe\u0301"))

    assert seen == ["café"]


def test_ENG_V8_a_pipeline_without_a_result_fails() -> None:
    outcome = Engine([Passes()]).run(make_turn())

    assert outcome.error is not None
    assert outcome.error.code == "PIPELINE_NO_FINAL_RESULT"


def test_ENG_V9_an_unexpected_error_is_audited_and_never_shown() -> None:
    turn = make_turn()

    outcome = Engine([Breaks()]).run(turn)

    assert stages(turn).count("SET_STATE") == 3
    assert payload(turn, "STEP_ERROR")["errorType"] == "ValueError"
    assert payload(turn, "ENGINE_UNKNOWN_FAILURE")["message"] == "the password is swordfish"
    assert outcome.error is not None
    assert outcome.error.code == "INTERNAL_ERROR"
    assert "swordfish" not in outcome.error.message
    assert outcome.error.meta["incidentId"] == payload(turn, "ENGINE_UNKNOWN_FAILURE")["incidentId"]


def test_a_known_error_keeps_its_code_and_text() -> None:
    turn = make_turn()
    step = type("Breaks", (Breaks,), {"error": ResponseMappingNotFound("No row fits.")})()

    outcome = Engine([step]).run(turn)

    known = payload(turn, "ENGINE_KNOWN_FAILURE")
    assert (known["errorCode"], known["message"], known["recoverable"]) == (
        "RESPONSE_MAPPING_NOT_FOUND",
        "No row fits.",
        False,
    )
    assert isinstance(outcome.error, ResponseMappingNotFound)
    assert payload(turn, "PIPELINE_TIMING")["status"] == "FAILED"
    assert "(ERR)" in payload(turn, "PIPELINE_TIMING")["steps"]


class Noisy(StepHook):
    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        raise RuntimeError("hook")


def test_ENG_V10_a_hook_that_raises_never_breaks_the_turn() -> None:
    turn = make_turn()

    outcome = Engine([Ends()], Hooks([Noisy()])).run(turn)

    assert outcome.result is RESULT
    errors = [e.payload for e in turn.trail.events if e.stage == "STEP_HOOK_ERROR"]
    assert [(e["phase"], e["hookClass"], e["errorMessage"]) for e in errors] == [("beforeStep", "Noisy", "hook")]


def test_a_hook_may_change_the_session_but_not_the_outcome() -> None:
    class Tags(StepHook):
        def after_step(self, step_name: str, session: Session, turn: Turn, outcome: Any) -> Session:
            return session.with_params({"tag": step_name})

    outcome = Engine([Ends()], Hooks([Tags()])).run(make_turn())

    assert outcome.session.input_params["tag"] == "Ends"


def test_hooks_run_by_priority_then_by_registration() -> None:
    seen: list[str] = []

    def hook(name: str, at: int) -> StepHook:
        class Named(StepHook):
            priority = at

            def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
                seen.append(name)
                return session

        return Named()

    Engine([Ends()], Hooks([hook("late", 200), hook("first", 10), hook("second", 10)])).run(make_turn())

    assert seen == ["first", "second", "late"]


def test_a_supports_that_raises_counts_as_no() -> None:
    class Broken(StepHook):
        def supports(self, step_name: str, session: Session) -> bool:
            raise RuntimeError("supports")

        def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
            raise AssertionError("must not run")

    turn = make_turn()
    outcome = Engine([Ends()], Hooks([Broken()])).run(turn)

    assert outcome.result is RESULT
    assert payload(turn, "STEP_HOOK_ERROR")["errorMessage"] == "supports"


def test_hooks_see_errors_before_step_error_is_written() -> None:
    class Watches(StepHook):
        def on_step_error(self, step_name: str, session: Session, turn: Turn, error: BaseException) -> None:
            turn.audit(session, SET_JSON, seen=str(error))

    turn = make_turn()
    Engine([Breaks()], Hooks([Watches()])).run(turn)

    assert stages(turn).index("SET_JSON") < stages(turn).index("STEP_ERROR")


def test_a_step_that_changes_what_it_did_not_declare_is_refused() -> None:
    class Sneaks(Step):
        def execute(self, session: Session, turn: Turn) -> Continue:
            return Continue(session.evolve(state="X"))

    outcome = Engine([Sneaks()]).run(make_turn())

    assert isinstance(outcome.error, ConvEngineError)
    assert outcome.error.code == "PIPELINE_STEP_FAILED"
    assert "state" in outcome.error.message


def test_a_step_may_declare_everything() -> None:
    class Changes(Step):
        writes = frozenset(FIELDS)

        def execute(self, session: Session, turn: Turn) -> Continue:
            return Continue(session.evolve(state="X"))

    assert Engine([Changes()]).run(make_turn()).session.state == "X"


@pytest.mark.parametrize("answer", [None, "go on", True])
def test_a_step_must_answer_continue_or_stop(answer: Any) -> None:
    class Mumbles(Step):
        def execute(self, session: Session, turn: Turn) -> Any:
            return answer

    outcome = Engine([Mumbles()]).run(make_turn())

    assert outcome.error is not None
    assert outcome.error.code == "PIPELINE_STEP_FAILED"


def test_an_inactive_step_leaves_no_trace() -> None:
    class Idle(Step):
        def active(self, session: Session, turn: Turn) -> bool:
            return False

    turn = make_turn()
    Engine([Idle(), Ends()]).run(turn)

    assert [e.payload["step"] for e in turn.trail.events if e.stage == "STEP_ENTER"] == ["Ends"]


def test_step_durations_leave_hooks_out() -> None:
    clock = FrozenClock()

    class Slow(StepHook):
        def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
            clock.elapsed += 50
            return session

    class Works(Ends):
        def execute(self, session: Session, turn: Turn) -> Continue:
            clock.elapsed += 7
            return super().execute(session, turn)

    turn = make_turn(clock=clock)
    Engine([Works()], Hooks([Slow()])).run(turn)

    assert turn.timings[0].duration_ms == 7


def test_events_carry_the_step_that_was_running() -> None:
    turn = make_turn()
    Engine([Breaks()]).run(turn)

    assert [e.step for e in turn.trail.events] == ["Breaks"] * 5 + [None, None]


def test_ENG_V17_the_resolved_input_follows_the_query() -> None:
    session = Session("c", user_text="x")

    queried = session.with_query("y")
    cleared = queried.with_query(None)

    assert session.resolved_user_input == "x"
    assert (queried.resolved_user_input, queried.input_params["resolved_user_input"]) == ("y", "y")
    assert (cleared.resolved_user_input, cleared.input_params["resolved_user_input"]) == ("x", "x")


def test_a_turn_that_fails_in_a_new_session_belongs_to_the_session_in_which_it_began() -> None:
    class Begins(Step):
        rights = (BEGIN_TASK,)

        def execute(self, session: Session, turn: Turn) -> Continue:
            return Continue(begin_new_task(session, turn))

    turn = make_turn(turn_no=5)
    outcome = Engine([Begins(), Breaks()]).run(turn)

    assert outcome.error is not None
    assert (outcome.session.conversation_id, outcome.session.turn_no) == (turn.request.conversation_id, turn.turn_no)
    begun = turn.trail.events[-1].session
    assert (begun.conversation_id != turn.request.conversation_id, begun.turn_no) == (True, 1)


def test_a_turn_past_its_time_limit_begins_no_further_step() -> None:
    clock = FrozenClock()

    class Slow(Passes):
        def execute(self, session: Session, turn: Turn) -> Continue:
            clock.elapsed += 2000
            return Continue(session)

    turn = replace(make_turn(clock=clock), time_limit_ms=1000)
    outcome = Engine([Slow(), Ends()]).run(turn)

    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.recoverable) == ("TURN_TIMEOUT", True)
    assert [e.payload["step"] for e in turn.trail.events if e.stage == "STEP_ENTER"] == ["Slow"]


class Takes(Step):
    """A step that calls a function."""

    def __init__(self, change: Callable[[Session, Turn], Session]) -> None:
        self._change = change

    def execute(self, session: Session, turn: Turn) -> Continue:
        return Continue(self._change(session, turn))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda session, turn: session.with_values(ActionParams(guardrail_blocked=True)), "action"),
        (lambda session, turn: session.with_params({"guardrail_blocked": True}), "action"),
        (lambda session, turn: session.with_params({"guardrail_bloked": True}), "params"),
        (lambda session, turn: session.evolve(intent="LOAN", epoch=0), "intent"),
    ],
)
def test_a_step_changes_only_what_it_declares(change: Callable[[Session, Turn], Session], named: str) -> None:
    class Routes(Takes):
        writes = frozenset({"routing"})
        rights = (RESET,)

    outcome = Engine([Routes(change)]).run(make_turn())

    assert outcome.error
    assert f"changed {named} without declaring it" in str(outcome.error)


def test_a_right_counts_once_it_is_used() -> None:
    class Resets(Takes):
        rights = (RESET,)

    def start_over(session: Session, turn: Turn) -> Session:
        return reset_session(session, turn, ResetReason.INTENT_RESOLVED_RESET, only=True)

    assert Engine([Resets(start_over), Ends()]).run(make_turn()).error is None
    assert Engine([Takes(start_over), Ends()]).run(make_turn()).error


def test_a_step_that_writes_input_params_may_write_each_topic() -> None:
    class Own(Takes):
        writes = frozenset({"input_params"})

    values = {"mine": 1, "tool_status": "SUCCESS"}

    assert Engine([Own(lambda session, turn: session.with_params(values)), Ends()]).run(make_turn()).error is None


class Rests(Passes):
    def find_idle_reason(self, session: Session, turn: Turn) -> str | None:
        return "there are no tools"

    def execute(self, session: Session, turn: Turn) -> Continue:
        raise AssertionError("A step without work is not executed.")


class RecordsSteps(StepHook):
    def __init__(self) -> None:
        self.steps: list[str] = []

    def before_step(self, step_name: str, session: Session, turn: Turn) -> Session:
        self.steps.append(step_name)
        return session


def test_a_step_with_nothing_to_do_is_not_executed_and_the_timing_says_why() -> None:
    hook, turn = RecordsSteps(), make_turn()

    Engine([Rests(), Passes(), Stops()], Hooks([hook])).run(turn)

    listed = {step["step"]: step.get("notNeeded") for step in payload(turn, "PIPELINE_TIMING")["stepList"]}
    assert listed == {"Rests": "there are no tools", "Passes": None, "Stops": None}
    assert [e.stage for e in turn.trail.events[:2]] == ["STEP_ENTER", "STEP_EXIT"]
    assert hook.steps == ["Rests", "Passes", "Stops"]


@pytest.mark.parametrize("step", wiring.engine().steps, ids=lambda step: step.name)
def test_a_step_of_the_product_says_when_it_has_nothing_to_do(step: Step) -> None:
    says = type(step).find_idle_reason is not Step.find_idle_reason or type(step).active is not Step.active

    assert step.always_runs != says, "A step that says neither is executed in every turn."


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
