import threading
from typing import Any

import pytest

from config_admin.api import views
from config_admin.health import background
from config_admin.models import CeRule
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader() -> Caller:
    create_help_desk()
    return Caller(make_key(scopes=["config"]))


def read(caller: Caller, path: str = "", **query: Any) -> Any:
    return caller.client.get(f"/api/v1/config{path}", query, headers={"Authorization": f"Api-Key {caller.secret}"})


def test_the_tables_are_listed_with_their_sizes(reader: Caller) -> None:
    body = read(reader).json()

    assert {"table": "ce_intent", "rows": 2} in body["tables"]
    assert body["configVersion"] > 0


def test_the_rows_of_a_table_are_those_that_the_engine_sees(reader: Caller) -> None:
    body = read(reader, "/ce_rule").json()

    assert [row["action_value"] for row in body["rows"]] == ["VIP"]
    CeRule.objects.update(action_value="GOLD")
    assert read(reader, "/ce_rule").json()["rows"][0]["action_value"] == "GOLD"


def test_rows_are_chosen_by_intent_and_state(reader: Caller) -> None:
    def texts(**query: str) -> list[str]:
        return [row["exact_text"] for row in read(reader, "/ce_response", **query).json()["rows"]]

    assert texts(intent="hours") == ["Nine to five.", "For you: always."]
    assert texts(intent="HOURS", state="VIP") == ["For you: always."]


def test_pages_lead_from_one_to_the_next(reader: Caller) -> None:
    all_rows: list[Any] = []
    after = None
    for _ in range(4):
        page = read(reader, "/ce_response", limit=1, **({"after": after} if after else {})).json()
        all_rows += page["rows"]
        after = page["next"]

    assert (len({row["response_id"] for row in all_rows}), after) == (4, None)
    assert read(reader, "/ce_intent", limit=1).json()["next"] == "FEES"
    assert [row["intent_code"] for row in read(reader, "/ce_intent", after="FEES").json()["rows"]] == ["HOURS"]


@pytest.mark.parametrize("limit", ["0", "501", "x", "-1", "9" * 30, "²"])
def test_a_limit_is_a_number_in_bounds(reader: Caller, limit: str) -> None:
    assert read(reader, "/ce_rule", limit=limit).status_code == 400


def test_an_unknown_table_is_not_found_and_a_key_needs_the_scope(reader: Caller) -> None:
    assert read(reader, "/auth_user").status_code == 404
    assert read(Caller(make_key())).status_code == 403


def test_the_health_of_the_configuration_is_told_with_inputs_and_fingerprints(reader: Caller) -> None:
    CeRule.objects.create(
        intent_code="ANY",
        state_code="ANY",
        rule_type="EXACT",
        match_pattern="ANY",
        action="SET_STATE",
        action_value="VIP2",
    )
    body = read(reader, "-health").json()
    collisions = [finding for finding in body["findings"] if finding["code"] == "GENERAL_RULE_UNDOES"]

    assert collisions
    assert all(collision["witness"]["userText"] and len(collision["fingerprint"]) == 32 for collision in collisions)
    assert body["errorCount"] + body["warningCount"] == len(body["findings"])
    chosen = read(reader, "-health", code="general_rule_undoes", table="ce_rule").json()
    assert chosen["findings"] == collisions
    assert read(reader, "-health", table="ce_none").status_code == 404


def test_who_asks_while_the_check_goes_on_is_told_how_far_it_is(
    reader: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(views, "WAITED", 0.01)
    monkeypatch.setattr(views, "runs", background.Runs())
    monkeypatch.setattr(background, "check_all", lambda *of, **options: go_on.wait(20))
    response = read(reader, "-health")
    go_on.set()

    assert (response.status_code, response["Retry-After"]) == (202, "2")
    assert response.json()["progress"].keys() == {"part", "done", "of"}
