from typing import Any

import pytest

from convengine.engine.rules.actions import set_task
from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError
from convengine.engine.rules.actions.set_task import check_reference, parse
from convengine.engine.rules.task_runs import TaskReference
from convengine.engine.turn.ports import TaskAnswer
from convengine.engine.turn.session import Session
from convengine.engine.turn.turn import Turn
from tests.builders import make_rule, make_session, make_turn, payload
from tests.convengine.engine.rules.actions.run import apply
from tests.fakes.ports import BookOfExecutions, RecordingTasks


def test_methods_run_in_order_and_see_what_came_before() -> None:
    tasks = RecordingTasks(
        {
            "claim:flag": TaskAnswer(context={"flag": True, "old": 1}, input_params={"p": 1}),
            "claim:tidy": lambda session: TaskAnswer(
                context={"seen": session.context["flag"]}, context_removed=["old"]
            ),
        }
    )
    session, turn = apply("SET_TASK", "claim:flag, tidy", make_session(context={"a": 1}), tasks=tasks)

    assert tasks.calls == ["claim:flag", "claim:tidy"]
    assert session.context == {"a": 1, "flag": True, "seen": True}
    assert session.input_params == {"p": 1}
    event = payload(turn, "SET_TASK")
    assert (event["beanName"], event["beanMethodNames"]) == ("claim", ["flag", "tidy"])


def test_a_method_that_raises_keeps_what_was_done_and_stops_there() -> None:
    tasks = RecordingTasks(
        {
            "claim:one": TaskAnswer(context={"one": 1}),
            "claim:two": TaskAnswer(error_type="KeyError", error_message="'x'"),
            "claim:three": TaskAnswer(),
        }
    )
    with pytest.raises(ActionFailed) as caught:
        apply("SET_TASK", "claim:one,two,three", make_session(), tasks=tasks)

    assert tasks.calls == ["claim:one", "claim:two"]
    assert caught.value.error_type == "KeyError"
    assert caught.value.session is not None
    assert caught.value.session.context == {"one": 1}
    assert caught.value.session.input_params["rule_task_error"] == {
        "task": "claim",
        "method": "two",
        "errorType": "KeyError",
        "errorMessage": "'x'",
    }


@pytest.mark.parametrize(
    ("registered", "method"),
    [(["claim", "run"], "claim"), (["other", "run"], "run"), (["only"], "only"), (["a", "b"], "claim")],
)
def test_a_bare_task_runs_its_own_method(registered: list[str], method: str) -> None:
    assert TaskReference("claim").choose_methods(registered) == (method,)


@pytest.mark.parametrize("value", ["", None, ":m", "a:", "a:,", "1:m", "a b:m"])
def test_an_invalid_reference_is_refused(value: str | None) -> None:
    with pytest.raises(ActionValueError):
        parse(value)


def test_only_the_first_colon_splits() -> None:
    assert parse("a:b:c") == TaskReference("a", ("b:c",))


def test_the_save_check_names_what_there_is() -> None:
    registered = {"claim": ["flag", "tidy"]}

    check_reference(parse("claim:flag"), registered)
    with pytest.raises(ActionValueError, match=r"There is no registered task clam\. Registered: claim\."):
        check_reference(parse("clam:flag"), registered)
    with pytest.raises(ActionValueError, match=r"Task claim has no method x\. It has: flag, tidy\."):
        check_reference(parse("claim:x"), registered)
    with pytest.raises(ActionValueError, match=r"Registered: none\."):
        check_reference(parse("claim:x"), {})


def test_an_unregistered_task_does_not_run() -> None:
    tasks = RecordingTasks({"claim:flag": TaskAnswer()})
    for value in ("other:flag", "claim:other"):
        with pytest.raises(ActionValueError) as caught:
            apply("SET_TASK", value, make_session(), tasks=tasks)
        assert caught.value.code == "NOT_REGISTERED"
    assert tasks.calls == []


def run_twice(tasks: RecordingTasks, book: BookOfExecutions, **second: Any) -> tuple[Session, Turn]:
    """The session and the turn of a second attempt, whose first one ran and was lost."""
    session = make_session(user_text="pay", context={"a": 1})
    apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)
    return apply("SET_TASK", "claim:flag", session.evolve(**second), tasks=tasks, executions=book)


def test_a_second_attempt_uses_the_stored_result_and_runs_nothing() -> None:
    tasks = RecordingTasks({"claim:flag": TaskAnswer({"id": 7}, context={"flag": True}, input_params={"p": 1})})
    session, turn = run_twice(tasks, BookOfExecutions())

    assert tasks.calls == ["claim:flag"]
    assert (session.context, session.input_params) == ({"a": 1, "flag": True}, {"p": 1})
    event = payload(turn, "SET_TASK")
    assert (event["executionId"], event["reused"], event["beanMethodNames"]) == (0, True, ["flag"])
    assert not turn.uninterruptible


def test_a_second_attempt_fails_as_the_first_one_did() -> None:
    tasks = RecordingTasks({"claim:flag": TaskAnswer(error_type="NO_FUNDS", error_message="The account is empty.")})
    book, session = BookOfExecutions(), make_session(user_text="pay")
    for _ in range(2):
        with pytest.raises(ActionFailed) as caught:
            apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)
        assert caught.value.session is not None
        assert caught.value.session.input_params["rule_task_error"]["errorMessage"] == "The account is empty."

    assert tasks.calls == ["claim:flag"]


@pytest.mark.parametrize(
    "other",
    [{"user_text": "pay more"}, {"version": 1}, {"user_input_params": {"amount": 2}}],
    ids=str,
)
def test_another_message_or_turn_is_another_run(other: dict[str, Any]) -> None:
    tasks = RecordingTasks({"claim:flag": TaskAnswer()})
    _, turn = run_twice(tasks, BookOfExecutions(), **other)

    assert tasks.calls == ["claim:flag", "claim:flag"]
    assert turn.uninterruptible


def test_a_task_whose_end_nobody_knows_does_not_run_and_rules_know() -> None:
    tasks, book = RecordingTasks({"claim:flag": TaskAnswer()}), BookOfExecutions()
    session = make_session(user_text="pay")
    apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)
    book.claims = {nonce: ("CLAIMED", None, digest) for nonce, (_, _, digest) in book.claims.items()}

    with pytest.raises(ActionFailed, match="A person must check it") as caught:
        apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)

    assert tasks.calls == ["claim:flag"]
    assert caught.value.session is not None
    assert caught.value.session.input_params["rule_task_error"]["errorType"] == "ALREADY_CLAIMED"


def test_what_a_person_found_out_is_the_result() -> None:
    tasks, book = RecordingTasks({"claim:flag": TaskAnswer(context={"flag": True})}), BookOfExecutions()
    session = make_session(user_text="pay")
    apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)
    (nonce,) = book.claims
    for status, result in (
        ("EXECUTED", {"status": "EXECUTED", "values": [], "effects": []}),
        ("FAILED", {"status": "FAILED", "values": [], "effects": [], "errorType": "DID_NOT_RUN"}),
    ):
        book.claims[nonce] = (status, result, "")
        if status == "EXECUTED":
            assert apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)[0].context == {}
            continue
        with pytest.raises(ActionFailed) as caught:
            apply("SET_TASK", "claim:flag", session, tasks=tasks, executions=book)
        assert caught.value.error_type == "DID_NOT_RUN"

    assert tasks.calls == ["claim:flag"]


def test_a_repeatable_task_runs_in_each_attempt_without_a_claim() -> None:
    tasks = RecordingTasks({"claim:flag": TaskAnswer()}, repeatable=frozenset({"claim"}))
    book = BookOfExecutions()
    _, turn = run_twice(tasks, book)

    assert (tasks.calls, book.claims) == (["claim:flag", "claim:flag"], {})
    first, second = tasks.actions
    assert first == second is not None
    assert not turn.uninterruptible


def test_each_run_of_a_rule_in_one_turn_has_its_own_claim_and_key() -> None:
    tasks, book = RecordingTasks({"claim:flag": TaskAnswer()}), BookOfExecutions()
    turn, session = make_turn(tasks=tasks, executions=book), make_session(user_text="pay")
    rule = make_rule(rule_id=41, action="SET_TASK", action_value="claim:flag")
    for _ in range(2):
        session = set_task.apply(rule, session, turn)

    assert len(book.claims) == len({str(run) for run in tasks.actions}) == 2


def test_a_turn_that_goes_on_in_a_new_session_has_the_key_of_the_session_that_it_began_in() -> None:
    tasks, book = RecordingTasks({"claim:flag": TaskAnswer()}), BookOfExecutions()
    began = make_session(user_text="pay", version=7)
    rule = make_rule(rule_id=41, action="SET_TASK", action_value="claim:flag")
    for new_id in ("a", "b"):
        turn = make_turn(tasks=tasks, executions=book)
        turn.previous_session = began
        set_task.apply(rule, began.evolve(conversation_id=new_id, version=-1), turn)

    assert tasks.calls == ["claim:flag"]
    (run,) = tasks.actions
    assert run is not None
    assert run.idempotency_key.startswith(f"{began.conversation_id}:")
