"""The timeline in a browser watches a server that sends event streams from a port of their own."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from convengine.server.deployment.folders import DATABASE_FILE
from tests.browser.conftest import ROOT, Server, Visitor, wait_for_server
from tests.live.processes import free_port

pytestmark = [pytest.mark.browser, pytest.mark.long]


@pytest.fixture
def served_url(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`manage.py serve` on the database of the demonstration, which knows the same sessions."""
    port, log_path = free_port(), tmp_path_factory.mktemp("serve") / "log"
    # Both are named, because the server refuses those of the demonstration otherwise.
    database = Path(server.environment["CE_VAR_DIR"], DATABASE_FILE)
    environment = {**server.environment, "DATABASE_URL": f"sqlite:///{database}"}
    command = [sys.executable, str(ROOT / "manage.py"), "serve", "--port", str(port), "--workers", "1", "--no-jobs"]
    with log_path.open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        try:
            wait_for_server(f"http://127.0.0.1:{port}", process, log_path)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def test_a_timeline_follows_its_conversation_over_the_port_of_streams(
    ada: Visitor, server: Server, served_url: str
) -> None:
    conversation = str(uuid.uuid4())
    server.say("Hello", conversation)
    # Cookies hold for all ports of a host. The page is no visitor's: it asks another port for its events.
    tab = ada.tab.context.browser.new_context(storage_state=ada.tab.context.storage_state()).new_page()

    tab.goto(f"{served_url}/admin/audit/ceaudit/{conversation}/timeline/")
    expect(tab.get_by_text("Live", exact=True)).to_be_visible()
    server.say("cancel my order", conversation)

    expect(tab.locator("#turn-2")).to_contain_text("cancel my order")
    tab.context.close()
