import structlog
from django.test import Client


def test_a_wrong_host_is_one_line_and_no_traceback(caplog: object) -> None:
    with structlog.testing.capture_logs() as logs:
        answer = Client().get("/admin/login/", headers={"Host": "evil.example"})

    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert [(line["event"], line["host"]) for line in logs] == [("host not served here", "evil.example")]
    assert caplog.records == []  # type: ignore[attr-defined]


def test_a_call_of_the_api_gets_the_usual_shape() -> None:
    answer = Client().get("/api/v1/sessions", headers={"Host": "evil.example"})

    assert (answer.status_code, answer.json()["errorCode"]) == (400, "VALIDATION_ERROR")
