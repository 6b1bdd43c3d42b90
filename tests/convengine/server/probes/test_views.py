from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings
from django.urls import include, path

from convengine.server.probes import views
from convengine.server.probes.database_state import DatabaseState
from convengine.server.probes.readiness import Readiness, ServicePart

TOKEN = "a-token-of-sixteen-and-more"


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[ServicePart]:
    parts: list[ServicePart] = []
    monkeypatch.setattr(Readiness, "check", lambda self, **given: parts)
    return parts


def test_a_living_process_says_so_under_every_host() -> None:
    answer = Client().get("/livez", headers={"Host": "10.0.0.7:8000"})

    assert (answer.status_code, answer.json()) == (200, {"status": "alive"})
    assert answer.headers["Cache-Control"] == "no-store"
    assert Client().post("/livez").status_code == 405
    assert Client().head("/livez").content == b""


@pytest.mark.parametrize(
    ("given", "status", "text", "strict"),
    [
        ([ServicePart("database"), ServicePart("jobs", is_required=False)], 200, "ready", 200),
        ([ServicePart("database", "unreachable"), ServicePart("jobs", is_required=False)], 503, "not ready", 503),
        ([ServicePart("database"), ServicePart("jobs", "late", is_required=False)], 200, "degraded", 503),
    ],
)
def test_a_process_that_takes_no_turns_says_why(
    parts: list[ServicePart], given: list[ServicePart], status: int, text: str, strict: int
) -> None:
    parts += given

    answer = Client().get("/readyz", headers={"Host": "10.0.0.7:8000"})

    assert (answer.status_code, answer.json()["status"]) == (status, text)
    assert answer.json()["parts"] == {part.name: part.text for part in given}
    assert Client().get("/readyz?strict=true").status_code == (strict if text != "degraded" else 503)


class _WithMetrics:
    urlpatterns = [path("metrics", views.show_metrics), path("", include("convengine.urls"))]


@pytest.fixture
def with_metrics(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(
        Readiness,
        "read_state",
        lambda self: DatabaseState(True, True, True, 4, {"old_turns": 7.0}, {"old_turns": 2}, is_writable=True),
    )
    changed: Any = {"CONVENGINE": {**settings.CONVENGINE, "METRICS_TOKEN": TOKEN}, "ROOT_URLCONF": _WithMetrics}
    with override_settings(**changed):
        yield


@pytest.mark.usefixtures("with_metrics")
@pytest.mark.parametrize("sent", [None, "Bearer ", "Bearer wrong", TOKEN, "Basic " + TOKEN, "Bearer ä"])
def test_metrics_need_the_token(sent: str | None) -> None:
    answer = Client().get("/metrics", headers={"Authorization": sent} if sent is not None else {})

    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert b"convengine_" not in answer.content


@pytest.mark.usefixtures("with_metrics")
def test_metrics_are_read_with_the_token_under_every_host() -> None:
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}", "Host": "10.0.0.7"})

    text = answer.content.decode()
    assert answer.status_code == 200
    assert "convengine_database_up 1.0" in text
    assert "convengine_release_newest 4.0" in text
    assert 'convengine_job_overdue_seconds{job="old_turns"} 7.0' in text
    assert 'convengine_job_failures{job="old_turns"} 2.0' in text


@pytest.mark.django_db
def test_without_a_token_there_are_no_metrics() -> None:
    assert Client().get("/metrics").status_code == 404
