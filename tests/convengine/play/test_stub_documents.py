"""Stubs of the simulator: edited, kept and taken from recordings, in the format of scenario files."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.test import Client

from config_admin import models as m
from config_admin.releases.change_set import change_set
from convengine.engine.turn.ports import LlmAnswer, LlmRequest
from convengine.play.schema import ScenarioFileError
from convengine.play.seen_turn import PortCall
from convengine.play.stub_documents import CallName, dump_stubs, export_call, keep_answers, parse_stubs, set_answer
from convengine.server import wiring
from convengine.server.extensions.registry import TaskEntry, registry
from tests.api import Caller
from tests.audit.simulator.test_page import count_rows, make_client, read_answers, simulate
from tests.worlds import create_help_desk

TASK = CallName("tasks", {"bean": "books", "method": "find"})
ALL = ["llm", "tools", "tasks", "containers"]


def test_an_answer_replaces_those_of_the_same_call_and_no_others() -> None:
    stubs = set_answer({}, TASK, '{"title": "Emma"}', fails=False)
    stubs = set_answer(stubs, CallName("llm", {"when": {"purpose": "intent"}}), "HOURS", fails=False)
    stubs = set_answer(stubs, TASK, "no books today", fails=True)
    assert stubs == {
        "tasks": [{"bean": "books", "method": "find", "raises": "no books today"}],
        "llm": [{"when": {"purpose": "intent"}, "reply": "HOURS"}],
    }
    assert parse_stubs(dump_stubs(stubs)) == stubs


def test_of_answers_for_one_call_each_the_one_of_this_call_is_replaced() -> None:
    stubs = {"tools": [{"tool_code": "t", "when_args": {"n": n}, "result": n, "times": 1} for n in (1, 2)]}
    edited = set_answer(stubs, CallName("tools", {"tool_code": "t"}, 1), "7", fails=False)
    assert edited["tools"][0] == stubs["tools"][0]
    assert edited["tools"][1] == {"tool_code": "t", "when_args": {"n": 2}, "times": 1, "result": 7}


@pytest.mark.parametrize(
    "text",
    ["tools: 7", "tables: {}", "[1]", "a: [", "tools: [{tool_code: t}]", "x" * 300_000, "tools: &a [*a]", "[" * 9_000],
)
def test_what_is_no_stub_is_refused(text: str) -> None:
    with pytest.raises(ScenarioFileError):
        parse_stubs(text)


def test_the_name_of_a_call_is_read_back() -> None:
    assert CallName.parse(str(TASK)) == TASK
    for text in ("", "[]", '["tables", {}, 0]', "7", '["tasks", {}, -1]', '["tasks", {}, Infinity]', "[" * 100_000):
        with pytest.raises(ValueError, match="names no call"):
            CallName.parse(text)


def test_a_reply_that_is_nested_deeply_stays_a_text() -> None:
    reply = "[" * 100_000
    call = PortCall("model", {"purpose": "AGENT"}, {"text": reply, "error_code": None, "error_message": None})

    assert export_call(call)["reply"] == reply


def test_real_answers_are_kept_one_by_one_before_those_for_any_call() -> None:
    calls = [
        PortCall(
            "tool", {"tool": "t", "group": "", "args": {}}, {"result": 1, "error_type": None, "error_message": None}
        ),
        PortCall("model.configured", None, True),
    ]
    general = {"tool_code": "t", "result": 9}
    assert keep_answers({"tools": [general]}, calls)["tools"] == [
        {"tool_code": "t", "when_args": {}, "result": 1, "times": 1},
        general,
    ]


class Tripwire:
    """A model of the deployment that counts its calls."""

    configured = True

    def __init__(self) -> None:
        self.calls = 0

    def complete(self, request: LlmRequest) -> LlmAnswer:
        self.calls += 1
        return LlmAnswer(f"really {self.calls}", "real", "real")

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Tripwire:
    tripwire = Tripwire()
    monkeypatch.setattr(wiring, "model", lambda: tripwire)
    return tripwire


@pytest.fixture
def task() -> Iterator[list[str]]:
    """A registered task that notes its calls."""
    calls: list[str] = []

    def find(call: Any) -> Any:
        calls.append("find")
        call.set_context("book", "Persuasion")
        return "Persuasion"

    registry.tasks["books"] = TaskEntry({"find": find})
    yield calls
    del registry.tasks["books"]


@pytest.fixture
def ana(db: None) -> Client:
    create_help_desk()
    with change_set():
        m.CeConfig.objects.create(config_type="DialogueActStep", config_key="RESOLUTE", config_value="REGEX_ONLY")
        m.CeRule.objects.create(
            phase="PRE_RESPONSE_RESOLUTION", intent_code="HOURS", state_code="IDLE", rule_type="EXACT",
            match_pattern="hours", match_target="USER_TEXT", action="SET_TASK", action_value="books:find",
        )  # fmt: skip
        m.CePromptTemplate.objects.create(
            intent_code="FEES", state_code="IDLE", response_type="TEXT", system_prompt="You answer.",
            user_prompt="{{ user_input }}",
        )  # fmt: skip
        m.CeResponse.objects.filter(exact_text="No fees.").update(response_type="DERIVED", exact_text=None)
        m.CeResponse.objects.filter(exact_text="Nine to five.").update(exact_text="Book: {{ book }}.")
    return make_client("config_admin")


def test_nothing_is_called_unless_it_is_ticked(ana: Client, model: Tripwire, task: list[str]) -> None:
    before = count_rows()
    response = simulate(ana, "hours", "fees")
    assert (model.calls, task) == (0, [])
    assert [line.unanswered for line in response.context["simulation"].played] == [1, 1]
    assert "1 call without an answer" in response.content.decode()
    assert count_rows() == before


def test_an_answer_that_is_set_is_used_at_once(ana: Client, model: Tripwire, task: list[str]) -> None:
    response = simulate(ana, "fees")
    call = response.context["calls"][0]
    assert call.kind == "Model"
    assert "You answer." in call.request
    values = {"answer-of-0": call.name, "answer-0": "Two euros, says the model."}
    response = simulate(ana, "fees", set="0", **values)
    assert read_answers(response) == ["Two euros, says the model."]
    stubs = response.context["simulation"].stubs_text
    assert yaml.safe_load(stubs) == {"llm": [{"when": {"purpose": "response"}, "reply": "Two euros, says the model."}]}
    assert read_answers(simulate(ana, "fees", "fees", stubs=stubs))[1] == "Two euros, says the model."
    assert model.calls == 0


def test_stubs_of_a_task_write_like_the_task(ana: Client, model: Tripwire, task: list[str]) -> None:
    stubs = "tasks: [{bean: books, method: find, returns: Emma, sets_context: {book: Emma}}]"
    assert read_answers(simulate(ana, "hours", stubs=stubs)) == ["Book: Emma."]
    assert task == []


def test_what_is_really_called_is_called_once_and_its_answers_are_kept(
    ana: Client, model: Tripwire, task: list[str]
) -> None:
    before = count_rows()
    response = simulate(ana, "hours", send=1, message="fees", real=ALL)
    assert read_answers(response) == ["Book: Persuasion.", "really 1"]
    assert (model.calls, task) == (1, ["find"])
    stubs = response.context["simulation"].stubs_text
    response = simulate(ana, "hours", "fees", send=1, message="fees", real=ALL, stubs=stubs)
    assert read_answers(response) == ["Book: Persuasion.", "really 1", "really 2"]
    assert (model.calls, task) == (2, ["find"])
    again = simulate(ana, "hours", "fees", "fees", stubs=response.context["simulation"].stubs_text)
    assert read_answers(again) == ["Book: Persuasion.", "really 1", "really 2"]
    assert count_rows() == before


def test_each_kind_of_call_is_really_made_or_answered_by_choice(ana: Client, model: Tripwire, task: list[str]) -> None:
    response = simulate(ana, "hours", "fees", real=["tasks"])
    assert read_answers(response)[0] == "Book: Persuasion."
    assert (model.calls, task) == (0, ["find"])
    assert [line.unanswered for line in response.context["simulation"].played] == [0, 1]
    assert "where no answer is given below: tasks." in response.content.decode()
    response = simulate(ana, "hours", "fees", real=["llm"])
    assert (model.calls, task) == (1, ["find"])
    assert [line.unanswered for line in response.context["simulation"].played] == [1, 0]


def test_a_kept_answer_is_removed_and_the_call_is_really_made_again(
    ana: Client, model: Tripwire, task: list[str]
) -> None:
    first = simulate(ana, "fees", real=ALL)
    stubs, call = first.context["simulation"].stubs_text, first.context["calls"][0]
    assert "Really call again" in first.content.decode()
    again = simulate(ana, "fees", real=ALL, stubs=stubs, forget="0", **{"answer-of-0": call.name})
    assert read_answers(again) == ["really 2"]
    removed = simulate(ana, "fees", stubs=stubs, forget="0", **{"answer-of-0": call.name})
    assert [line.unanswered for line in removed.context["simulation"].played] == [1]
    assert "Remove this answer" not in removed.content.decode()
    assert model.calls == 2


def test_the_last_real_answers_are_offered_and_taken(ana: Client, model: Tripwire, task: list[str]) -> None:
    with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
        Caller().say("fees")
    assert model.calls == 1
    response = simulate(ana, "fees", recorded="0")
    offer = response.context["simulation"].offers[0]
    assert offer.text == "really 1"
    taken = {"offer-of-0": response.context["calls"][0].name, "offer-0": offer.text}
    assert read_answers(simulate(ana, "fees", take="0", **taken)) == ["really 1"]
    assert model.calls == 1


def test_the_conversation_is_downloaded_as_a_test(ana: Client, model: Tripwire) -> None:
    stubs = "llm: [{when: {purpose: response}, reply: Two euros.}]"
    response = simulate(ana, "fees", stubs=stubs, download="1", at="2026-03-02T09:00")
    document = yaml.safe_load(response.content)
    assert document["title"] == "fees"
    assert document["llm"] == [{"when": {"purpose": "response"}, "reply": "Two euros."}]
    assert document["turns"][0]["user"] == "fees"
    assert document["turns"][0]["expect"] == {
        "intent": "FEES", "state": "IDLE", "response": {"type": "TEXT", "equals": "Two euros."}
    }  # fmt: skip
    assert response["Content-Disposition"] == f'attachment; filename="{document["id"]}.yaml"'


def test_all_calls_get_the_last_real_answers_at_once(ana: Client, model: Tripwire, task: list[str]) -> None:
    with wiring.replace_outside_world(wiring.OutsideWorld(model=model)):
        Caller().say("fees")
        Caller().say("hours")
    response = simulate(ana, "hours", "fees", fill=1)
    assert read_answers(response) == ["Book: .", "really 1"]
    assert [line.unanswered for line in response.context["simulation"].played] == [0, 0]
    assert (model.calls, task) == (1, ["find"])


def test_the_conversation_becomes_a_test_in_one_click(ana: Client, model: Tripwire) -> None:
    stubs = "llm: [{when: {purpose: response}, reply: Two euros.}]"
    page = simulate(ana, "hours", "fees", stubs=stubs).context
    response = ana.post(page["test_url"], {"document": page["test"]})
    assert response.status_code == 200
    text = response.content.decode()
    assert 'role="alert"' not in text
    for value in ("hours", "fees", "Two euros.", "FEES"):
        assert value in text
    assert model.calls == 0
