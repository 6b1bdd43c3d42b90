"""What a process writes to its log, seen from outside it."""

import json
import os
import subprocess
import sys
from functools import cache
from typing import Any

import pytest

#: What `django.setup()` does first; the apps, which take seconds to load, write to the same log.
SET_UP = """
from django.conf import settings
from django.utils.log import configure_logging
configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
"""
PROGRAM = f"""{SET_UP}
import logging
import structlog
log = structlog.get_logger("convengine.server.turns.take_turn")
with structlog.contextvars.bound_contextvars(conversation_id="c-1", turn_no=7):
    try:
        user_text = "my password is swordfish"
        raise ValueError("disk full")
    except ValueError:
        log.error("turn not stored", exc_info=True)
    logging.getLogger("django.request").warning("Not Found: %s", "/nowhere")
    try:
        raise PermissionError("no right")
    except PermissionError:
        logging.getLogger("django.request").warning("Forbidden", exc_info=True, extra={{"status_code": 403}})
log.debug("nobody asked")
for name in ("openai._base_client", "httpx2", "httpcore2.http11"):
    logging.getLogger(name).debug("prompt and key")
"""


@cache
def run_and_read_log(**environment: str) -> str:
    """What the program writes to standard error; nothing goes to standard output."""
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "convengine.settings", **environment}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=values, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def lines(**environment: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run_and_read_log(**environment).splitlines()]


def test_a_line_is_json_and_names_the_conversation() -> None:
    failed, missing, _ = lines()

    assert (failed["event"], failed["level"], failed["logger"]) == (
        "turn not stored",
        "error",
        "convengine.server.turns.take_turn",
    )
    assert (failed["conversation_id"], failed["turn_no"]) == ("c-1", 7)
    assert failed["timestamp"].endswith("Z")
    # What Django says has the same form.
    assert (missing["event"], missing["level"], missing["turn_no"]) == ("Not Found: /nowhere", "warning", 7)


def test_a_refusal_is_one_line_without_a_traceback() -> None:
    *_, refused = lines()

    assert refused["event"] == "Forbidden"
    assert "exception" not in refused
    assert "PermissionError" not in run_and_read_log(CE_LOG_FORMAT="text")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_traceback_shows_no_local_variables(form: str) -> None:
    text = run_and_read_log(**({"CE_LOG_FORMAT": form} if form == "text" else {}))

    assert "ValueError: disk full" in text
    assert "password is swordfish" not in text.replace('user_text = "my password is swordfish"', "")


@pytest.mark.long
@pytest.mark.parametrize(("level", "count"), [("DEBUG", 4), ("info", 3), ("WARNING", 3), ("ERROR", 1)])
def test_the_level_is_the_deployments(level: str, count: int) -> None:
    assert len([line for line in lines(CE_LOG_LEVEL=level) if line["logger"] != "asyncio"]) == count


def test_the_client_of_models_never_tells_prompts_and_keys() -> None:
    assert "prompt and key" not in run_and_read_log(CE_LOG_LEVEL="DEBUG")


def test_another_project_gets_our_lines_in_its_own_log() -> None:
    program = """
import logging, structlog
from convengine.server.deployment.logs import use_project_logging
logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
use_project_logging()
log = structlog.get_logger("convengine.turns")
log.warning("turn not stored", turn_no=7)
log.debug("nobody asked")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert (done.stdout, done.stderr) == ("", "WARNING convengine.turns event='turn not stored' turn_no=7\n")


def test_a_value_that_is_no_json_is_written_as_text() -> None:
    program = (
        f"{SET_UP}\nimport structlog, datetime\n"
        "structlog.get_logger('x').warning('odd', half='\\ud800', large=2**70, at=datetime.date(2026, 1, 2), ok='ä')"
    )
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "convengine.settings"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=values, check=True)

    line = json.loads(done.stderr.decode())
    assert (line["half"], line["large"], line["ok"]) == ("\ud800", 2**70, "ä")
    assert "2026" in line["at"]


def test_no_line_shows_a_secret_of_the_deployment() -> None:
    program = f"""{SET_UP}
import logging, os
import structlog
key = os.environ["CE_LLM_API_KEY"]
structlog.get_logger("a").error("postgresql://ada:wonder-land@host/db", header="Bearer abcdefgh12345", key=key)
try:
    raise ValueError(os.environ["CE_MCP_SECRET_DESK"])
except ValueError:
    logging.getLogger("b").exception("failed")
"""
    secrets = {"CE_LLM_API_KEY": "sk-abcdefghijkl", "CE_MCP_SECRET_DESK": "desk-word-1234"}
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "convengine.settings", "CE_LLM_MODEL": "m", **secrets}

    text = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=values, check=True
    ).stderr

    assert len(text.splitlines()) == 2
    assert all(json.loads(line) for line in text.splitlines())
    assert not [secret for secret in ("wonder-land", "abcdefgh12345", *secrets.values()) if secret in text]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux has this device")
def test_a_log_that_cannot_be_written_stops_nothing() -> None:
    program = f"""{SET_UP}
import structlog
for _ in range(3):
    structlog.get_logger("a").error("x" * 20_000)
print("went on", flush=True)
import os
os._exit(0)
"""
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "convengine.settings"}
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=-1, stderr=full, text=True, env=values, check=False
        )

    assert (done.returncode, done.stdout) == (0, "went on\n")
