import pytest

from convengine.engine.rules.actions.contract import ActionFailed, ActionValueError
from convengine.engine.rules.actions.set_task import check_reference, parse
from convengine.engine.rules.task_runs import TaskReference
from convengine.engine.turn.ports import TaskAnswer
from tests.builders import make_session, payload
from tests.convengine.engine.rules.actions.run import apply
from tests.fakes.ports import RecordingTasks


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
