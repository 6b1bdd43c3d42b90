from typing import Any

import pytest

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn.ports import ContainerRequest, LlmRequest
from convengine.engine.turn.recording import Recording
from convengine.scenarios.scenario import ContainerStub, Scenario, TaskStub, Turn
from convengine.scenarios.stubs import ScenarioStubs, build_stubs
from convengine.server.extensions.tasks import Tasks
from tests.builders import make_session


def make_stubs(**stubs: Any) -> ScenarioStubs:
    return build_stubs(Scenario("world", "A world", (Turn("hi"),), **stubs))


def run(stubs: ScenarioStubs, bean: str, method: str) -> Any:
    return Tasks(stubs.registry, Recording()).run(bean, method, make_session())


def test_a_task_returns_what_the_file_says_and_writes_into_the_context() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "send", {"id": 7}, sets_context={"sent": True})])

    answer = run(stubs, "mail", "send")

    assert (answer.value, answer.context) == ({"id": 7}, {"sent": True})
    assert stubs.task_calls == [("mail", "send")]


def test_a_task_raises_what_the_file_says_and_counts_as_called() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "send", raises="no route")])

    answer = run(stubs, "mail", "send")

    assert (answer.error_type, answer.error_message) == ("ScriptedFailure", "no route")
    assert stubs.task_calls == [("mail", "send")]


def test_methods_of_one_task_stand_together_and_the_first_of_a_name_counts() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "a", 1), TaskStub("mail", "b", 2), TaskStub("mail", "a", 3)])

    assert Tasks(stubs.registry, Recording()).methods("mail") == ("a", "b")
    assert run(stubs, "mail", "a").value == 1


@pytest.mark.parametrize(
    ("stub", "value", "error"),
    [
        (ContainerStub(1, 2, 3, {"open": True}), {"open": True}, None),
        (ContainerStub(1, 2, 3, error="late"), None, "late"),
    ],
)
def test_a_container_gives_what_the_file_says(stub: ContainerStub, value: Any, error: str | None) -> None:
    registry = make_stubs(containers=[stub]).registry

    answer = registry.providers[1, 2, 3]

    request = ContainerRequest(1, 2, 3, {})
    if error is None:
        assert answer(request, {}) == value
    else:
        with pytest.raises(Exception, match=error):
            answer(request, {})


def test_an_address_without_a_stub_has_no_provider() -> None:
    assert make_stubs(containers=[ContainerStub(1, 2, 3)]).registry.provider(1, 2, 4) is None


def test_what_was_called_is_kept_for_one_turn_but_not_what_was_used_up() -> None:
    line = ScriptLine({"POLICY"}, "yes", contains=("fees",), times=1)
    stubs = make_stubs(llm=[line], tasks=[TaskStub("mail", "send", 1)], tools=[Stub("stock", times=1)])
    request = LlmRequest("POLICY", "", "")

    for message, unscripted in (("the FEES", 0), ("the fees", 2)):
        stubs.begin(message)
        stubs.model.complete(request)
        stubs.tools.run("stock", "DB", {}, make_session())
        run(stubs, "mail", "send")
        assert (stubs.model.calls, stubs.task_calls) == (["POLICY"], [("mail", "send")])
        assert len(stubs.unscripted) == unscripted


def test_a_scripted_model_is_always_there() -> None:
    assert make_stubs().outside.model.configured
