import threading
from contextlib import AbstractContextManager
from typing import Any

from convengine.engine.turn.ports import TaskRun
from convengine.engine.turn.recording import Playback, Recording
from convengine.server.extensions.registry import Registry, TaskEntry
from convengine.server.extensions.tasks import TaskCall, TaskResult, Tasks
from convengine.server.resilience.waiting import Overloaded
from tests.builders import make_session

RUN = TaskRun("conversation:nonce", 5000)


def tasks(method: Any, **entry: Any) -> Tasks:
    registry = Registry()
    registry.add_task("billing", TaskEntry({"refund": method}, **entry))
    return Tasks(registry, Recording())


def returning(value: Any, **entry: Any) -> Any:
    return tasks(lambda call: value, **entry).run("billing", "refund", make_session(), task_run=RUN)


def test_a_bare_value_is_a_success() -> None:
    answer = returning({"id": 7})

    assert (answer.value, answer.failed, answer.refusal) == ({"id": 7}, False, None)


def test_nothing_and_false_are_told_apart_from_values() -> None:
    assert returning(None).refusal == "NULL_RESULT"
    assert returning(None, returns_none=True).refusal is None
    assert returning(False).refusal == "RETURNED_FALSE"
    assert returning(0).refusal is None


def test_a_task_may_say_how_it_went() -> None:
    well = returning(TaskResult(True, data={"id": 7}))
    assert (well.value, well.error_type, well.refusal) == ({"id": 7}, None, None)
    assert returning(TaskResult(True)).refusal is None

    badly = returning(TaskResult(False, "NO_FUNDS", "The account is empty.", {"balance": 0}))
    assert (badly.failed, badly.error_type, badly.error_message) == (True, "NO_FUNDS", "The account is empty.")
    assert badly.value == {"balance": 0}
    assert returning(TaskResult(False)).error_type == "TASK_FAILED"


def test_what_is_no_json_becomes_some() -> None:
    assert returning((1, 2)).value == [1, 2]


def test_what_it_raises_is_its_answer() -> None:
    def fails(call: TaskCall) -> None:
        raise ValueError("no such order")

    answer = tasks(fails).run("billing", "refund", make_session(), task_run=RUN)

    assert (answer.error_type, answer.error_message) == ("ValueError", "no such order")


def test_it_gets_copies_and_the_key_of_its_opening_and_leaves_what_it_wrote() -> None:
    seen: list[TaskCall] = []

    def works(call: TaskCall) -> str:
        seen.append(call)
        call.context["order"].append("changed")  # type: ignore[attr-defined]
        call.set_context("refund", 7)
        call.clear_context("draft")
        call.set_input_param("told", True)
        return "done"

    session = make_session(context={"order": []}, input_params={"vip": True})
    answer = tasks(works).run("billing", "refund", session, task_run=RUN)

    (call,) = seen
    assert (call.idempotency_key, call.rule, call.input_params) == ("conversation:nonce", None, {"vip": True})
    assert session.context == {"order": []}
    assert (answer.context, answer.context_removed, answer.input_params) == ({"refund": 7}, ["draft"], {"told": True})


def test_what_takes_too_long_is_a_time_out_and_what_it_does_later_is_lost() -> None:
    gate, ended = threading.Event(), threading.Event()

    def slow(call: TaskCall) -> str:
        gate.wait(60)
        call.set_context("late", True)
        return "done"

    registry = Registry()
    registry.add_task("billing", TaskEntry({"refund": slow}))
    answer = Tasks(registry, Recording(), ended.set).run("billing", "refund", make_session(), task_run=TaskRun("k", 20))
    gate.set()

    assert (answer.error_type, answer.context) == ("TimeoutError", {})
    assert ended.wait(60)


def test_a_rules_task_runs_in_the_turns_own_thread() -> None:
    threads: list[str] = []
    registered = tasks(lambda call: threads.append(threading.current_thread().name))

    registered.run("billing", "refund", make_session())
    registered.run("billing", "refund", make_session(), task_run=RUN)

    assert threads[0] == threading.current_thread().name
    assert threads[1] != threads[0]


def test_a_rules_task_waits_in_a_slot_and_does_not_run_without_one() -> None:
    ran: list[int] = []
    registry = Registry()
    registry.add_task("billing", TaskEntry({"refund": lambda call: ran.append(1)}))

    def refuse() -> AbstractContextManager[None]:
        raise Overloaded()

    answer = Tasks(registry, Recording(), wait=refuse).run("billing", "refund", make_session())

    assert (answer.error_type, ran) == ("OVERLOADED", [])


def test_only_a_task_registered_for_it_may_be_named_by_the_context() -> None:
    assert tasks(lambda call: 1, allow_from_context=True).allowed_from_context("billing")
    assert not tasks(lambda call: 1).allowed_from_context("billing")
    assert not tasks(lambda call: 1).allowed_from_context("nobody")


def test_a_replay_is_answered_from_the_tape() -> None:
    registry, tape = Registry(), Recording()
    registry.add_task(
        "billing", TaskEntry({"refund": lambda call: TaskResult(False, "NO_FUNDS")}, allow_from_context=True)
    )
    live = Tasks(registry, tape)
    first = (live.allowed_from_context("billing"), live.run("billing", "refund", make_session(), task_run=RUN))

    again = Tasks(Registry(), Playback(tape.entries))

    assert (
        again.allowed_from_context("billing"),
        again.run("billing", "refund", make_session(), task_run=RUN),
    ) == first


def test_a_method_that_is_gone_by_now_is_an_answer() -> None:
    assert tasks(lambda call: 1).run("billing", "melt", make_session(), task_run=RUN).error_type == "NOT_REGISTERED"


def test_a_task_of_a_rule_that_wants_to_end_the_process_has_failed() -> None:
    def ends(call: TaskCall) -> None:
        raise SystemExit(3)

    assert tasks(ends).run("billing", "refund", make_session()).error_type == "SystemExit"


def deep() -> Any:
    nested: Any = 1
    for _ in range(2000):
        nested = [nested]
    return nested


def test_work_is_done_also_where_its_result_cannot_be_kept() -> None:
    answer = returning(deep())

    assert not answer.failed
    assert answer.value == "Lists and objects are nested more than 64 deep."


def test_a_task_cannot_write_what_cannot_be_kept() -> None:
    answer = tasks(lambda call: call.set_context("a", deep())).run("billing", "refund", make_session(), task_run=RUN)

    assert (answer.error_type, answer.context) == ("ValueError", {})
