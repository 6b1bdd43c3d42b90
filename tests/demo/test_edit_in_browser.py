"""With the demonstration running: an edit in the admin, and one at the database, are the very next answer."""

import json
import shlex
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser import conftest as browsers
from tests.demo.newcomer import Demo
from tests.live.processes import Server, free_port

pytestmark = [pytest.mark.browser, pytest.mark.nightly]

QUESTION, NEW = "how long does delivery take", "A parcel takes four working days."
browser_type_launch_args = browsers.browser_type_launch_args


@pytest.fixture
def both(demo: Demo) -> Iterator[list[Server]]:
    """Two servers on the same data."""
    beside = demo.make(free_port())
    yield [demo.running[0], beside]
    demo.end(beside)


@pytest.fixture
def visitor(demo: Demo, browser: Browser) -> Iterator[browsers.Visitor]:
    """Somebody before the admin of the demonstration."""
    facts = demo.facts()
    passwords = {user["username"]: user["password"] for user in facts["users"]}
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    visitor = browsers.Visitor(
        browsers.Server(demo.url, facts["api_key"], passwords, demo.environment), context.new_page()
    )
    yield visitor
    context.close()
    assert visitor.troubles == []


def ask_both(demo: Demo, both: list[Server]) -> list[dict[str, Any]]:
    """What each server answers, in a conversation of its own."""
    return [demo.say(QUESTION, str(uuid.uuid4()), to=server) for server in both]


def test_a_change_is_the_very_next_answer_of_both_servers(
    demo: Demo, both: list[Server], visitor: browsers.Visitor
) -> None:
    before = ask_both(demo, both)
    old, version = before[0]["payload"]["value"], before[0]["configVersion"]

    visitor.log_in("analyst").open_response(" ".join(old.split()[:6]))
    visitor.page.get_by_label("Text", exact=True).fill(NEW)
    visitor.page.get_by_label("Reason for this change").fill("The carrier is slower")
    visitor.save()
    edited = ask_both(demo, both)

    assert [(answer["payload"]["value"], answer["configVersion"]) for answer in edited] == [(NEW, version + 1)] * 2
    for answer in edited:
        assert demo.why(answer["conversationId"], 1)["configVersion"] == version + 1

    by_sql(demo, old)
    changed = ask_both(demo, both)

    assert [(answer["payload"]["value"], answer["configVersion"]) for answer in changed] == [(old, version + 2)] * 2
    visitor.go(f"/admin/config_admin/cerelease/{version + 2}/change/")
    assert "direct database change" in visitor.text.lower()
    shown = visitor.page.locator("del").all_inner_texts(), visitor.page.locator("ins").all_inner_texts()
    assert ("".join(shown[0]), "".join(shown[1])) != ("", "")


def by_sql(demo: Demo, text: str) -> None:
    """Change the answer in a process of its own, past everything that the product offers."""
    program = (
        "import sqlite3, sys\n"
        "with sqlite3.connect('var/convengine.sqlite3', timeout=20) as database:\n"
        "    database.execute('UPDATE ce_response SET exact_text = ? WHERE exact_text = ?', json.loads(sys.argv[1]))"
    )
    arguments = shlex.quote(json.dumps([text, NEW]))
    demo.shell(f"python3 -c {shlex.quote('import json; ' + program)} {arguments}")
