"""A flow that somebody makes beside the demonstration's rows does what its own page says."""

from pathlib import Path

import pytest

from config_admin.models import CeRule
from config_admin.transfer.apply_import import add_rows
from convengine.json_value import Json
from convengine.play.loading import read_yaml
from tests.api import Caller
from tests.conversations import list_conversations
from tests.demo.talking import talk, tell
from tests.dialogues.rows.worlds import list_events, make_flows

pytestmark = [pytest.mark.django_db, pytest.mark.long]

FILE = Path(__file__).with_name("new_flow.yaml")
CONFIRMED = [
    ("I want a tattoo", "Which size", "COLLECT"),
    ("small", "Which artist", "COLLECT"),
    ("Inky", "Is that right?", "CONFIRM"),
]


@pytest.mark.usefixtures("shared_helpdesk")
@pytest.mark.parametrize("conversation", list_conversations(FILE))
def test_a_conversation_goes_as_it_is_told(conversation: dict[str, Json]) -> None:
    tell(conversation)


@pytest.mark.usefixtures("shared_helpdesk")
def test_a_no_asks_what_to_change_whatever_a_general_rule_wants(customer: Caller) -> None:
    make_flows(read_yaml(FILE)["flows"]["TATTOO"])
    rule = CeRule.objects.filter(phase="POST_DIALOGUE_ACT", action_value="KEPT", intent_code="CANCEL_ORDER").get()
    row = {"match_pattern": rule.match_pattern, "rule_type": rule.rule_type, "description": "a no", "priority": 1}
    general = {**row, "intent_code": "ANY", "state_code": "CONFIRM", "phase": "POST_DIALOGUE_ACT"}
    add_rows({"ce_rule": [{**general, "action": "SET_STATE", "action_value": "KEPT"}]}, author="ada", reason="a rule")

    talk(customer, [*CONFIRMED, ("no", "What should I change", "CONFIRM")])

    (skipped,) = (event for event in list_events(customer, 4, "RULE_NO_MATCH") if "overriddenBySchema" in event)
    assert skipped["reason"] == "OVERRIDDEN_BY"
