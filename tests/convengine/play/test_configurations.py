"""Scenarios on a configuration of their own installation: a file, or rows of a release."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from config_admin.models import CeIntent, CeResponse
from convengine.engine.steps.tools.scripted import Stub
from convengine.play import database
from convengine.play.configurations import ConfigurationFile, StoredRows, read_live_configuration
from convengine.play.loading import files, load
from convengine.play.runner import Failure, RunOptions, ScenarioReport, run
from convengine.play.scenario import REAL, STUBS
from convengine.play.schema import ScenarioFileError
from convengine.server import wiring
from convengine.server.extensions import registry as registered
from convengine.server.extensions.registry import Registry, TaskEntry, ToolEntry
from tests.convengine.play.test_runner import TABLES, UNSURE

pytestmark = pytest.mark.django_db(transaction=True)

#: A rule that runs a task, and a tool that is called.
CODE: dict[str, list[dict[str, Any]]] = {
    "ce_rule": [
        {
            "phase": "PRE_RESPONSE_RESOLUTION", "intent_code": "FAQ", "state_code": "ANY", "rule_type": "EXACT",
            "match_pattern": "ANY", "action": "SET_TASK", "action_value": "till:ring",
        },
    ],
    "ce_mcp_tool": [
        {"tool_code": "stock", "tool_group": "WORKFLOW_ACTION", "intent_code": "FAQ", "state_code": "ANY",
         "description": "How many are left"},
    ],
    "ce_tool": [
        {"tool_code": "stock", "tool_group": "WORKFLOW_ACTION", "intent_code": "FAQ", "state_code": "ANY"},
    ],
}  # fmt: skip


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The extensions of the installation: a task and a tool."""
    registry = Registry()
    registry.add_task("till", TaskEntry({"ring": lambda call: call.set_context("rung", "really") or True}))
    registry.tools["stock"] = ToolEntry(lambda args, session: {"left": 7}, "WORKFLOW_ACTION", 1000)
    for module in (registered, wiring):
        monkeypatch.setattr(module, "registry", registry)
    for place in ("convengine.play.stubs", "config_admin.validation.installation"):
        monkeypatch.setattr(f"{place}.registry", registry)
    return registry


def write_bot(folder: Path, **tables: list[dict[str, Any]]) -> Path:
    file = folder / "bot.yaml"
    file.write_text(
        yaml.safe_dump(
            {"format": "convengine-configuration", "version": 1, "tables": {**TABLES, **tables}}, sort_keys=False
        )
    )
    return file


def play(folder: Path, *turns: dict[str, Any], options: RunOptions | None = None, **world: Any) -> ScenarioReport:
    (folder / "talk.yaml").write_text(
        yaml.safe_dump({"id": "talk", "title": "T", "configuration": "bot.yaml", "turns": list(turns), **world})
    )
    with database.allow_emptying():
        return run(folder / "talk.yaml", options or RunOptions())


def test_the_file_that_a_scenario_names_is_imported_and_its_turns_are_played(tmp_path: Path) -> None:
    write_bot(tmp_path)

    report = play(tmp_path, {"user": "fees", "expect": {"response": {"equals": "No fees."}, "llm_calls": 0}})

    assert report.failures == []


def test_real_extensions_answer_what_no_stub_does(tmp_path: Path) -> None:
    write_bot(tmp_path, **CODE)
    stub = {"tool_code": "stock", "when_args": {}, "result": {"left": 1}, "times": 1}
    calls = {"task_calls": [{"bean": "till", "method": "ring"}], "tool_calls": [{"tool_code": "stock"}]}

    report = play(
        tmp_path,
        {"user": "fees", "expect": {**calls, "context": {"$.rung": "really"}}},
        {"user": "fees", "expect": {"context": {"$.rung": "really"}}},
        tools=[stub],
    )

    assert report.failures == []


def test_with_stubs_alone_a_call_without_a_stub_fails_its_turn(tmp_path: Path) -> None:
    write_bot(tmp_path, **CODE)

    report = play(tmp_path, {"user": "fees"}, options=RunOptions(extensions=STUBS))

    assert {failure.where for failure in report.failures} == {"unscripted call"}
    assert any("till" in str(failure.actual) for failure in report.failures)


def test_a_failed_turn_is_explained(tmp_path: Path) -> None:
    write_bot(tmp_path)

    report = play(tmp_path, {"user": "fees"}, {"user": "fees", "expect": {"intent": "OTHER"}})

    assert report.failures == [Failure(2, "expect.intent", "OTHER", "FAQ")]
    assert list(report.explanations) == [2]
    assert any(line.startswith("Answer: ") and "No fees." in line for line in report.explanations[2])


def test_a_file_with_errors_is_refused_with_its_rows(tmp_path: Path) -> None:
    write_bot(tmp_path, ce_rule=[{"phase": "NEVER", "intent_code": "FAQ"}])

    (failure,) = play(tmp_path, {"user": "fees"}).failures

    assert (failure.turn, failure.where) == (None, "configuration")
    assert "Rules, row 1" in failure.actual


#: Rows that name what only variables of a deployment allow, which a clean clone does not have.
DEPLOYED: dict[str, list[dict[str, Any]]] = {
    "ce_mcp_tool": [
        {"tool_code": "prices", "tool_group": "HTTP_API", "intent_code": "FAQ", "state_code": "ANY",
         "description": "Finds a price"},
    ],
    "ce_mcp_http_tool": [
        {"tool_code": "prices", "connection_name": "till", "method": "GET", "url_template": "/prices",
         "param_schema": {"type": "object", "properties": {}}},
    ],
    "ce_tool": [
        {"tool_code": "prices", "tool_group": "HTTP_API", "intent_code": "FAQ", "state_code": "ANY"},
    ],
    "ce_mcp_server": [
        {"name": "desk", "transport": "STDIO", "command": "desk-server", "intent_code": "FAQ", "state_code": "ANY",
         "enabled": False},
        {"name": "hall", "transport": "HTTP", "url": "https://hall.example/mcp", "intent_code": "FAQ",
         "state_code": "ANY", "enabled": False},
    ],
    "ce_config": [{"config_type": "LLM", "config_key": "MODEL", "config_value": "large"}],
}  # fmt: skip


def test_a_scenario_needs_no_variables_of_the_deployment(tmp_path: Path) -> None:
    file = write_bot(tmp_path, **DEPLOYED)
    stub = {"tool_code": "prices", "result": {"mapped": 7}}
    with pytest.raises(ScenarioFileError, match="Declare it in CE_HTTP_CONNECTIONS"):
        ConfigurationFile(file).load()

    report = play(tmp_path, {"user": "fees", "expect": {"tool_calls": [{"tool_code": "prices"}]}}, tools=[stub])

    assert report.failures == []


def test_an_http_tool_without_a_stub_and_a_connection_fails_by_name(tmp_path: Path) -> None:
    write_bot(tmp_path, **DEPLOYED)

    report = play(tmp_path, {"user": "fees", "expect": {"input_params": {"tool_status": "SUCCESS"}}})

    assert report.failures == [Failure(1, "expect.input_params.tool_status", "SUCCESS", "ERROR")]
    assert any("The connection till does not exist" in line for line in report.explanations[1])


def test_edits_and_added_rows_of_a_scenario_do_not_reach_the_next_one(tmp_path: Path) -> None:
    write_bot(tmp_path)
    edit = {"update": "ce_response", "where": {"intent_code": "FAQ"}, "set": {"exact_text": "Ten."}}
    added = {"ce_intent": [{"intent_code": "MORE", "description": "More"}]}
    fees = {"user": "fees", "expect": {"response": {"equals": "No fees."}}}

    assert play(tmp_path, {"user": "fees", "before": [edit], "expect": {"response": {"equals": "Ten."}}}).failures == []
    assert play(tmp_path, fees, tables=added).failures == []
    assert CeIntent.objects.filter(intent_code="MORE").exists()
    assert play(tmp_path, fees).failures == []
    assert not CeIntent.objects.filter(intent_code="MORE").exists()


def test_the_configuration_in_force_can_be_tested_as_it_is(tmp_path: Path) -> None:
    write_bot(tmp_path)
    for table, rows in TABLES.items():
        for row in rows:
            {"ce_response": CeResponse, "ce_intent": CeIntent}.get(table, _classifier()).objects.create(**row)
    CeResponse.objects.filter(intent_code="FAQ").update(exact_text="Three.")
    live = read_live_configuration()

    report = play(
        tmp_path,
        {"user": "fees", "expect": {"response": {"equals": "Three."}}},
        options=RunOptions(configuration=live, extensions=REAL),
    )

    assert report.failures == []
    assert live.name == "live"


def _classifier() -> Any:
    from config_admin.models import CeIntentClassifier

    return CeIntentClassifier


def test_rows_of_any_release_can_be_tested(tmp_path: Path) -> None:
    rows = StoredRows("draft", {table: [dict(row) for row in given] for table, given in TABLES.items()})

    report = play(
        tmp_path, {"user": "fees", "expect": {"intent": "FAQ"}}, options=RunOptions(configuration=rows), model=False
    )

    assert report.failures == []


def test_what_a_scenario_of_a_bot_may_say(tmp_path: Path) -> None:
    (tmp_path / "talk.yaml").write_text(
        "id: talk\ntitle: T\nconfiguration: bots/bot.yaml\nextensions: stubs\nrecording: model.yaml\n"
        "turns: [{user: hi}]\n"
    )
    scenario = load(tmp_path / "talk.yaml")

    assert (scenario.configuration, scenario.recording) == (tmp_path / "bots/bot.yaml", tmp_path / "model.yaml")
    assert (scenario.extensions, scenario.model, scenario.settings.live) == (STUBS, True, {})


def test_a_folder_has_scenarios_in_yaml_and_json_and_other_files_with_a_format(tmp_path: Path) -> None:
    write_bot(tmp_path)
    (tmp_path / "recording.yaml").write_text("# Recorded.\nformat: convengine-recording\nversion: 1\n")
    (tmp_path / "a.json").write_text(json.dumps({"id": "a", "title": "A", "turns": [{"user": "hi"}], "llm": [UNSURE]}))
    (tmp_path / "b.yml").write_text("id: b\ntitle: B\nturns: [{user: hi}]\n")
    (tmp_path / "bundle.json").write_text('{"format": "convengine-configuration", "version": 1, "tables": {}}')

    assert [file.name for file in files([tmp_path])] == ["a.json", "b.yml"]
    assert load(tmp_path / "a.json").title == "A"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match=r"gone\.yaml"):
        ConfigurationFile(tmp_path / "gone.yaml").load()


def test_a_stub_that_is_used_up_answers_no_more() -> None:
    from convengine.engine.steps.tools.scripted import ScriptedTools
    from tests.builders import make_session

    tools = ScriptedTools([Stub("stock", result=1, times=1)])

    assert tools.has_answer("stock", "", {})
    tools.run("stock", "", {}, make_session())
    assert not tools.has_answer("stock", "", {})
