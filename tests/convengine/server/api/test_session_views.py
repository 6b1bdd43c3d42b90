"""The sessions API, call by call."""

import uuid
from itertools import pairwise
from typing import Any

import pytest

from config_admin.models import CeResponse
from convengine.server.sessions.models import CeConversation, CeSessionUnit
from tests.api import Caller, make_key
from tests.threads import Participant, row_of, travel_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def guest() -> Participant:
    travel_desk()
    return Participant()


def test_resolve_answers_in_the_shape_of_the_seed(guest: Participant) -> None:
    answer = guest.resolve("what's the weather like?")

    assert list(answer) == ["ok", "session_id", "decision", "reason", "session"]
    session = answer["session"]
    assert " ".join(session) == (
        "workspace_id channel remote_jid turn_count context_summary lifecycle lifecycle_detail preferences"
        " mounted_kb_id session_id engine_status intent state status created_at last_message_at expires_at"
        " previous_session_id"
    )
    assert {session[name][-6:] for name in ("created_at", "last_message_at", "expires_at")} == {"+00:00"}
    assert session["session_id"] == answer["session_id"]
    assert {name: session[name] for name in guest.thread} == guest.thread
    assert (session["status"], session["turn_count"], session["context_summary"]) == ("active", 0, "")
    assert (session["lifecycle"], session["lifecycle_detail"], session["engine_status"]) == ("RUNNING", {}, "RUNNING")
    assert (session["preferences"], session["mounted_kb_id"], session["previous_session_id"]) == ({}, None, None)
    assert session["created_at"] < session["expires_at"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("channel", ""), ("channel", "  "), ("channel", "api"), ("remote_jid", None), ("remote_jid", 7), ("colour", "red"),
     ("user_message", 7), ("workspace_id", "x" * 201)],
)  # fmt: skip
def test_resolve_names_the_field_that_is_wrong(guest: Participant, field: str, value: Any) -> None:
    response = guest.call("post", "/resolve", {**guest.thread, "user_message": "hi", field: value})

    assert response.status_code == 400
    assert (response.json()["ok"], list(response.json()["fields"])) == (False, [field])


@pytest.mark.parametrize("field", ["workspace_id", "channel", "remote_jid", "user_message"])
def test_resolve_wants_every_field(guest: Participant, field: str) -> None:
    body = {**guest.thread, "user_message": "hi"}
    del body[field]

    assert list(guest.call("post", "/resolve", body).json()["fields"]) == [field]


def test_a_message_is_resolved_and_answered(guest: Participant) -> None:
    answer = guest.say("hours", input_params={"tier": "gold", "dialogue_act": "RESET"})

    assert " ".join(answer) == "ok session_id decision reason session message_intent reply turn"
    assert (answer["ok"], answer["decision"], answer["reply"]) == (True, "new", "Nine to five.")
    assert answer["turn"]["payload"] == {"type": "TEXT", "value": "Nine to five."}
    assert answer["turn"]["ignoredInputParams"] == ["dialogue_act"]
    assert answer["session"]["turn_count"] == 1
    stored = guest.call("get", f"/{answer['session_id']}").json()["session"]
    assert {**stored, "expires_at": None} == {**answer["session"], "expires_at": None}


def test_a_message_of_a_turn_that_fails_says_so_in_both_shapes(guest: Participant) -> None:
    CeResponse.objects.filter(intent_code="HOURS").delete()

    response = guest.call("post", "/message", {**guest.thread, "user_message": "hours"})

    body = response.json()
    assert (response.status_code, body["ok"], body["errorCode"]) == (500, False, "RESPONSE_MAPPING_NOT_FOUND")
    assert (body["turn"]["success"], body["session"]["turn_count"]) == (False, 0)


def test_a_repeated_message_with_the_same_key_gets_the_same_answer(guest: Participant) -> None:
    body = {**guest.thread, "user_message": "start over"}
    guest.say("a trip")

    first = guest.call("post", "/message", body, **{"Idempotency-Key": "k1"})
    again = guest.call("post", "/message", body, **{"Idempotency-Key": "k1"})

    assert again.headers["X-Idempotent-Replay"] == "true"
    assert again.json() == first.json()
    assert CeConversation.objects.count() == 2


def test_one_session_is_read_with_its_lists(guest: Participant) -> None:
    answer = guest.say("a visa")
    guest.say("Japan")
    CeSessionUnit.objects.create(
        conversation=row_of(answer), kind="FACT", topic="country", claim="Japan", source_turn=2, content_hash="h"
    )

    body = guest.call("get", f"/{answer['session_id']}?include=messages,units,explainability").json()

    assert [(message["turn_no"], message["user"]) for message in body["messages"]] == [(2, "Japan"), (1, "a visa")]
    assert body["messages"][1]["assistant"] == "Which country?"
    assert [(unit["topic"], unit["claim"]) for unit in body["units"]] == [("country", "Japan")]
    assert [turn["turn_no"] for turn in body["explainability"]] == [2, 1]
    assert body["links"]["units"] == f"/api/v1/sessions/{answer['session_id']}/units"
    assert guest.call("get", f"/{answer['session_id']}/units").json()["units"] == body["units"]


def test_a_list_that_there_is_not_is_refused(guest: Participant) -> None:
    answer = guest.say("a visa")

    response = guest.call("get", f"/{answer['session_id']}?include=turns")

    assert (response.status_code, list(response.json()["fields"])) == (400, ["include"])


def test_a_turn_handled_elsewhere_is_recorded(guest: Participant) -> None:
    answer = guest.resolve("find report.pdf")
    body = {"user_message": "find report.pdf", "assistant_response": "It is in /tmp.", "action_type": "file_search"}

    response = guest.call("patch", f"/{answer['session_id']}", {"workspace_id": "default", **body})

    session = response.json()["session"]
    assert (response.status_code, session["turn_count"]) == (200, 1)
    assert session["context_summary"].endswith("TURNS: 1")
    assert "report.pdf" in session["context_summary"]
    record = row_of(answer).turns.get()
    assert (record.status, record.source, record.facts["action_type"]) == ("OK", "EXTERNAL", "file_search")
    assert (record.user_input, record.assistant_output["value"]) == ("find report.pdf", "It is in /tmp.")


def test_the_next_turn_sees_a_turn_handled_elsewhere_as_history(guest: Participant) -> None:
    answer = guest.resolve("a visa")
    guest.call("patch", f"/{answer['session_id']}", {"user_message": "a", "assistant_response": "b"})

    after = guest.say("hours")

    assert (after["turn"]["turnNo"], after["session"]["turn_count"]) == (2, 2)
    assert "u=a,a=b" in row_of(after).context_json["memory"]["session_summary"].replace(" ", "")


def test_a_closed_session_records_nothing_more(guest: Participant) -> None:
    answer = guest.say("a visa")
    guest.call("post", f"/{answer['session_id']}/close", {})

    response = guest.call("patch", f"/{answer['session_id']}", {"user_message": "a", "assistant_response": "b"})

    assert (response.status_code, response.json()["errorCode"]) == (409, "CONVERSATION_CLOSED")


@pytest.mark.parametrize(
    ("field", "value", "status"),
    [("user_message", "x" * 16_385, 413), ("action_type", "x" * 201, 400), ("action_type", 7, 400)],
)
def test_a_turn_handled_elsewhere_has_the_sizes_of_ours(
    guest: Participant, field: str, value: Any, status: int
) -> None:
    answer = guest.resolve("a visa")

    response = guest.call(
        "patch", f"/{answer['session_id']}", {"user_message": "a", "assistant_response": "b", field: value}
    )

    assert (response.status_code, row_of(answer).turn_count) == (status, 0)


def test_closing_twice_is_closing_once(guest: Participant) -> None:
    answer = guest.say("a visa")
    address = f"/{answer['session_id']}/close"

    first = guest.call("post", address, {"reason": "handed over"}).json()
    again = guest.call("post", address, {}).json()

    assert first["session"]["lifecycle"] == "COMPLETE"
    assert first["session"]["lifecycle_detail"]["reason"] == "handed over"
    assert again == first
    assert guest.say("hours")["reason"] == "session_closed"


def test_a_plain_conversation_that_was_closed_by_a_call_stays_closed(guest: Participant) -> None:
    caller = Caller(guest.secret)
    caller.say("a visa")

    guest.call("post", f"/{caller.conversation_id}/close", {})

    response = caller.post({"conversationId": caller.conversation_id, "message": "hours"})
    assert (response.status_code, response.json()["errorCode"]) == (409, "CONVERSATION_CLOSED")


def test_sessions_are_listed_newest_first_in_pages(guest: Participant) -> None:
    made = [Participant(guest.secret, channel=channel).say("hours") for channel in ("sms", "whatsapp", "sms")]
    guest.call("post", f"/{made[0]['session_id']}/close", {})

    first = guest.call("get", "?workspace_id=default&limit=2").json()
    rest = guest.call("get", f"?workspace_id=default&limit=2&cursor={first['next']}").json()

    ids = [session["session_id"] for session in [*first["sessions"], *rest["sessions"]]]
    assert ids == [session["session_id"] for session in reversed(made)]
    assert rest["next"] is None
    open_ones = guest.call("get", "?workspace_id=default&channel=sms&lifecycle=RUNNING").json()["sessions"]
    assert [session["session_id"] for session in open_ones] == [made[2]["session_id"]]


@pytest.mark.parametrize(
    ("query", "field"),
    [("", "workspace_id"), ("?workspace_id=default&lifecycle=x", "lifecycle"),
     ("?workspace_id=default&cursor=x", "cursor"), ("?workspace_id=default&limit=0", "limit"),
     pytest.param("?workspace_id=default&limit=" + "9" * 5000, "limit", id="thousands of digits"),
     (f"?workspace_id=default&cursor={uuid.UUID(int=0)}", "cursor")],
)  # fmt: skip
def test_a_list_names_the_parameter_that_is_wrong(guest: Participant, query: str, field: str) -> None:
    response = guest.call("get", query)

    assert (response.status_code, list(response.json()["fields"])) == (400, [field])


@pytest.mark.parametrize("name", ["channel", "remote_jid"])
def test_a_name_with_what_no_database_takes_is_found_as_it_was_stored(guest: Participant, name: str) -> None:
    body = guest.call("post", "/resolve", {**guest.thread, "user_message": "hi", name: "+1\0"}).json()

    listed = guest.call("get", f"?workspace_id=default&{name}=%2B1%00").json()

    assert [session["session_id"] for session in listed["sessions"]] == [body["session_id"]]


def test_a_workspace_is_a_boundary(guest: Participant) -> None:
    answer = guest.say("a visa")
    stranger = Participant(make_key("other"), guest.remote_jid)
    key = answer["session_id"]

    calls = [
        stranger.call("get", f"/{key}"),
        stranger.call("get", f"/{key}/units"),
        stranger.call("get", f"/{key}/explainability"),
        stranger.call("post", f"/{key}/close", {}),
        stranger.call("patch", f"/{key}", {"user_message": "a", "assistant_response": "b"}),
        stranger.call("get", "?workspace_id=default"),
        stranger.call("post", "/resolve", {**guest.thread, "user_message": "hi"}),
        stranger.call("post", "/message", {**guest.thread, "user_message": "hi"}),
    ]

    assert [call.status_code for call in calls] == [404] * 8
    assert {call.json()["ok"] for call in calls} == {False}
    assert row_of(answer).lifecycle == "AWAITING_USER"


def test_the_same_participant_in_another_workspace_is_another_thread(guest: Participant) -> None:
    mine = guest.say("a visa")

    other = Participant(make_key("other"), guest.remote_jid, "other").say("hours")

    assert (other["reason"], other["session_id"] != mine["session_id"]) == ("first_message", True)


def test_a_key_without_the_scope_may_not(guest: Participant) -> None:
    other = Participant(make_key(scopes=["turns"]))

    assert other.call("get", "?workspace_id=default").status_code == 403


def test_an_unknown_session_is_not_found_and_an_id_that_is_none_is_refused(guest: Participant) -> None:
    assert guest.call("get", f"/{uuid.uuid4()}").status_code == 404
    assert list(guest.call("get", "/sess_xyz").json()["fields"]) == ["session_id"]


@pytest.mark.parametrize("spelled", ["urn:uuid:{}", "{{{}}}", "{}"])
def test_an_id_may_be_spelled_in_several_ways(guest: Participant, spelled: str) -> None:
    answer = guest.say("a visa")
    address = "/" + spelled.format(answer["session_id"].upper())

    calls = [
        guest.call("get", f"{address}?include=units"),
        guest.call("patch", address, {"user_message": "a", "assistant_response": "b"}),
        guest.call("post", f"{address}/close", {}),
    ]

    assert [call.status_code for call in calls] == [200] * 3
    assert {call.json()["session"]["session_id"] for call in calls} == {answer["session_id"]}


def test_the_explainability_log_tells_of_each_turn(guest: Participant) -> None:
    answer = guest.say("hours", input_params={"tier": "gold"})
    CeResponse.objects.filter(intent_code="HOURS").update(response_type="UNHEARD_OF")
    guest.say("hours?")

    failed, fine = guest.call("get", f"/{answer['session_id']}/explainability").json()["turns"]

    assert (fine["status"], fine["response_preview"], fine["error"]) == ("OK", "Nine to five.", None)
    assert fine["request"]["input_param_names"] == ["tier"]
    assert (fine["request"]["channel"], fine["request"]["resolved"]) == ("whatsapp", "first_message")
    steps = [node["id"] for node in fine["trace"]["nodes"]]
    assert steps[0] == "LoadOrCreateConversationStep"
    order = [(edge["from"], edge["to"]) for edge in fine["trace"]["edges"] if edge["kind"] == "order"]
    assert order == list(pairwise(steps))
    assert (failed["status"], failed["error"]["code"]) == ("FAILED", "NO_RESPONSE_CONFIGURED")
    assert failed["trace"]["nodes"][-1]["outcome"] == "ERROR"


def test_the_keys_of_the_lists_keep_their_order(guest: Participant) -> None:
    row = row_of(guest.say("hours"))
    CeSessionUnit.objects.create(conversation=row, kind="FACT", topic="t", claim="c", source_turn=1, content_hash="1")

    answer = guest.call("get", f"/{row.pk}?include=messages,units,explainability").json()

    assert " ".join(answer) == "ok session messages units explainability links"
    assert " ".join(answer["messages"][0]) == "turn_no turn_id at status source user assistant"
    assert " ".join(answer["units"][0]) == (
        "unit_id kind topic claim source_turn content_hash utility phases committed_at"
    )
    assert " ".join(answer["explainability"][0]) == (
        "turn_no turn_id at status duration_ms config_version request preferences error response_preview response trace"
    )
    times = (answer["messages"][0]["at"], answer["units"][0]["committed_at"], answer["explainability"][0]["at"])
    assert {time[-6:] for time in times} == {"+00:00"}
