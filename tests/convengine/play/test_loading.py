"""Every key of the format reads as it says, and every unknown or malformed one is an error at its place."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from convengine.engine.llm.scripted import ScriptLine
from convengine.engine.steps.tools.scripted import Stub
from convengine.play.loading import files, load, read_scenario, read_yaml
from convengine.play.scenario import (
    MAIN,
    ContainerStub,
    Edge,
    Edit,
    Scenario,
    ScenarioTurn,
    Start,
    TaskStub,
    ThreadName,
    TransformerStub,
)
from convengine.play.schema import ScenarioFileError
from tests.cases import for_each

SHARED = Path(__file__).resolve().parents[2] / "scenarios"


LINE = {"when": {"purpose": "intent"}, "reply": "x"}
TOOL = {"tool_code": "a", "result": 1}
BOX = {"page_id": 1, "section_id": 2, "container_id": 3, "result": 1}


def load_world(folder: Path, **given: Any) -> Scenario:
    path = folder / "world.yaml"
    path.write_text(yaml.safe_dump({"id": "world", "title": "A world", "turns": [{"user": "hi"}], **given}))
    return load(path)


def test_the_smallest_scenario_has_a_turn(tmp_path: Path) -> None:
    assert load_world(tmp_path).turns == (ScenarioTurn("hi"),)


def test_the_words_about_a_scenario_are_kept(tmp_path: Path) -> None:
    world = load_world(tmp_path, covers=["Step"], why="because", requires=["time_travel"])

    assert (world.id, world.title, world.why) == ("world", "A world", "because")
    assert (world.covers, world.requires) == (("Step",), ("time_travel",))


def test_settings_become_those_of_the_product(tmp_path: Path) -> None:
    world = load_world(tmp_path, settings={"flow": {"memory": {"enabled": True}}})

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
    stored = load_world(tmp_path, tables={"ce_prompt_template": [row]}).tables["ce_prompt_template"][0]

    assert stored["response_type"] == "TEXT"
    assert stored["system_prompt"] == '{"be": "kind"}'
    assert str(stored["temperature"]) == "0.5"
    assert stored["interaction_contract"] == {"allows": ["affirm"]}


def test_edges_come_from_the_graph_and_from_the_settings(tmp_path: Path) -> None:
    world = load_world(
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

    assert load_world(tmp_path, conversation=given).start == Start(
        {
            "intent_code": "FAQ",
            "state_code": "IDLE",
            "status": "BLOCKED",
            "context_json": {"a": 1},
            "input_params_json": {"vip": True},
        },
        (("hi", "hello"),),
    )


def test_a_conversation_may_begin_with_everything_that_its_session_had(tmp_path: Path) -> None:
    columns = {"last_turn_no": 7, "lifecycle": "AWAITING_INPUT", "lifecycle_detail": {"on": "FORM"}, "context_epoch": 1}
    given = {**columns, "previous_turn": {"dialogue_act": "EDIT"}, "created_at": "2m", "last_assistant": "Which?"}

    start = load_world(tmp_path, conversation=given).start

    assert start == Start(
        {**columns, "context_json": {}, "input_params_json": {}, "last_assistant_json": "Which?"},
        previous_turn={"dialogue_act": "EDIT"},
        times={"created_at": timedelta(minutes=2)},
    )


def test_a_script_of_the_model_is_read(tmp_path: Path) -> None:
    world = load_world(
        tmp_path,
        llm=[
            {"when": {"purpose": "intent", "contains": "a"}, "reply": {"intent": "X"}, "times": 2},
            {"when": {"purpose": "response", "contains": ["a", "b"], "prompt_contains": "c"}, "reply": "Hi."},
            {"when": {"purpose": "planner"}, "error": "offline"},
        ],
    )

    assert world.llm == (
        ScriptLine(frozenset({"INTENT_AGENT"}), '{"intent":"X"}', contains=("a",), times=2),
        ScriptLine(
            frozenset({"RESPONSE_TEXT", "RESPONSE_JSON", "COLLISION"}),
            "Hi.",
            contains=("a", "b"),
            prompt_contains=("c",),
        ),
        ScriptLine(frozenset({"MCP_PLAN"}), error="offline"),
    )


def test_stubs_are_read(tmp_path: Path) -> None:
    world = load_world(
        tmp_path,
        tasks=[
            {"bean": "mail", "method": "send", "returns": None, "sets_context": {"sent": True}},
            {"bean": "mail", "method": "fail", "raises": "no", "code": "NO_ROUTE", "removes_context": ["draft"]},
        ],
        turns=[{"user": "hi", "transformers": [{"stage": "FINAL", "name": "Polite", "result": "Hi."}]}],
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
        TaskStub("mail", "fail", raises="no", code="NO_ROUTE", removes_context=["draft"]),
    )
    assert world.turns[0].transformers == (TransformerStub("FINAL", "Polite", "Hi."),)
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

    assert load_world(tmp_path, turns=[turn]).turns[0] == ScenarioTurn(
        None,
        "other",
        (
            Edit("insert", "ce_config", {"config_type": "A", "config_key": "B", "config_value": "[1]"}),
            Edit("update", "ce_config", {"enabled": False}, {"config_type": "A"}),
            Edit("delete", "ce_config", {}, {"config_id": 1}),
        ),
        {"a": 1},
        True,
        {"state": "X"},
    )


def test_a_turn_may_come_by_a_thread_and_set_the_clock(tmp_path: Path) -> None:
    thread = {"remote_jid": "+1555"}
    turns = [{"user": "a", "thread": thread, "at": "7d 1ms"}, {"user": "b", "thread": {**thread, "channel": "sms"}}]

    first, second = load_world(tmp_path, turns=turns).turns

    assert (first.thread, first.at) == (ThreadName("+1555", "default", "whatsapp"), timedelta(days=7, milliseconds=1))
    assert (second.thread, second.at) == (ThreadName("+1555", "default", "sms"), None)


@pytest.mark.parametrize(
    ("more", "problem"),
    [
        ({"at": "soon"}, "turns[0].at: must be a time since the beginning"),
        ({"at": "5 minutes"}, "turns[0].at: must be a time since the beginning"),
        ({"at": "9999999d"}, "turns[0].at: is too long a time"),
        ({"at": f"{'9' * 30}d"}, "turns[0].at: is too long a time"),
        ({"thread": {}}, "remote_jid"),
        ({"thread": {"remote_jid": "+1", "chanel": "sms"}}, "chanel"),
        ({"thread": {"remote_jid": "+1"}, "reset": True}, "reset"),
        ({"thread": {"remote_jid": "+1"}, "conversation": "main"}, "conversation"),
    ],
)
def test_a_thread_or_a_time_that_is_none_is_an_error(tmp_path: Path, more: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        load_world(tmp_path, turns=[{"user": "a", **more}])

    assert problem in str(refused.value)


def test_a_turn_belongs_to_the_main_conversation_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert load_world(tmp_path).turns[0].conversation == MAIN


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"id": "other"}, "id: `other` must be the name of the file, `world`."),
        ({"titel": "x"}, "titel: unknown key `titel`; did you mean `title`?"),
        ({"turns": []}, "turns: must not be empty."),
        ({"turns": [{}]}, "turns[0]: the key `user` is missing."),
        ({"turns": [{"user": 1}]}, "turns[0].user: must be a text or null, not 1."),
        ({"turns": [{"user": "a", "expct": {}}]}, "turns[0].expct: unknown key `expct`; did you mean `expect`?"),
        ({"turns": [{"user": "a", "input_params": []}]}, "turns[0].input_params: must be a map, not []."),
        ({"turns": [{"user": "a", "reset": "yes"}]}, "turns[0].reset: must be true or false, not \"yes\"."),
        ({"turns": [{"user": "a", "expect": {"intnt": 1}}]}, "turns[0].expect.intnt: unknown key `intnt`; did you"),
        ({"turns": [{"user": "a", "before": {}}]}, "turns[0].before: must be a list, not {}."),
        ({"turns": [{"user": "a", "before": [{"row": {}}]}]}, "turns[0].before[0]: needs exactly one of `insert`, `up"),
        (
            {"turns": [{"user": "a", "before": [{"insert": "ce_x", "row": {}}]}]},
            "turns[0].before[0].insert: unknown table `ce_x`;",
        ),
        (
            {"turns": [{"user": "a", "before": [{"insert": "ce_rule", "row": {}, "where": {}}]}]},
            "turns[0].before[0].where: this key is not allowed here; remove it.",
        ),
        (
            {"turns": [{"user": "a", "before": [{"update": "ce_rule", "where": {"x": 1}, "set": {}}]}]},
            "turns[0].before[0].where.x: unknown column of ce_rule `x`;",
        ),
        ({"turns": [{"user": "a", "before": [{"insert": "ce_rule"}]}]}, "turns[0].before[0]: the key `row` is missing"),
        (
            {"turns": [{"user": "a", "expect": {"persisted": {"intent": "X"}}}]},
            "turns[0].expect.persisted.intent: unknown column of ce_conversation `intent`; did you mean `intent_code`?",
        ),
        ({"tables": {"ce_rules": []}}, "tables.ce_rules: unknown table `ce_rules`; did you mean `ce_rule`?"),
        ({"tables": {"ce_rule_history": []}}, "tables.ce_rule_history: unknown table"),
        ({"tables": {"auth_user": []}}, "tables.auth_user: unknown table `auth_user`"),
        ({"tables": {"ce_rule": {}}}, "tables.ce_rule: must be a list, not {}."),
        ({"tables": {"ce_rule": [{"acton": "X"}]}}, "tables.ce_rule[0].acton: unknown column of ce_rule `acton`; did"),
        ({"tables": {"ce_rule": [{"priority": "high"}]}}, "tables.ce_rule[0].priority: "),
        ({"state_graph": [{"from": "A"}]}, "state_graph[0]: the key `to` is missing."),
        ({"state_graph": [{"from": "A", "to": "B", "via": "C"}]}, "state_graph[0].via: unknown key `via`;"),
        ({"conversation": {"intent": "X"}}, "conversation.intent: unknown key `intent`; did you mean `intent_code`?"),
        ({"conversation": {"status": "DONE"}}, "conversation.status: unknown status `DONE`; known: BLOCKED, RUNNING."),
        ({"conversation": {"history": [{"user": "a"}]}}, "conversation.history[0]: the key `assistant` is missing."),
        ({"llm": [{"reply": "x"}]}, "llm[0]: the key `when` is missing."),
        ({"llm": [{**LINE, "error": "x"}]}, "llm[0]: needs exactly one of `reply`, `error`."),
        ({"llm": [{"when": {"purpose": "intent"}}]}, "llm[0]: needs exactly one of `reply`, `error`."),
        ({"tasks": [{"bean": "a", "method": "b", "returns": 1, "often": 1}]}, "tasks[0].often: unknown key `often`;"),
        ({"settings": {"flow": 1}}, "settings.flow: must be a map, not 1."),
        ({"settings": {"flow": {"memory": {"enable": 1}}}}, "settings.flow.memory.enable: unknown key `enable`;"),
        ({"settings": {"flow": {"memory": {"enabled": "perhaps"}}}}, "settings.flow.memory.enabled: must be true or"),
        ({"model": "none"}, "model: must be true or false, not \"none\"."),
        ({"llm": [{**LINE, "times": 0}]}, "llm[0].times: must be a whole number of at least 1, not 0."),
        ({"llm": [{**LINE, "reply": 5}]}, "llm[0].reply: must be a text or a map or a list, not 5."),
        ({"llm": [{**LINE, "when": {"purpose": "intents"}}]}, "llm[0].when.purpose: unknown purpose `intents`;"),
        ({"llm": [{**LINE, "when": {"purpose": "intent", "has": "x"}}]}, "llm[0].when.has: unknown key `has`;"),
        ({"tasks": [{"bean": "a", "method": "b"}]}, "tasks[0]: needs exactly one of `returns`, `raises`."),
        ({"tools": [{"result": 1}]}, "tools[0]: needs at least one of `tool_code`, `tool_group`."),
        ({"tools": [{"tool_code": "a"}]}, "tools[0]: needs exactly one of `result`, `error`."),
        ({"tools": [{**TOOL, "when": {}}]}, "tools[0].when: unknown key `when`;"),
        ({"containers": [{**BOX, "page_id": "x"}]}, "containers[0].page_id: must be a whole number of at least 0, not"),
        ({"containers": [{**BOX, "error": "x"}]}, "containers[0]: needs exactly one of `result`, `error`."),
        ({"settings": {"flow": {"x": 1}}}, "settings.flow.x: unknown key `x`;"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_an_error_at_its_place(tmp_path: Path, given: Any, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        load_world(tmp_path, **given)

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

    yaml_files = files([tmp_path, tmp_path / "a.yaml"])

    assert [file.name for file in yaml_files] == ["a.yaml", "b.yaml", "c.yaml"]


def test_a_folder_with_the_name_of_a_file_is_looked_through_and_a_broken_link_is_reported(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").mkdir()
    (tmp_path / "old.yaml" / "a.yaml").touch()
    (tmp_path / "b.yaml").symlink_to(tmp_path / "nothing")

    assert [file.name for file in files([tmp_path])] == ["b.yaml", "a.yaml"]
    with pytest.raises(ScenarioFileError, match="cannot be read"):
        load(tmp_path / "b.yaml")


@for_each("file", files([SHARED]))
def test_a_shared_scenario_reads(file: Path) -> None:
    assert load(file).turns


def file(folder: Path, text: str) -> Path:
    path = folder / "world.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_dates_stay_texts(tmp_path: Path) -> None:
    assert read_yaml(file(tmp_path, "{day: 2024-05-01, at: 2024-05-01 10:00:00, n: 1, t: true}")) == {
        "day": "2024-05-01",
        "at": "2024-05-01 10:00:00",
        "n": 1,
        "t": True,
    }


def test_a_yes_and_a_no_are_what_users_say(tmp_path: Path) -> None:
    assert read_yaml(file(tmp_path, "[yes, No, on, OFF, false, True]")) == ["yes", "No", "on", "OFF", False, True]


def test_anchors_and_merges_work(tmp_path: Path) -> None:
    assert read_yaml(file(tmp_path, "a: &x {b: 1}\nc: {<<: *x, d: 2}"))["c"] == {"b": 1, "d": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3", "line 3: the key `a` occurs twice."),
        ("a: {1: x}", "line 1: the key 1 is not text; put it in quotes."),
        ("a: [1", "line 1: The file is not valid YAML: "),
        ("a: !!python/object:os.system x", "line 1: The file is not valid YAML: "),
        ("a: !!int abc", "has a value that JSON cannot hold: "),
        (f"a: {'1' * 5000}", "has a value that JSON cannot hold: "),
    ],
)
def test_a_file_that_cannot_be_read_says_where(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ScenarioFileError) as refused:
        read_yaml(file(tmp_path, text))

    assert str(refused.value).startswith(problem)


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml")


def test_a_document_that_is_no_file_is_read_too_and_names_no_files() -> None:
    document = {"id": "typed", "title": "Typed", "turns": [{"user": "hi"}], "tools": [{"tool_code": "t", "result": 1}]}
    assert read_scenario(document).tools[0].result == 1
    with pytest.raises(ScenarioFileError, match="configuration: names a file"):
        read_scenario({**document, "configuration": "../../etc/passwd"})
