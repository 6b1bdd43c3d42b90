import json
import uuid
from typing import Any

import pytest
from django.db import connection
from rest_framework_api_key.models import APIKey

from audit.models import CeAudit, CeTurnIndex
from config_admin.models import CeIntent, CeIntentClassifier, CeResponse, CeRule
from convengine.server.api.models import CeApiKey
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.api import Caller, make_key

pytestmark = pytest.mark.django_db


def test_a_message_is_answered_from_the_rows(caller: Caller) -> None:
    answer = caller.say("your hours please")

    assert answer["success"] is True
    assert (answer["intent"], answer["state"]) == ("HOURS", "IDLE")
    assert answer["payload"] == {"type": "TEXT", "value": "Nine to five."}
    assert (answer["turnNo"], answer["conversationId"]) == (1, caller.conversation_id)
    assert answer["errorCode"] is None
    assert answer["stateReport"]["lifecycle"] == "RUNNING"


def test_the_next_turn_goes_on_where_the_last_one_ended(caller: Caller) -> None:
    caller.say("your hours please", inputParams={"tier": "gold"})

    answer = caller.say("and the fees")

    assert (answer["turnNo"], answer["intent"]) == (2, "FEES")
    row = CeConversation.objects.get()
    assert (row.version, row.turn_count, row.last_turn_no) == (2, 2, 2)
    assert row.input_params_json["tier"] == "gold"


def test_without_an_id_a_conversation_begins(caller: Caller) -> None:
    answer = caller.post({"message": "hours"}).json()

    assert uuid.UUID(answer["conversationId"])
    assert answer["conversationId"] != caller.conversation_id


def test_an_edit_is_in_force_on_the_next_turn(caller: Caller) -> None:
    before = caller.say("hours")
    CeResponse.objects.filter(state_code="IDLE", intent_code="HOURS").update(exact_text="Ten to six.")

    after = caller.say("hours")

    assert after["payload"]["value"] == "Ten to six."
    assert after["configVersion"] == before["configVersion"] + 1
    assert set(CeAudit.objects.filter(turn_no=2).values_list("config_version", flat=True)) == {after["configVersion"]}


def test_a_rule_sees_the_callers_params(caller: Caller) -> None:
    answer = caller.say("hours", inputParams={"vip": True})

    assert (answer["state"], answer["payload"]["value"]) == ("VIP", "For you: always.")


def test_POL_V10_a_block_is_a_success_and_the_next_turn_runs(caller: Caller) -> None:
    blocked = caller.say("my cvv is 1")
    row = CeConversation.objects.get()
    after = caller.say("hours")

    assert (blocked["success"], blocked["payload"]["value"]) == (True, "No cards, please.")
    assert row.status == "BLOCKED"
    assert after["payload"]["value"] == "Nine to five."
    assert CeConversation.objects.get().status == "RUNNING"
    assert list(CeConversationHistory.objects.order_by("turn_no").values_list("status", flat=True)) == ["BLOCKED", "OK"]


@pytest.mark.amended("R62")
def test_P2_12_V3_a_block_leaves_its_timing_and_its_turn_record(caller: Caller) -> None:
    caller.say("my cvv is 1")

    timing = CeAudit.objects.get(stage="PIPELINE_TIMING").payload_json
    record = CeConversationHistory.objects.get()
    assert timing["status"] == "STOPPED"
    assert record.assistant_output == {"type": "TEXT", "value": "No cards, please."}


def test_a_failed_turn_is_recorded_and_changes_nothing(caller: Caller) -> None:
    caller.say("hours")
    CeResponse.objects.filter(intent_code="FEES").delete()

    response = caller.post({"conversationId": caller.conversation_id, "message": "fees"})

    answer = response.json()
    assert response.status_code == 500
    assert (answer["success"], answer["intent"], answer["errorCode"]) == (False, "ERROR", "RESPONSE_MAPPING_NOT_FOUND")
    assert answer["payload"]["type"] == "ERROR"
    assert answer["payload"]["value"]["recoverable"] is False
    row = CeConversation.objects.get()
    assert (row.intent_code, row.state_code, row.version, row.last_turn_no) == ("HOURS", "IDLE", 1, 2)
    record = CeConversationHistory.objects.get(turn_no=2)
    assert (record.status, record.error_code, record.user_input) == ("FAILED", "RESPONSE_MAPPING_NOT_FOUND", "fees")
    stages = list(CeAudit.objects.filter(turn_no=2).order_by("seq").values_list("stage", flat=True))
    assert stages.index("RESPONSE_MAPPING_NOT_FOUND") < stages.index("STEP_ERROR")
    assert stages.index("STEP_ERROR") < stages.index("ENGINE_KNOWN_FAILURE")


@pytest.mark.amended("R38")
def test_RST_V9_a_bare_reset_is_acknowledged_without_any_response_row(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="UNKNOWN").delete()

    answer = caller.say("/restart")

    assert answer["success"] is True
    assert answer["payload"]["value"] == "Starting fresh. How can I help you?"


def test_a_reset_of_a_turn_that_fails_still_holds(caller: Caller) -> None:
    caller.say("hours", inputParams={"tier": "gold"})
    CeResponse.objects.filter(intent_code="FEES").delete()

    caller.say("fees", reset=True)

    row = CeConversation.objects.get()
    assert (row.intent_code, row.state_code, row.input_params_json, row.context_epoch) == ("UNKNOWN", "UNKNOWN", {}, 1)


def test_ENG_V16_a_callers_engine_params_are_dropped_and_reported(caller: Caller) -> None:
    answer = caller.say("hours", inputParams={"guardrail_blocked": False, "color": "red"})

    assert answer["ignoredInputParams"] == ["guardrail_blocked"]
    assert CeConversation.objects.get().input_params_json["color"] == "red"
    assert CeAudit.objects.get(stage="INPUT_PARAM_IGNORED").payload_json["keys"] == ["guardrail_blocked"]


def test_the_rows_that_decided_are_kept(caller: Caller) -> None:
    caller.say("hours", inputParams={"vip": True})

    decided = set(CeTurnIndex.objects.exclude(kind=CeTurnIndex.STAGE).values_list("kind", "role"))
    assert decided == {("ce_intent_classifier", "CLASSIFIER"), ("ce_rule", "RULE"), ("ce_response", "RESPONSE")}


def test_AUI_V4_a_text_that_no_database_takes_is_stored_all_the_same(caller: Caller) -> None:
    answer = caller.say("hours\x00 and \ud800")

    assert answer["success"] is True
    assert CeConversationHistory.objects.get().user_input == "hours\ufffd and \ufffd"


@pytest.mark.amended("R61")
def test_P2_12_V4_a_turn_without_a_text_leaves_its_record_too(caller: Caller) -> None:
    caller.say(None, inputParams={"button": "x"})

    assert CeConversationHistory.objects.get().user_input is None


# --- bad input --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"mesage": "x"}, "mesage"),
        ({"message": 5}, "message"),
        ({"message": ["x"]}, "message"),
        ({"conversationId": "not-a-uuid"}, "conversationId"),
        ({"conversationId": 7}, "conversationId"),
        ({"reset": "yes"}, "reset"),
        ({"inputParams": []}, "inputParams"),
        ({"inputParams": {"bad key": 1}}, "inputParams"),
        ([], "body"),
        ('"hello"', "body"),
    ],
)
def test_a_request_that_is_wrong_names_the_field(caller: Caller, body: Any, field: str) -> None:
    response = caller.post(body)

    answer = response.json()
    assert response.status_code == 400
    assert answer["errorCode"] == "VALIDATION_ERROR"
    assert field in answer["fields"]
    assert answer["success"] is False
    assert not CeConversation.objects.exists()


@pytest.mark.parametrize(
    ("body", "field", "texts"),
    [
        ({"inputParams": [1]}, "inputParams", ["JSON object or null", "[1]"]),
        ({"message": 5}, "message", ["a text or null", "5"]),
        ({"reset": "yes"}, "reset", ["true, false or null", '"yes"']),
        ({"mesage": "hi"}, "mesage", ['"hi"', "Did you mean message?", "Known: conversationId"]),
        ({"inputParams": {"bad key": 1}}, "inputParams", ['"bad key"', "letters, digits"]),
    ],
)
def test_an_error_names_value_and_remedy_and_the_conversation(
    caller: Caller, body: dict[str, Any], field: str, texts: list[str]
) -> None:
    answer = caller.post({"conversationId": caller.conversation_id, **body}).json()

    (problem,) = answer["fields"][field]
    assert [text for text in texts if text not in problem] == []
    assert answer["conversationId"] == caller.conversation_id


def test_an_id_that_is_none_is_not_echoed(caller: Caller) -> None:
    answer = caller.post({"conversationId": "not-a-uuid"}).json()

    assert answer["conversationId"] is None
    assert '"not-a-uuid" is not a UUID' in answer["fields"]["conversationId"][0]


def test_input_params_that_are_null_are_as_good_as_absent(caller: Caller) -> None:
    assert caller.say("hours", inputParams=None)["payload"]["value"] == "Nine to five."


@pytest.mark.parametrize(
    ("name", "alias", "value", "other"),
    [
        ("conversationId", "conversation_id", str(uuid.UUID(int=1)), str(uuid.UUID(int=2))),
        ("inputParams", "input_params", {"a": 1}, {"a": 2}),
    ],
)
def test_a_field_under_two_names_with_two_values_is_refused(
    caller: Caller, name: str, alias: str, value: Any, other: Any
) -> None:
    response = caller.post({name: value, alias: other, "message": "hours"})

    answer = response.json()
    assert (response.status_code, set(answer["fields"])) == (400, {name, alias})
    assert "Send one of them." in answer["fields"][name][0]
    assert not CeConversation.objects.exists()
    assert caller.post({name: value, alias: value, "message": "hours"}).status_code == 200


def test_what_is_too_large_tells_its_size_and_the_limit(caller: Caller) -> None:
    answer = caller.say("x" * 20_000)

    assert answer["message"] == "The message is too long: 20000 bytes of UTF-8 received, 16384 is the limit."
    assert (answer["receivedBytes"], answer["limitBytes"]) == (20_000, 16_384)
    assert answer["conversationId"] == caller.conversation_id
    body = caller.post({"inputParams": {"a": "x" * 1_100_000}}).json()
    assert (body["errorCode"], body["limitBytes"]) == ("REQUEST_TOO_LARGE", 1_048_576)
    assert body["receivedBytes"] > 1_100_000
    assert body["fields"]["body"]


@pytest.mark.parametrize(
    ("headers", "status", "field"),
    [
        ({"Content-Type": "text/plain"}, 415, "Content-Type"),
        ({"Accept": "text/html"}, 406, "Accept"),
        ({"Idempotency-Key": "x" * 129}, 400, "Idempotency-Key"),
    ],
)
def test_a_header_that_is_wrong_is_named_with_what_it_may_say(
    caller: Caller, headers: dict[str, str], status: int, field: str
) -> None:
    response = caller.client.post(
        "/api/v1/conversation/message",
        data=b'{"message": "hours"}',
        content_type=headers.pop("Content-Type", "application/json"),
        headers={"Authorization": f"Api-Key {caller.secret}", **headers},
    )

    assert response.status_code == status
    assert response.json()["fields"][field]


def test_a_body_that_is_no_json_is_refused(caller: Caller) -> None:
    response = caller.client.post(
        "/api/v1/conversation/message",
        data=b"{broken",
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}"},
    )

    assert (response.status_code, response.json()["errorCode"]) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"message": "x" * 16_385}, "MESSAGE_TOO_LARGE"),
        ({"message": "é" * 8_193}, "MESSAGE_TOO_LARGE"),
        ({"inputParams": {"a": "x" * 65_600}}, "INPUT_PARAMS_TOO_LARGE"),
        ({"inputParams": {"a": "x" * 1_100_000}}, "REQUEST_TOO_LARGE"),
    ],
)
def test_what_is_too_large_is_refused(caller: Caller, body: Any, code: str) -> None:
    response = caller.post(body)

    assert (response.status_code, response.json()["errorCode"]) == (413, code)
    assert not CeConversation.objects.exists()


def test_a_message_of_exactly_the_limit_is_taken(caller: Caller) -> None:
    assert caller.say("hours " + "x" * (16 * 1024 - 6))["success"] is True


def test_aliases_of_fields_are_understood(caller: Caller) -> None:
    answer = caller.post(
        {"conversation_id": caller.conversation_id, "message": "hours", "input_params": {"vip": True}}
    ).json()

    assert (answer["state"], answer["conversationId"]) == ("VIP", caller.conversation_id)


# --- who may ----------------------------------------------------------------------------------------------------


def test_without_a_key_nothing_is_answered(caller: Caller) -> None:
    response = caller.client.post("/api/v1/conversation/message", data={}, content_type="application/json")

    assert (response.status_code, response.json()["errorCode"]) == (401, "NOT_AUTHENTICATED")
    assert response.headers["WWW-Authenticate"] == "Api-Key"


def test_a_revoked_key_is_refused(caller: Caller) -> None:
    CeApiKey.objects.update(revoked=True)

    response = caller.post({"message": "hours"})

    assert (response.status_code, response.json()["message"]) == (401, "This API key was revoked.")


def test_a_key_that_is_not_ours_is_refused(caller: Caller) -> None:
    _, secret = APIKey.objects.create_key(name="other table")
    caller.secret = secret

    assert caller.post({"message": "hours"}).status_code == 401


def test_a_key_without_the_scope_is_refused(caller: Caller) -> None:
    caller.secret = make_key(scopes=["audit"])

    response = caller.post({"message": "hours"})

    assert (response.status_code, response.json()["errorCode"]) == (403, "FORBIDDEN")


def test_a_conversation_of_another_workspace_does_not_exist(caller: Caller) -> None:
    caller.say("hours")
    stranger = Caller(make_key("elsewhere"), caller.conversation_id)

    response = stranger.post({"conversationId": caller.conversation_id, "message": "hours"})

    assert (response.status_code, response.json()["errorCode"]) == (404, "NOT_FOUND")
    assert stranger.get().status_code == 404
    assert CeConversation.objects.get().turn_count == 1


def test_another_key_of_the_workspace_goes_on(caller: Caller) -> None:
    caller.say("hours")

    assert Caller(make_key(), caller.conversation_id).say("fees")["turnNo"] == 2


def test_unknown_ids_are_refused_where_callers_may_not_choose_them(caller: Caller) -> None:
    from config_admin.models import CeConfig

    CeConfig.objects.create(config_type="Session", config_key="ALLOW_CLIENT_CONVERSATION_IDS", config_value="false")

    assert caller.post({"conversationId": caller.conversation_id, "message": "hours"}).status_code == 404
    assert caller.post({"message": "hours"}).status_code == 200


# --- as the original answered -----------------------------------------------------------------------------------


def test_compat_answers_200_with_documents_as_text(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="FEES").delete()

    response = caller.post(
        {"conversationId": caller.conversation_id, "message": "fees"}, **{"X-ConvEngine-Compat": "1"}
    )

    answer = response.json()
    assert response.status_code == 200
    assert answer["success"] is False
    assert '"errorCode":"RESPONSE_MAPPING_NOT_FOUND"' in answer["payload"]["value"]


def test_compat_answers_the_whole_context_as_text(caller: Caller) -> None:
    caller.say("hours")
    CeConversation.objects.update(context_json={"order": 1, "_draft": 2})
    headers = {"Authorization": f"Api-Key {caller.secret}", "X-ConvEngine-Compat": "1"}
    body = {"conversationId": caller.conversation_id, "message": "hours"}

    def ask(query: str) -> Any:
        address = f"/api/v1/conversation/message{query}"
        answer = caller.client.post(address, body, content_type="application/json", headers=headers).json()
        return json.loads(answer["context"])

    assert ask("")["_draft"] == 2
    assert "_draft" not in ask("?context=public")


def test_a_broken_pattern_in_an_old_row_does_not_break_the_turn(caller: Caller) -> None:
    CeRule.objects.filter(intent_code="HOURS").update(match_pattern="$[?(")

    answer = caller.say("hours")

    assert answer["payload"]["value"] == "Nine to five."
    assert CeAudit.objects.get(stage="CONFIG_ROW_INVALID").payload_json["table"] == "ce_rule"


def nest(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(("depth", "status"), [(40, 200), (100, 400), (480, 400), (900, 400)])
def test_a_body_nested_too_deep_is_refused_at_once(caller: Caller, depth: int, status: int) -> None:
    assert caller.post({"message": "hours", "inputParams": {"a": nest(depth)}}).status_code == status


def test_an_unexpected_fault_is_answered_in_the_envelope(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*args: Any) -> None:
        raise ValueError("the password is swordfish")

    monkeypatch.setattr("convengine.server.api.views.take_turn", breaks)

    response = caller.post({"message": "hours"})

    answer = response.json()
    assert (response.status_code, answer["errorCode"]) == (500, "INTERNAL_ERROR")
    assert answer["incidentId"]
    assert "swordfish" not in response.content.decode()


@pytest.mark.parametrize("body", [{"message": 5}, {"message": "x" * 17_000}])
def test_compat_answers_200_also_to_what_is_refused(caller: Caller, body: Any) -> None:
    response = caller.post(body, **{"X-ConvEngine-Compat": "1"})

    assert (response.status_code, response.json()["success"]) == (200, False)


def test_only_a_key_with_the_scope_approve_may_approve(caller: Caller) -> None:
    params = {"approval_granted": True, "approvalGranted": True, "tier": "gold"}

    ignored = caller.say("hours", inputParams=params)["ignoredInputParams"]
    caller.secret = make_key(scopes=["turns", "approve"])

    assert ignored == ["approvalGranted", "approval_granted"]
    assert caller.say("hours", inputParams=params)["ignoredInputParams"] == []


def test_a_wish_for_a_person_is_answered_when_the_intent_that_hands_over_is_disabled(caller: Caller) -> None:
    CeIntent.objects.create(intent_code="HUMAN")
    CeIntentClassifier.objects.create(
        intent_code="HUMAN", state_code="HAND_OVER", rule_type="PHRASE", pattern="I want to talk to a person"
    )
    CeResponse.objects.create(
        intent_code="HUMAN", state_code="HAND_OVER", response_type="EXACT", exact_text="A person comes.", priority=1
    )
    assert caller.say("hours")["success"]
    with connection.cursor() as cursor:
        cursor.execute("UPDATE ce_intent SET enabled = false WHERE intent_code = 'HUMAN'")

    for text in ("an agent please", "blue elephants", "purple elephants", "green elephants"):
        answer = caller.say(text)
        assert (answer["success"], answer["intent"]) == (True, "HOURS")

    first = CeAudit.objects.filter(turn_no=2)
    assert first.get(stage="HAND_OVER_DISABLED").payload_json["intents"] == ["HUMAN"]
    assert not CeAudit.objects.filter(turn_no=3, stage="HAND_OVER_DISABLED").exists()
