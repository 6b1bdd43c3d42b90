"""`GET /api/v1/conversation/audit/{id}/scenario`: a file that passes, or why there is none."""

from typing import Any

import pytest
import yaml

from audit.export.scenario import document as scenario_document
from audit.export.scenario.recorded_turns import NotExportable
from tests.api import Caller
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    caller.say("fees")
    return caller


def test_turns_are_saved_after_they_were_played(caller: Caller, monkeypatch: Any) -> None:
    played: list[Any] = []
    check = scenario_document.check_scenario
    monkeypatch.setattr(scenario_document, "check_scenario", lambda *given: played.append(given[0]) or check(*given))

    response = caller.get("/scenario", first=2)

    document = yaml.safe_load(response.content)
    assert (response.status_code, response["Content-Type"]) == (200, "application/yaml")
    assert [turn["user"] for turn in document["turns"]] == ["fees"]
    assert played == [document]


def test_a_refusal_says_why(caller: Caller, monkeypatch: Any) -> None:
    def refuse(document: Any, played: Any, conversation: Any) -> None:
        raise NotExportable(f"Turn {played[0][0]} fails.")

    monkeypatch.setattr(scenario_document, "check_scenario", refuse)

    response = caller.get("/scenario", first=2, last=2)

    assert response.status_code == 400
    assert response.json()["fields"] == {"turns": ["Turn 2 fails."]}
    assert caller.get("/scenario", first="x").status_code == 400
    assert Caller(conversation_id="0b9c0000-0000-4000-8000-000000000000").get("/scenario").status_code == 404
