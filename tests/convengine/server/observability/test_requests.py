from typing import Any

import pytest
import structlog
from django.conf import settings
from django.test import Client, override_settings

from convengine.server.observability import metrics
from tests.convengine.server.observability.readings import read


def request_lines(logs: list[Any]) -> list[Any]:
    return [line for line in logs if line["event"] == "request"]


def test_a_request_is_counted_by_area_and_status() -> None:
    before = read(metrics.REQUEST_SECONDS, "turns", "4xx", suffix="_count")

    Client().post("/api/v1/conversation/message")

    assert read(metrics.REQUEST_SECONDS, "turns", "4xx", suffix="_count") == before + 1


@pytest.mark.parametrize("wanted", [True, False])
def test_the_log_has_a_line_of_a_request_if_the_deployment_wants_it(wanted: bool) -> None:
    with (
        override_settings(CONVENGINE={**settings.CONVENGINE, "REQUEST_LOG": wanted}),
        structlog.testing.capture_logs() as logs,
    ):
        Client().get("/api/v1/nothing?q=what+somebody+seeks")

    fields = [(line["method"], line["path"], line["status"]) for line in request_lines(logs)]
    assert fields == ([("GET", "/api/v1/nothing", 404)] if wanted else [])
