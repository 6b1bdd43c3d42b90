"""The lines of README and first hour against the server as `make demo` starts it, on the database of this run."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from config_admin.models import CeResponse
from config_admin.transfer.apply_import import add_rows
from tests.api import make_key
from tests.demo.conftest import CONFIGURATION
from tests.demo.test_readme import TABLES, fits
from tests.live.client import Talk
from tests.live.processes import Server, start_granian

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def server(transactional_db: None, own_code: object, tmp_path: Path) -> Iterator[Server]:
    """A server with the demonstration's rows and code, and books of its own."""
    if not CeResponse.objects.filter(intent_code="UNKNOWN", state_code="UNKNOWN").exists():
        # A test before this one emptied the tables, the rows that an installation begins with among them.
        shipped = import_module("config_admin.migrations.0001_initial")
        CeResponse.objects.create(
            intent_code="UNKNOWN",
            state_code="UNKNOWN",
            output_format="TEXT",
            response_type="EXACT",
            exact_text=shipped.FALLBACK,
        )
    add_rows(json.loads(CONFIGURATION.read_text()), author="demo", reason="The demonstration")
    running = start_granian(CE_EXTENSIONS="fixtures.demo.helpdesk", CE_VAR_DIR=str(tmp_path))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.end()


def test_the_lines_are_answered_over_real_http(server: Server) -> None:
    for table in TABLES:
        talk = Talk(make_key(scopes=["turns", "audit", "approve"]))
        for said, more, answer in table:
            reply = talk.say(server.port, said, params=more.get("inputParams"))

            assert reply, server.text()
            assert (reply.status, fits(reply.said, answer)) == (200, True), f"{said!r}: {reply.said!r}"
