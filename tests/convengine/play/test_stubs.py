from functools import partial
from typing import Any

import pytest

from convengine.engine.llm.scripted import NO_ANSWER, ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.engine.turn.payload import TextPayload
from convengine.engine.turn.ports import ContainerRequest, LlmRequest
from convengine.engine.turn.recording import Recording
from convengine.play.scenario import REAL, ContainerStub, Scenario, ScenarioTurn, TaskStub, TransformerStub
from convengine.play.stubs import ScenarioStubs, build_stubs
from convengine.server import wiring
from convengine.server.extensions.ports import ResponseTransformers
from convengine.server.extensions.tasks import Tasks
from convengine.server.observability import metrics
from tests.builders import make_session, make_snapshot
from tests.convengine.server.observability.readings import read
from tests.fakes.clock import FrozenClock
from tests.fakes.ports import StoredConversation


def make_stubs(**stubs: Any) -> ScenarioStubs:
    return build_stubs(Scenario("world", "A world", (ScenarioTurn("hi"),), **stubs))


def run(stubs: ScenarioStubs, bean: str, method: str) -> Any:
    return Tasks(stubs.registry, Recording()).run(bean, method, make_session())


def test_a_task_returns_what_the_file_says_and_writes_into_the_context() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "send", {"id": 7}, sets_context={"sent": True})])

    answer = run(stubs, "mail", "send")

    assert (answer.value, answer.context) == ({"id": 7}, {"sent": True})


def test_a_task_raises_what_the_file_says() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "send", raises="no route")])

    answer = run(stubs, "mail", "send")

    assert (answer.error_type, answer.error_message) == ("ScriptedFailure", "no route")


def test_a_task_fails_with_a_code_removes_context_and_writes_params() -> None:
    stub = TaskStub("mail", "send", raises="no", code="NO_ROUTE", removes_context=("draft",), sets_params={"tried": 1})

    answer = run(make_stubs(tasks=[stub]), "mail", "send")

    assert (answer.error_type, answer.error_message) == ("NO_ROUTE", "no")
    assert (answer.context_removed, answer.input_params) == (["draft"], {"tried": 1})


def test_transformers_answer_their_calls_in_order_and_only_in_their_turn() -> None:
    stubs = make_stubs()
    given = [{}, {"result": "Sent. Bye."}, {"error": "late", "code": "TimeoutError"}]
    transformers = [TransformerStub("FINAL", "Polite", **values) for values in given]
    port = ResponseTransformers(stubs.registry, Recording())

    stubs.begin(ScenarioTurn("hi", transformers=transformers))
    answers = [port.transform("FINAL", TextPayload("Sent."), make_session()) for _ in range(4)]
    stubs.begin(ScenarioTurn("bye"))
    later = port.transform("FINAL", TextPayload("Sent."), make_session())

    texts = [answer.payload and answer.payload.value for answer in answers]
    assert texts == [None, "Sent. Bye.", None, None]
    assert (answers[2].transformer, answers[2].error_type, answers[2].error_message) == (
        "Polite",
        "TimeoutError",
        "late",
    )
    assert (later.payload, later.transformer) == (None, None)


def test_methods_of_one_task_stand_together_and_the_first_of_a_name_counts() -> None:
    stubs = make_stubs(tasks=[TaskStub("mail", "a", 1), TaskStub("mail", "b", 2), TaskStub("mail", "a", 3)])

    assert Tasks(stubs.registry, Recording()).methods("mail") == ("a", "b")
    assert run(stubs, "mail", "a").value == 1


@pytest.mark.parametrize(
    ("stub", "value", "error"),
    [
        (ContainerStub(1, 2, 3, {"open": True}), {"open": True}, None),
        (ContainerStub(1, 2, 3, error="late"), None, "late"),
        (ContainerStub(1, 2, 3, error="late", code="TimeoutError"), None, "late"),
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


def test_what_is_used_up_stays_used_up_in_the_next_turn() -> None:
    line = ScriptLine({"POLICY"}, "yes", contains=("fees",), times=1)
    stubs = make_stubs(llm=[line], tools=[Stub("stock", times=1)])

    for message, is_answered in (("the FEES", True), ("the fees", False)):
        stubs.begin(ScenarioTurn(message))
        answers = (
            stubs.model.complete(LlmRequest("POLICY", "", "")),
            stubs.tools.run("stock", "DB", {}, make_session()),
        )
        assert [answer.error_message != NO_ANSWER for answer in answers] == [is_answered, is_answered]


def test_a_scripted_model_is_always_there() -> None:
    assert make_stubs().outside.model.configured


def test_only_calls_that_no_stub_answers_are_counted_as_calls_of_real_tools() -> None:
    stubs = make_stubs(tools=[Stub("known", result=1)], extensions=REAL)
    counted = partial(read, metrics.TOOL_CALL_SECONDS, "FILES", suffix="_count")
    before = {outcome: counted(outcome) for outcome in ("ok", "failed")}

    with wiring.replace_outside_world(stubs.outside):
        ports = wiring.ports(FrozenClock(), StoredConversation(None), Recording(), make_snapshot())  # type: ignore[arg-type]
        answers = [ports.tools.run(code, "FILES", {}, make_session(), 1000) for code in ("known", "unknown")]

    assert answers[0].result == 1
    assert answers[1].error_type
    assert (counted("ok"), counted("failed")) == (before["ok"], before["failed"] + 1)
