from typing import Any

import pytest

from config_admin.models import CeResponse, CeVerbose
from convengine.server.api.models import CeApiKey
from convengine.server.api.serializers import TurnResponseSerializer
from convengine.server.sessions.models import CeConversation
from tests.api import Caller, make_key
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller() -> Caller:
    create_help_desk()
    CeVerbose.objects.create(
        intent_code="ANY",
        state_code="ANY",
        step_value="RulesStep",
        determinant="STEP_ENTER",
        message="In {{ intent }}.",
    )
    return Caller()


def say(caller: Caller, text: str, include: str, **headers: str) -> Any:
    return caller.client.post(
        f"/api/v1/conversation/message?include={include}",
        data={"conversationId": caller.conversation_id, "message": text},
        content_type="application/json",
        headers={"Authorization": f"Api-Key {caller.secret}", **headers},
    )


def test_the_lines_of_a_turn_come_with_the_answer_where_they_are_asked_for(caller: Caller) -> None:
    (line,) = say(caller, "hours", "verbose").json()["verbose"]

    assert (line["eventType"], line["stepName"], line["level"], line["text"]) == (
        "VERBOSE_PROGRESS",
        "RulesStep",
        "INFO",
        "In HOURS.",
    )
    assert "verbose" not in caller.say("hours")


def test_a_failed_turn_tells_which_step_failed_and_nothing_more(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="FEES").delete()

    answer = say(caller, "fees", "verbose").json()

    assert answer["success"] is False
    assert [(line["level"], line["text"]) for line in answer["verbose"]] == [
        ("INFO", "In FEES."),
        ("ERROR", "Something went wrong while processing Answer."),
    ]


def test_a_call_that_is_repeated_gets_the_same_answer_lines_included(caller: Caller) -> None:
    first = say(caller, "hours", "verbose", **{"Idempotency-Key": "k1"})
    again = say(caller, "hours", "verbose", **{"Idempotency-Key": "k1"})

    assert again.headers["X-Idempotent-Replay"] == "true"
    assert again.json() == first.json()


@pytest.mark.parametrize(("include", "status"), [("", 200), ("verbose,verbose", 200), ("verbose,trees", 400)])
def test_parts_that_there_are_not_are_refused(caller: Caller, include: str, status: int) -> None:
    response = say(caller, "hours", include)

    assert response.status_code == status
    if status == 400:
        assert response.json()["fields"] == {"include": ["There is no 'trees'. Known: verbose, trace."]}


# --- the trace ---------------------------------------------------------------------------------------------------


def trace_of(caller: Caller, turn_no: int) -> Any:
    return caller.client.get(
        f"/api/v1/conversation/{caller.conversation_id}/turns/{turn_no}/trace",
        headers={"Authorization": f"Api-Key {caller.secret}"},
    ).json()


def test_the_trace_of_a_turn_comes_with_the_answer_where_it_is_asked_for(caller: Caller) -> None:
    caller.say("fees")
    answer = say(caller, "hours", "trace,verbose").json()

    assert answer["trace"] == trace_of(caller, 2)
    (turn,) = answer["trace"]["turns"]
    assert (turn["turnId"], turn["intentTo"], turn["status"]) == (answer["turnId"], "HOURS", "OK")
    assert "RulesStep" in [step["step"] for step in turn["steps"]]
    assert answer["verbose"]
    assert "trace" not in caller.say("hours")


def test_a_failed_turn_has_a_trace_too(caller: Caller) -> None:
    CeResponse.objects.filter(intent_code="FEES").delete()

    answer = say(caller, "fees", "trace").json()

    assert answer["success"] is False
    assert answer["trace"]["turns"][0]["steps"][-1]["status"] == "ERROR"


def test_a_call_that_is_repeated_gets_the_trace_of_what_ran_and_none_is_kept(caller: Caller) -> None:
    first = say(caller, "hours", "trace", **{"Idempotency-Key": "k1"}).json()
    plain = say(caller, "hours", "", **{"Idempotency-Key": "k1"}).json()
    again = say(caller, "hours", "trace", **{"Idempotency-Key": "k1"}).json()

    assert again == first
    assert plain == {name: value for name, value in first.items() if name != "trace"}


def test_a_trace_is_for_keys_that_may_read_the_record_and_no_turn_runs_for_others(caller: Caller) -> None:
    caller.secret = make_key(scopes=["turns", "own_audit"])

    answer = say(caller, "hours", "trace")

    assert (answer.status_code, answer.json()["message"]) == (403, "This API key does not have the scope audit.")
    assert not CeConversation.objects.exists()
    assert say(caller, "hours", "").status_code == 200


def test_a_key_that_got_the_scope_meanwhile_gets_the_trace(caller: Caller) -> None:
    caller.secret = make_key(scopes=["turns"])
    caller.say("hours")
    CeApiKey.objects.update(scopes=["turns", "audit"])

    assert say(caller, "hours", "trace").json()["trace"]["turns"]


heard: list[str] = []


def hear(line: Any) -> None:
    heard.append(line.text)
    raise OSError("the listener's own trouble")


def test_a_listener_of_the_deployment_hears_each_line_and_its_trouble_is_its_own(caller: Caller, settings: Any) -> None:
    settings.CONVENGINE = {**settings.CONVENGINE, "VERBOSE_LISTENERS": [f"{__name__}.hear"]}
    heard.clear()

    assert caller.say("hours")["success"] is True
    assert heard == ["In HOURS."]


def test_the_keys_of_an_answer_keep_their_order_and_are_all_described(caller: Caller) -> None:
    answer = say(caller, "hours", "verbose").json()
    CeResponse.objects.filter(intent_code="FEES").delete()
    failure = say(caller, "fees", "verbose").json()

    turn = "success conversationId turnId turnNo configVersion ignoredInputParams verbose intent state payload context"
    assert " ".join(answer) == f"{turn} errorCode recoverable message stateReport"
    assert " ".join(failure) == f"{turn} errorCode message recoverable help"
    assert {*answer, *failure, "trace"} == set(TurnResponseSerializer().fields)


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("", {"order"}),
        ("?context=all", {"order", "mcp", "_draft"}),
        ("?context=public", {"order"}),
        ("?context=none", set()),
    ],
)
def test_a_caller_chooses_the_part_of_the_context(part: str, wanted: set[str]) -> None:
    create_help_desk()
    caller = Caller()
    caller.say("hours")
    CeConversation.objects.update(context_json={"order": 1, "mcp": {"status": "x"}, "_draft": 2})
    body = {"conversationId": caller.conversation_id, "message": "hours"}

    def ask() -> Any:
        headers = {"Authorization": f"Api-Key {caller.secret}", "Idempotency-Key": "k"}
        address = f"/api/v1/conversation/message{part}"
        return caller.client.post(address, body, content_type="application/json", headers=headers).json()["context"]

    first, repeated = ask(), ask()
    assert first == repeated
    assert set(first or ()) & {"order", "mcp", "_draft"} == wanted


def test_an_unknown_part_of_the_context_is_refused_before_the_turn() -> None:
    create_help_desk()
    caller = Caller()
    headers = {"Authorization": f"Api-Key {caller.secret}"}

    refused = caller.client.post(
        "/api/v1/conversation/message?context=most",
        {"message": "hours"},
        content_type="application/json",
        headers=headers,
    )

    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["context"])
    assert not CeConversation.objects.exists()
