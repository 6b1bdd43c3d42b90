"""What was played is saved as a scenario file, and the file plays again."""

import uuid
from pathlib import Path

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

from audit.export.scenario.document import build_scenario
from audit.export.scenario.recorded_turns import NotExportable, read_recorded_turns
from config_admin.models import CeResponse
from convengine.play import database
from convengine.play.expectations import find_misses
from convengine.play.loading import dump_yaml, files, load
from convengine.play.report_format import format_line
from convengine.play.runner import RunOptions, open_world, run
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller, make_key
from tests.cases import for_each
from tests.scenarios.test_scenarios import FOLDER
from tests.worlds import create_help_desk

SHARED = [file for file in files([FOLDER]) if file.stem[:2].isdecimal()]


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
@for_each("file", SHARED)
def test_the_conversations_of_a_shared_world_are_saved_and_play_again(file: Path, tmp_path: Path) -> None:
    saved: list[Path] = []
    scenario = load(file)

    with database.allow_emptying():
        with open_world(scenario) as player:
            assert [miss for turn in scenario.turns for miss in find_misses(turn.expect, player.play(turn))] == []
            for name, key in player.ids.items():
                if found := CeConversation.objects.filter(pk=key).first():
                    saved.append(tmp_path / f"{file.stem}-{name}.yaml")
                    document = build_scenario(found, read_recorded_turns(found, None, None), saved[-1].stem)
                    saved[-1].write_text(dump_yaml(document), encoding="utf-8")
        reports = [run(one, RunOptions(replay=True)) for one in saved]

    assert reports
    assert [format_line(report) for report in reports if report.outcome != "passed"] == []


@pytest.fixture
def caller(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Caller:
    create_help_desk()
    return Caller()


def play_file(file: Path) -> str:
    with database.allow_emptying():
        return format_line(run(file))


def test_turns_of_an_installation_without_a_model_and_with_edits_between_them_play_again(
    caller: Caller, tmp_path: Path
) -> None:
    caller.say("hours")
    response = CeResponse.objects.get(intent_code="FEES")
    response.exact_text = "Ten."
    response.save()
    CeResponse.objects.filter(intent_code="HOURS", state_code="VIP").delete()
    caller.say("what fees are there")
    caller.say("hours", inputParams={"vip": True})
    caller.say("/reset")
    caller.say("my cvv")
    file = tmp_path / "a-talk.yaml"

    call_command("save_scenario", caller.conversation_id, output=file)

    document = yaml.safe_load(file.read_text())
    assert document["model"] is False
    edits = [
        (kind, one["where"]) for one in document["turns"][1]["before"] for kind in ("update", "delete") if kind in one
    ]
    assert [kind for kind, _ in edits] == ["delete", "update"]
    assert document["turns"][1]["expect"]["response"] == {"type": "TEXT", "equals": "Ten."}
    assert play_file(file).startswith("passed")


def test_a_turn_of_a_key_that_may_not_approve_plays_again(caller: Caller, tmp_path: Path) -> None:
    approver = Caller(make_key(scopes=["turns", "approve"]), caller.conversation_id)
    Caller(make_key(scopes=["turns"]), caller.conversation_id).say("hours", inputParams={"approval_granted": True})
    approver.say("fees", inputParams={"approval_granted": True})
    file = tmp_path / "approve.yaml"

    call_command("save_scenario", caller.conversation_id, output=file)

    turns = yaml.safe_load(file.read_text())["turns"]
    assert [turn.get("may_approve") for turn in turns] == [False, None]
    assert "INPUT_PARAM_IGNORED" in turns[0]["expect"]["audit_stages_in_order"]
    assert play_file(file).startswith("passed")


def test_a_range_begins_where_the_conversation_stood(caller: Caller, tmp_path: Path) -> None:
    caller.say("hours", inputParams={"vip": True})
    caller.say("fees")
    caller.say("hours")
    file = tmp_path / "two.yaml"

    call_command("save_scenario", caller.conversation_id, turns=(2, 3), output=file)

    document = yaml.safe_load(file.read_text())
    assert [turn["user"] for turn in document["turns"]] == ["fees", "hours"]
    assert document["conversation"]["intent_code"] == "HOURS"
    assert document["conversation"]["history"] == [{"user": "hours", "assistant": "For you: always."}]
    assert play_file(file).startswith("passed")


@pytest.mark.usefixtures("changeable_turns")
def test_what_cannot_be_played_again_is_named(caller: Caller, tmp_path: Path) -> None:
    caller.say("hours")
    CeConversationHistory.objects.update(replayable=False, replay_note="REDACT_KEYS masked a part.")
    found = CeConversation.objects.get()

    with pytest.raises(NotExportable, match="Turn 1 cannot be played again: REDACT_KEYS masked a part"):
        read_recorded_turns(found, None, None)
    with pytest.raises(CommandError, match="The conversation has no turns from turn 7 to turn 9"):
        call_command("save_scenario", caller.conversation_id, turns=(7, 9), output=tmp_path / "x.yaml")
    with pytest.raises(CommandError, match="The conversation does not exist"):
        call_command("save_scenario", str(uuid.uuid4()))
