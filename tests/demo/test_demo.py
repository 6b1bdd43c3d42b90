"""`make demo` as a newcomer runs it: a copy of the tree, a shell, and what README and the first hours say happens."""

import json
import os
import re
import shlex
import signal
import sqlite3
import stat
import sys
import textwrap
import time
import urllib.parse
import urllib.request
import uuid
from contextlib import closing, suppress
from http.cookiejar import CookieJar
from itertools import groupby
from operator import itemgetter
from pathlib import Path

import pytest
import yaml

from tests.demo.conftest import ROOT
from tests.demo.newcomer import Demo
from tests.demo.test_readme import FIRST_HOUR as HOUR_OF_QA
from tests.demo.test_readme import fits
from tests.live.processes import free_port, start
from tests.migrated import copy_migrated

pytestmark = [pytest.mark.slow, pytest.mark.long]

FIRST_HOUR = (ROOT / "docs/first_hour_integrator.md").read_text()
FIRST_START_SECONDS, SECOND_START_SECONDS = 90, 10
_LONG_SECONDS = 300


def functions(demo: Demo) -> str:
    """The shell functions of the first hour of a QA reader, for where the demonstration runs."""
    block = HOUR_OF_QA.partition("Over HTTP:")[2].partition("| you say")[0]
    return textwrap.dedent(block).replace("http://127.0.0.1:8000", demo.url)


def tables() -> list[list[tuple[str, str]]]:
    """The conversations of the first hour of a QA reader: lines to type, and answers."""
    return [re.findall(r"^\| `(say .+)` \| (.+) \|$", part, re.MULTILINE) for part in HOUR_OF_QA.split("| you say")[1:]]


def test_it_serves_soon_and_its_facts_are_in_a_file_that_only_its_owner_reads(demo: Demo) -> None:
    facts = demo.facts()

    assert demo.starts[0] < FIRST_START_SECONDS
    assert facts.keys() == {"url", "api_key", "users"}
    assert [set(user) for user in facts["users"]] == [{"username", "password", "group"}] * 3
    assert stat.S_IMODE((demo.folder / "var/demo.json").stat().st_mode) == 0o600
    printed = demo.running[0].text()
    assert all(user["password"] in printed for user in facts["users"])
    assert f"{demo.url}/admin/" in printed


def test_it_says_what_it_does_and_how_long_that_takes(demo: Demo) -> None:
    install = demo.shell("make --dry-run --always-make demo").partition("-m pip install")[0]
    lines = [line for line in demo.running[0].text().splitlines() if line.endswith(" …")]

    assert "Installing what the product runs on into .venv (up to a minute, only once) …" in install
    assert lines == [
        "Preparing the database (up to half a minute the first time) …",
        "Loading the help desk (a few seconds) …",
        "Playing the sample week: 72 conversations (a few seconds) …",
        "Starting the server (a few seconds) …",
    ]


@pytest.mark.nightly
def test_a_start_that_is_killed_in_the_sample_week_goes_on_with_it(tmp_path: Path) -> None:
    database_file = tmp_path / "convengine.sqlite3"
    copy_migrated(database_file)
    environment = os.environ | {"CE_VAR_DIR": str(tmp_path), "DATABASE_URL": f"sqlite:///{database_file}"}
    command = [sys.executable, "-m", "convengine", "demo", "--no-serve"]

    def count_turns() -> int:
        with suppress(sqlite3.OperationalError), closing(sqlite3.connect(database_file)) as database:
            return int(database.execute("SELECT count(*) FROM ce_conversation_history").fetchone()[0])
        return 0

    printed = ""
    for turns in (1, 60):
        first = start(command, 0, environment)
        while count_turns() < turns:
            assert first.process.poll() is None, first.text()
            time.sleep(0.05)
        os.killpg(first.pid, signal.SIGKILL)
        printed += first.text()
        first.end()
    last = start(command, 0, environment)
    assert last.process.wait(_LONG_SECONDS) == 0, last.text()
    printed += last.text()
    last.end()

    with closing(sqlite3.connect(database_file)) as database:
        played = database.execute(
            "SELECT c.conversation_id, h.user_input, h.status FROM ce_conversation_history h JOIN ce_conversation c"
            " USING (conversation_id) ORDER BY c.created_at, h.turn_no"
        ).fetchall()
    week = yaml.safe_load((ROOT / "fixtures/demo/week.yaml").read_text())["conversations"]
    assert [list(map(itemgetter(1), talk)) for _, talk in groupby(played, itemgetter(0))] == week
    assert {status for _, _, status in played} == {"OK"}
    assert not (tmp_path / "sample_week").exists()
    assert len(re.findall(r"Going on with the sample week after \d+ of its 72 conversations", printed)) == 2
    assert "Traceback" not in printed


def test_the_curl_line_that_it_prints_answers(demo: Demo) -> None:
    (line,) = re.findall(r"^ +(curl .*)$", demo.running[0].text(), re.MULTILINE)

    answer = json.loads(demo.shell(line))

    assert answer["success"] is True
    assert answer["payload"]["value"].startswith("Hello! I am the help desk")


def test_the_conversations_of_the_first_hour_go_as_it_says(demo: Demo) -> None:
    assert len(tables()) >= 2
    for table in tables():
        lines = [line for line, _ in table]
        printed = demo.shell("\n".join([functions(demo), "new", *lines]))
        answers = [json.loads(answer)["payload"]["value"] for answer in printed.splitlines()]
        assert [pair for pair in zip(answers, table, strict=True) if not fits(pair[0], pair[1][1])] == []


def test_why_and_replay_of_the_first_hour_work_as_it_says(demo: Demo) -> None:
    (why,) = re.findall(r"^    (curl -s .*/why\?turn=2.*)$", HOUR_OF_QA, re.MULTILINE)
    (replay,) = re.findall(r"^    (.*convengine manage replay \$ID 2)$", HOUR_OF_QA, re.MULTILINE)
    quietly = ['say "Hello" > said', 'say "When do you open on Saturday?" > said']
    script = "\n".join([functions(demo), "new", *quietly, why, "echo", replay])

    printed = demo.shell(script.replace("http://127.0.0.1:8000", demo.url)).splitlines()

    assert {"RESPONSE", "CLASSIFIER"} <= {decision["kind"] for decision in json.loads(printed[0])["decisions"]}
    assert printed[-1] == "equal"


def test_the_calls_of_the_first_hour_answer_as_it_says(demo: Demo) -> None:
    blocks = re.findall(
        r"(?:^ {4}.*\n)+", FIRST_HOUR.partition("In a second")[2].partition("From Python")[0], re.MULTILINE
    )
    calls = textwrap.dedent("".join(blocks)).replace("http://127.0.0.1:8000", demo.url)

    # The last call reads a stream until its time limit, so it ends with an error.
    lines = demo.shell(f"{calls}true").splitlines()

    asks, confirms, again, reused, wrong, first, second, reset, account, why = map(json.loads, lines[:10])
    assert asks["stateReport"]["asked"]["field"] == "orderNumber"
    assert confirms["stateReport"]["confirm"] == {"yes": "yes", "no": "no"}
    assert again == confirms
    assert reused["errorCode"] == "IDEMPOTENCY_KEY_REUSED"
    assert "Did you mean message?" in wrong["fields"]["msg"][0]
    assert [told["reason"] for told in (first, second, reset)] == ["first_message", "within_timeout", "explicit_reset"]
    assert account["sentences"][1]["text"] == "The user wrote “51007”."
    assert why["decisions"]
    assert [line for line in lines if line.startswith("event: ")][-1] == "event: ASSISTANT_OUTPUT"


def test_its_people_can_log_in_over_http(demo: Demo) -> None:
    login = f"{demo.url}/admin/login/?next=/admin/"
    for user in demo.facts()["users"]:
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', browser.open(login).read().decode()))
        form = {"username": user["username"], "password": user["password"], "csrfmiddlewaretoken": token}

        arrived = browser.open(urllib.request.Request(login, urllib.parse.urlencode(form).encode()))

        assert (arrived.status, urllib.parse.urlsplit(arrived.url).path) == (200, "/admin/")


def test_a_second_server_on_another_port_works_on_the_same_data(demo: Demo) -> None:
    key, conversation = demo.facts()["api_key"], str(uuid.uuid4())
    demo.say("Hello", conversation)

    beside = demo.make(free_port())
    try:
        second = demo.say("When do you open on Saturday?", conversation, to=beside)
        third = demo.say("and on Sunday, are you open?", conversation)
    finally:
        demo.end(beside)

    assert (second["turnNo"], third["turnNo"]) == (2, 3)
    assert third["payload"]["value"].startswith("We are closed on Sundays")
    assert demo.facts()["api_key"] == key


def test_the_command_of_the_checkout_calls_the_demonstration_whole(demo: Demo) -> None:
    checked = demo.shell(".venv/bin/convengine check")
    examined = demo.shell(".venv/bin/convengine doctor")

    assert ": 0 errors, " in checked
    assert "0 wrong, " in examined
    assert "orders:cancel" in examined


def test_every_turn_of_the_demonstration_can_be_run_again(demo: Demo) -> None:
    demo.say("Hello")
    program = (
        "from django.core.management import call_command\n"
        "from convengine.server.sessions.models import CeConversationHistory\n"
        "for turn in CeConversationHistory.objects.exclude(source='EXTERNAL'):\n"
        "    call_command('replay', str(turn.conversation_id), turn.turn_no)"
    )

    printed = demo.shell(".venv/bin/convengine manage shell --no-imports -c " + shlex.quote(program))

    assert set(printed.split()) == {"equal"}


def start_again(demo: Demo) -> float:
    """End the demonstration and start it on the same port; gives the seconds until it served."""
    port = demo.running[0].port
    demo.end(demo.running[0])
    demo.make(port)
    return demo.starts[-1]


def test_it_starts_again_and_knows_its_people_its_key_and_its_conversations(demo: Demo) -> None:
    before, conversation = demo.facts(), str(uuid.uuid4())
    demo.say("Hello", conversation)

    start_again(demo)

    after = demo.facts()
    assert (after["api_key"], after["users"]) == (before["api_key"], before["users"])
    assert demo.say("When do you open on Saturday?", conversation)["turnNo"] == 2


@pytest.mark.nightly
def test_it_starts_again_quickly(demo: Demo) -> None:
    # The best of three: the machine may have been busy with something else.
    assert any(start_again(demo) < SECOND_START_SECONDS for _ in range(3))
