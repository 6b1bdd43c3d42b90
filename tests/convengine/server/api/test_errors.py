from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError, connection
from django.test import Client
from structlog.testing import capture_logs

from tests.api import Caller, make_key

pytestmark = pytest.mark.django_db


def failing(error: type[Exception]) -> AbstractContextManager[None]:
    """No statement gets through."""

    def fail(*args: Any) -> None:
        raise error("the server closed the connection unexpectedly")

    return connection.execute_wrapper(fail)


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_database_that_fails_before_there_is_a_turn_may_be_asked_again(
    caller: Caller, error: type[Exception]
) -> None:
    with failing(error):
        responses = caller.post({"message": "hours"}), caller.get()

    for response in responses:
        answer = response.json()
        assert (response.status_code, answer["errorCode"]) == (503, "CONVERSATION_PERSIST_FAILED")
        assert answer["recoverable"] is True
        assert "closed the connection" not in response.text


def test_a_database_that_is_away_is_one_line_of_the_log_without_a_traceback(caller: Caller) -> None:
    with capture_logs() as lines, failing(OperationalError):
        caller.post({"message": "hours"})

    faults = [line for line in lines if line["log_level"] == "error"]
    assert [line["error"] for line in faults] == ["OperationalError: the server closed the connection unexpectedly"]
    assert "exc_info" not in faults[0]


def test_an_address_that_there_is_not_is_answered_in_the_envelope(caller: Caller) -> None:
    for response in (caller.client.get("/api/v1/nowhere"), caller.client.post("/api/v1/conversation/nowhere")):
        answer = response.json()
        assert (response.status_code, answer["errorCode"]) == (404, "NOT_FOUND")
        assert "/api/docs/" in answer["message"]


def test_a_statement_that_is_wrong_is_no_failure_of_the_database(caller: Caller) -> None:
    with failing(ProgrammingError):
        response = caller.post({"message": "hours"})

    assert (response.status_code, response.json()["errorCode"]) == (500, "INTERNAL_ERROR")


@pytest.mark.parametrize(
    "address", ["config/bundle", "config-health", "config/topics", "config/ce_rule", "config/drafts"]
)
def test_a_draft_in_the_address_is_refused_because_no_call_takes_one_there(address: str) -> None:
    key = make_key(scopes=["config"])
    answer = Client().get(f"/api/v1/{address}?draft=7", headers={"Authorization": f"Api-Key {key}"})

    assert answer.status_code == 400
    assert "takes no draft" in answer.json()["fields"]["draft"][0]
