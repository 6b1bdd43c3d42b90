"""Every key of the format reads as it says, and every unknown or malformed one is an error at its place."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.llm.scripted import Line
from convengine.scenarios.loading import files, load
from convengine.scenarios.scenario import MAIN, ContainerStub, Edge, Edit, Scenario, Start, TaskStub, ThreadName, Turn
from convengine.scenarios.wording import ScenarioFileError
from convengine.tools.scripted import Stub

SHARED = Path(__file__).resolve().parents[2] / "scenarios"


def loaded(folder: Path, **given: Any) -> Scenario:
    path = folder / "world.yaml"
    path.write_text(yaml.safe_dump({"id": "world", "title": "A world", "turns": [{"user": "hi"}], **given}))
    return load(path)


def test_the_smallest_scenario_has_a_turn(tmp_path: Path) -> None:
    assert loaded(tmp_path).turns == (Turn("hi", expect={"success": True, "http_status": 200}),)


def test_the_words_about_a_scenario_are_kept(tmp_path: Path) -> None:
    world = loaded(tmp_path, covers=["Step"], why="because", requires=["time_travel"])

    assert (world.id, world.title, world.why) == ("world", "A world", "because")
    assert (world.covers, world.requires) == (("Step",), ("time_travel",))


def test_settings_become_those_of_the_product(tmp_path: Path) -> None:
    world = loaded(tmp_path, settings={"flow": {"memory": {"enabled": True}}})

    assert world.settings.live["MEMORYSTEP", "ENABLED"] == "true"


def test_rows_have_our_columns_and_their_values(tmp_path: Path) -> None:
    row = {
        "intent_code": "FAQ",
        "state_code": "ANY",
        "output_format": "TEXT",
        "system_prompt": {"be": "kind"},
        "temperature": 0.5,
        "interaction_contract": {"allows": ["affirm"]},
    }
    stored = loaded(tmp_path, tables={"ce_prompt_template": [row]}).tables["ce_prompt_template"][0]

    assert stored["response_type"] == "TEXT"
    assert stored["system_prompt"] == '{"be": "kind"}'
    assert str(stored["temperature"]) == "0.5"
    assert stored["interaction_contract"] == {"allows": ["affirm"]}


def test_edges_come_from_the_graph_and_from_the_settings(tmp_path: Path) -> None:
    world = loaded(
        tmp_path,
        state_graph=[{"from": "A", "to": "B"}, {"from": "B", "to": "C", "intent": "X"}],
        settings={"flow": {"state_graph": {"allowed_transitions": {"C": ["D"]}}}},
    )

    assert world.edges == (Edge("C", "D"), Edge("A", "B"), Edge("B", "C", "X"))


def test_a_conversation_may_be_there_already(tmp_path: Path) -> None:
    given = {
        "intent_code": "FAQ",
        "state_code": "IDLE",
        "status": "BLOCKED",
        "context": {"a": 1},
        "input_params": {"vip": True},
        "history": [{"user": "hi", "assistant": "hello"}],
    }

    assert loaded(tmp_path, conversation=given).start == Start(
        {
            "intent_code": "FAQ",
            "state_code": "IDLE",
            "status": "BLOCKED",
            "context_json": {"a": 1},
            "input_params_json": {"vip": True},
        },
        (("hi", "hello"),),
    )


def test_a_script_of_the_model_is_read(tmp_path: Path) -> None:
    world = loaded(
        tmp_path,
        llm=[
            {"when": {"purpose": "intent", "contains": "a"}, "reply": {"intent": "X"}, "times": 2},
            {"when": {"purpose": "response", "contains": ["a", "b"], "prompt_contains": "c"}, "reply": "Hi."},
            {"when": {"purpose": "planner"}, "error": "offline"},
        ],
    )

    assert world.llm == (
        Line(frozenset({"INTENT_AGENT"}), '{"intent":"X"}', contains=("a",), times=2),
        Line(
            frozenset({"RESPONSE_TEXT", "RESPONSE_JSON", "COLLISION"}),
            "Hi.",
            contains=("a", "b"),
            prompt_contains=("c",),
        ),
        Line(frozenset({"MCP_PLAN"}), error="offline"),
    )


def test_stubs_are_read(tmp_path: Path) -> None:
    world = loaded(
        tmp_path,
        tasks=[
            {"bean": "mail", "method": "send", "returns": None, "sets_context": {"sent": True}},
            {"bean": "mail", "method": "fail", "raises": "no"},
        ],
        tools=[
            {"tool_code": "stock", "when_args": {"a": 1}, "result": None, "times": 1},
            {"tool_group": "RAG", "error": "down"},
        ],
        containers=[
            {"page_id": 1, "section_id": 2, "container_id": 3, "result": {"open": True}},
            {"page_id": 1, "section_id": 2, "container_id": 4, "error": "timeout"},
        ],
    )

    assert world.tasks == (
        TaskStub("mail", "send", None, None, {"sent": True}),
        TaskStub("mail", "fail", raises="no"),
    )
    assert world.tools == (Stub("stock", when_args={"a": 1}, times=1), Stub(tool_group="RAG", error="down"))
    assert world.containers == (
        ContainerStub(1, 2, 3, {"open": True}),
        ContainerStub(1, 2, 4, error="timeout"),
    )


def test_a_turn_may_say_everything(tmp_path: Path) -> None:
    turn = {
        "conversation": "other",
        "before": [
            {"insert": "ce_config", "row": {"config_type": "A", "config_key": "B", "config_value": [1]}},
            {"update": "ce_config", "where": {"config_type": "A"}, "set": {"enabled": False}},
            {"delete": "ce_config", "where": {"config_id": 1}},
        ],
        "user": None,
        "input_params": {"a": 1},
        "reset": True,
        "expect": {"state": "X"},
    }

    assert loaded(tmp_path, turns=[turn]).turns[0] == Turn(
        None,
        "other",
        (
            Edit("insert", "ce_config", {"config_type": "A", "config_key": "B", "config_value": "[1]"}),
            Edit("update", "ce_config", {"enabled": False}, {"config_type": "A"}),
            Edit("delete", "ce_config", {}, {"config_id": 1}),
        ),
        {"a": 1},
        True,
        {"success": True, "http_status": 200, "state": "X"},
    )


def test_a_turn_may_come_by_a_thread_and_set_the_clock(tmp_path: Path) -> None:
    thread = {"remote_jid": "+1555"}
    turns = [{"user": "a", "thread": thread, "at": "7d 1ms"}, {"user": "b", "thread": {**thread, "channel": "sms"}}]

    first, second = loaded(tmp_path, turns=turns).turns

    assert (first.thread, first.at) == (ThreadName("default", "whatsapp", "+1555"), timedelta(days=7, milliseconds=1))
    assert (second.thread, second.at) == (ThreadName("default", "sms", "+1555"), None)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"at": "soon"}, "turns[0].at: must be a time since the beginning"),
        ({"at": "5 minutes"}, "turns[0].at: must be a time since the beginning"),
        ({"thread": {}}, "remote_jid"),
        ({"thread": {"remote_jid": "+1", "chanel": "sms"}}, "chanel"),
        ({"thread": {"remote_jid": "+1"}, "reset": True}, "reset"),
        ({"thread": {"remote_jid": "+1"}, "conversation": "main"}, "conversation"),
    ],
)
def test_a_thread_or_a_time_that_is_none_is_an_error(tmp_path: Path, more: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        loaded(tmp_path, turns=[{"user": "a", **more}])

    assert problem in str(refused.value)


def test_a_turn_belongs_to_the_main_conversation_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert loaded(tmp_path).turns[0].conversation == MAIN


LINE = {"when": {"purpose": "intent"}, "reply": "x"}
TOOL = {"tool_code": "a", "result": 1}
BOX = {"page_id": 1, "section_id": 2, "container_id": 3, "result": 1}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"id": "other"}, "id: `other` must be the name of the file, `world`."),
        ({"titel": "x"}, "titel: unknown key `titel`; did you mean `title`?"),
        ({"turns": []}, "turns: must have at least one turn."),
        ({"turns": [{}]}, "turns[0]: the key `user` is missing."),
        ({"turns": [{"user": 1}]}, "turns[0].user: must be a text."),
        ({"turns": [{"user": "a", "expct": {}}]}, "turns[0].expct: unknown key `expct`; did you mean `expect`?"),
        ({"turns": [{"user": "a", "input_params": []}]}, "turns[0].input_params: must be a map."),
        ({"turns": [{"user": "a", "reset": "yes"}]}, "turns[0].reset: must be true or false."),
        ({"turns": [{"user": "a", "expect": {"intnt": 1}}]}, "turns[0].expect.intnt: unknown key `intnt`; did you"),
        ({"turns": [{"user": "a", "before": {}}]}, "turns[0].before: must be a list."),
        ({"turns": [{"user": "a", "before": [{"row": {}}]}]}, "turns[0].before[0]: needs exactly one of `insert`, `up"),
        (
            {"turns": [{"user": "a", "before": [{"insert": "ce_x", "row": {}}]}]},
            "turns[0].before[0].insert: unknown table `ce_x`;",
        ),
        (
            {"turns": [{"user": "a", "before": [{"insert": "ce_rule", "where": {}}]}]},
            "turns[0].before[0].where: unknown key `where`;",
        ),
        (
            {"turns": [{"user": "a", "before": [{"update": "ce_rule", "where": {"x": 1}, "set": {}}]}]},
            "turns[0].before[0].where.x: unknown column of ce_rule `x`;",
        ),
        ({"tables": {"ce_rules": []}}, "tables.ce_rules: unknown table `ce_rules`; did you mean `ce_rule`?"),
        ({"tables": {"ce_rule_history": []}}, "tables.ce_rule_history: unknown table"),
        ({"tables": {"auth_user": []}}, "tables.auth_user: unknown table `auth_user`"),
        ({"tables": {"ce_rule": {}}}, "tables.ce_rule: must be a list."),
        ({"tables": {"ce_rule": [{"acton": "X"}]}}, "tables.ce_rule[0].acton: unknown column of ce_rule `acton`; did"),
        ({"tables": {"ce_rule": [{"priority": "high"}]}}, "tables.ce_rule[0].priority: "),
        ({"state_graph": [{"from": "A"}]}, "state_graph[0]: the key `to` is missing."),
        ({"state_graph": [{"from": "A", "to": "B", "via": "C"}]}, "state_graph[0].via: unknown key `via`;"),
        ({"conversation": {"intent": "X"}}, "conversation.intent: unknown key `intent`; did you mean `intent_code`?"),
        ({"conversation": {"status": "DONE"}}, "conversation.status: unknown status `DONE`; known: BLOCKED, RUNNING."),
        ({"conversation": {"history": [{"user": "a"}]}}, "conversation.history[0]: the key `assistant` is missing."),
        ({"llm": [{"reply": "x"}]}, "llm[0]: the key `when` is missing."),
        ({"llm": [{**LINE, "error": "x"}]}, "llm[0]: needs either `reply` or `error`."),
        ({"llm": [{"when": {"purpose": "intent"}}]}, "llm[0]: needs either `reply` or `error`."),
        ({"tasks": [{"bean": "a", "method": "b", "returns": 1, "often": 1}]}, "tasks[0].often: unknown key `often`;"),
        ({"model": "none"}, "model: must be true or false."),
        ({"llm": [{**LINE, "times": 0}]}, "llm[0].times: must be a whole number of at least 1."),
        ({"llm": [{**LINE, "reply": 5}]}, "llm[0].reply: must be a text, an object or a list."),
        ({"llm": [{**LINE, "when": {"purpose": "intents"}}]}, "llm[0].when.purpose: unknown purpose `intents`;"),
        ({"llm": [{**LINE, "when": {"purpose": "intent", "has": "x"}}]}, "llm[0].when.has: unknown key `has`;"),
        ({"tasks": [{"bean": "a", "method": "b"}]}, "tasks[0]: needs either `returns` or `raises`."),
        ({"tools": [{"result": 1}]}, "tools[0]: needs a `tool_code` or a `tool_group`."),
        ({"tools": [{"tool_code": "a"}]}, "tools[0]: needs either `result` or `error`."),
        ({"tools": [{**TOOL, "when": {}}]}, "tools[0].when: unknown key `when`;"),
        ({"containers": [{**BOX, "page_id": "x"}]}, "containers[0].page_id: must be a whole number of at least 0."),
        ({"containers": [{**BOX, "error": "x"}]}, "containers[0]: needs either `result` or `error`."),
        ({"settings": {"flow": {"x": 1}}}, "settings.flow.x: unknown setting `flow.x`;"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_an_error_at_its_place(tmp_path: Path, given: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        loaded(tmp_path, **given)

    assert str(refused.value).startswith(problem)


def test_a_file_that_is_no_map_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("- a")

    with pytest.raises(ScenarioFileError, match="must be a map"):
        load(path)


def test_folders_are_looked_through_and_each_file_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("b.yaml", "a.yaml", "sub/c.yaml", "notes.txt"):
        (tmp_path / name).touch()

    found = files([tmp_path, tmp_path / "a.yaml"])

    assert [file.name for file in found] == ["a.yaml", "b.yaml", "c.yaml"]


@pytest.mark.parametrize("file", files([SHARED]), ids=lambda file: file.stem)
def test_a_shared_scenario_reads(file: Path) -> None:
    assert load(file).turns
