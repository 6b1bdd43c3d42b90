"""Play a scenario before it is offered, in a process of its own with a new database, as `manage.py scenarios` does."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

import structlog

from audit.export.scenario.document import build_scenario, dump_yaml
from audit.export.scenario.recorded_turns import NotExportable, select_turns
from convengine.engine.text.compare import shorten
from convengine.engine.turn.stage import stage_label
from convengine.server.deployment.folders import project_folder
from convengine.server.sessions.models import CeConversation

log = structlog.get_logger(__name__)
Json = Any
#: Seconds for all turns of a file, including the start of the process.
TIME_LIMIT = 90
#: One file at a time, because each takes a processor.
_lock = Lock()


def build_passing_scenario(
    conversation: CeConversation, first: int | None = None, last: int | None = None, named: str = ""
) -> dict[str, Json]:
    """The scenario of some turns, which was played and passed. Raises NotExportable."""
    document = build_scenario(conversation, first, last, named)
    check_scenario(document, list(select_turns(conversation, first, last).values_list("turn_no", flat=True)))
    return document


def check_scenario(document: dict[str, Json], turn_numbers: Sequence[int | None]) -> None:
    """Raises NotExportable, with the reason in plain words, unless the scenario passes.

    `turn_numbers` are the numbers of its turns in their conversation.
    """
    if not _lock.acquire(timeout=TIME_LIMIT):
        raise NotExportable("Another scenario file is being played. Try again in a minute.")
    try:
        failures = _play(document)
    finally:
        _lock.release()
    if failures:
        raise NotExportable(_describe_failure(failures[0], turn_numbers))


def _play(document: dict[str, Json]) -> list[Json]:
    """The failures as `manage.py scenarios --json` reports them. Raises NotExportable."""
    with TemporaryDirectory(prefix="ce-scenario-") as folder:
        file = Path(folder) / f"{document['id']}.yaml"
        file.write_text(dump_yaml(document), encoding="utf-8")
        command = [sys.executable, "-m", "django", "scenarios", str(file), "--json"]
        environment = {"DJANGO_SETTINGS_MODULE": "convengine.settings", **os.environ}
        try:
            played = subprocess.run(  # noqa: S603 - our own command
                command,
                check=False,
                cwd=project_folder(),
                env=environment,
                capture_output=True,
                text=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired:
            raise NotExportable(
                f"Playing {len(document['turns'])} turns took more than {TIME_LIMIT} seconds. Save fewer turns."
            ) from None
    try:
        failures: list[Json] = json.loads(played.stdout.splitlines()[-1])["scenarios"][0]["failures"]
    except (ValueError, LookupError, TypeError):
        log.error("scenario not played", status=played.returncode, error=played.stderr[-2000:])
        raise NotExportable("The file could not be played. The server log has the details.") from None
    return failures


def _describe_failure(failure: Json, turn_numbers: Sequence[int | None]) -> str:
    if failure["turn"] is None or failure["where"] == "before":
        return f"The rows of the release cannot be stored in a scenario: {_quote(failure['got'])}."
    number = turn_numbers[failure["turn"] - 1]
    return (
        f"Turn {number} does not play as it was recorded: {_describe_difference(failure)}. A test of it would fail, so "
        "the file is not offered. The turn depended on something outside of its record, such as code or a database "
        "fault of that day."
    )


def _describe_difference(failure: Json) -> str:
    where, expected, actual = failure["where"], failure["expected"], failure["got"]
    key = where.removeprefix("expect.").split(".")[0].split("[")[0]
    if where == "unscripted call":
        return f"it makes a call that is not recorded, {_quote(actual)}"
    if key in ("success", "http_status", "error"):
        failed = key == "error" or expected in (False, None) or (key == "http_status" and expected != 200)
        return "it failed, and succeeds when it is played" if failed else "it succeeded, and fails when it is played"
    if key == "audit_stages_in_order":
        return f"it was recorded with the event “{stage_label(str(expected))}”, which is missing when it is played"
    if noun := _NOUNS.get(key):
        return f"{noun} is {_quote(actual)}, and was {_quote(expected)}"
    return f"{key} is {_quote(actual)}, and was {_quote(expected)}"


#: The expectations of saved turns in words.
_NOUNS = {
    "response": "the answer",
    "intent": "the intent",
    "state": "the state",
    "llm_calls": "the number of model calls by purpose",
    "tool_calls": "the list of tool calls",
    "task_calls": "the list of task calls",
}


def _quote(value: Json) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"“{shorten(text, 200)}”"
