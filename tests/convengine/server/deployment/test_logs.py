"""What a process writes to its log, seen from outside it."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

PROGRAM = """
import logging
import django
import structlog
django.setup()
log = structlog.get_logger("convengine.server.turns.take_turn")
with structlog.contextvars.bound_contextvars(conversation_id="c-1", turn_no=7):
    try:
        user_text = "my password is swordfish"
        raise ValueError("disk full")
    except ValueError:
        log.error("turn not stored", exc_info=True)
    logging.getLogger("django.request").warning("Not Found: %s", "/nowhere")
log.debug("nobody asked")
for name in ("openai._base_client", "httpx2", "httpcore2.http11"):
    logging.getLogger(name).debug("prompt and key")
"""


def run_and_read_log(**environment: str) -> str:
    """What the program writes to standard error; nothing goes to standard output."""
    values = {**os.environ, "DJANGO_SETTINGS_MODULE": "convengine.settings", **environment}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=values, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    return done.stderr


def lines(**environment: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run_and_read_log(**environment).splitlines()]


def test_a_line_is_json_and_names_the_conversation() -> None:
    failed, missing = lines()

    assert (failed["event"], failed["level"], failed["logger"]) == (
        "turn not stored",
        "error",
        "convengine.server.turns.take_turn",
    )
    assert (failed["conversation_id"], failed["turn_no"]) == ("c-1", 7)
    assert failed["timestamp"].endswith("Z")
    # What Django says has the same form.
    assert (missing["event"], missing["level"], missing["turn_no"]) == ("Not Found: /nowhere", "warning", 7)


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_traceback_shows_no_local_variables(form: str) -> None:
    text = run_and_read_log(CE_LOG_FORMAT=form)

    assert "ValueError: disk full" in text
    assert "password is swordfish" not in text.replace('user_text = "my password is swordfish"', "")


@pytest.mark.long
@pytest.mark.parametrize(("level", "count"), [("DEBUG", 3), ("info", 2), ("WARNING", 2), ("ERROR", 1)])
def test_the_level_is_the_deployments(level: str, count: int) -> None:
    assert len([line for line in lines(CE_LOG_LEVEL=level) if line["logger"] != "asyncio"]) == count


def test_the_client_of_models_never_tells_prompts_and_keys() -> None:
    assert "prompt and key" not in run_and_read_log(CE_LOG_LEVEL="DEBUG")
