"""How many files of the product one turn enters: before its first step, in the steps, and after the last one.

`python -m bench.turn_files` takes one ordinary turn of the demonstration through the API, in this process.
"""

import io
import json
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = tuple(f"{ROOT / name}{os.sep}" for name in ("convengine", "config_admin", "audit"))
MESSAGES = ("Hello", "When does my parcel arrive?", "What are your opening hours?")


class FileTracer:
    """The files that functions are called in, divided by the calls of `Step.execute`."""

    def __init__(self, step: type) -> None:
        self.before: set[str] = set()
        self.within: set[str] = set()
        self.after: set[str] = set()
        self._step = step
        self._steps_begun = 0
        self._depth = 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "return"):
            return
        if frame.f_code.co_name == "execute" and isinstance(frame.f_locals.get("self"), self._step):
            self._steps_begun += event == "call"
            self._depth += 1 if event == "call" else -1
            self.within |= self.after
            self.after = set()
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PRODUCT):
            files = self.within if self._depth else self.after if self._steps_begun else self.before
            files.add(str(Path(name).relative_to(ROOT)))


def trace_turn(folder: Path) -> FileTracer:
    """Prepare the demonstration in a folder, warm it with a few turns, and trace the turn after them."""
    os.environ |= {
        "CE_DEBUG": "true", "CE_VAR_DIR": str(folder), "DATABASE_URL": f"sqlite:///{folder / 'demo.sqlite3'}",
        "DJANGO_SETTINGS_MODULE": "convengine.settings", "CE_EXTENSIONS": "fixtures.demo.helpdesk",
    }  # fmt: skip
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import RequestFactory

    from convengine.engine.pipeline.step import Step
    from convengine.wsgi import application

    call_command("demo", "--no-serve", stdout=io.StringIO())
    secret = json.loads((folder / "demo.json").read_text())["api_key"]
    factory, tracer = RequestFactory(), FileTracer(Step)
    body: dict[str, Any] = {}

    def post(message: str) -> dict[str, Any]:
        """Send a message as the server does: to the application, not to the middleware of pages."""
        request = factory.post(
            "/api/v1/conversation/message",
            {**body, "message": message},
            content_type="application/json",
            headers={"Authorization": f"Api-Key {secret}", "Host": "localhost"},
        )
        answer: dict[str, Any] = json.loads(b"".join(application(request.environ, lambda *started: None)))
        assert answer["success"], answer
        return answer

    for message in MESSAGES:
        body = {"conversationId": post(message)["conversationId"]}
    sys.setprofile(tracer)
    post(MESSAGES[1])
    sys.setprofile(None)
    return tracer


def main() -> int:
    """Print the three numbers; with `--list`, the files too."""
    with tempfile.TemporaryDirectory() as folder:
        tracer = trace_turn(Path(folder))
    for title, files in (
        ("until the first step", tracer.before),
        ("in the steps and between them", tracer.within),
        ("from the last step to the answer", tracer.after),
        ("in the whole turn", tracer.before | tracer.within | tracer.after),
    ):
        print(f"{len(files):>4} files {title}")
        if "--list" in sys.argv:
            print("".join(f"         {name}\n" for name in sorted(files)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
