"""A process with the product's Django on one database, which prepares worlds and measures without a server.

`python -m bench.inside` reads calls as JSON lines `[name, {arguments}]` and answers each with a JSON line.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol


class Call(Protocol):
    """Calls a function of `bench.tasks` in the process."""

    def __call__(self, name: str, **arguments: Any) -> Any:
        """The result of the function. Raises RuntimeError when the process ended."""


@contextmanager
def inside(environment: Mapping[str, str]) -> Iterator[Call]:
    """Start the process; it ends with the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.inside"],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    requests, answers = process.stdin, process.stdout

    def call(name: str, **arguments: Any) -> Any:
        requests.write(json.dumps([name, arguments]) + "\n")
        requests.flush()
        if not (line := answers.readline()):
            raise RuntimeError(f"{name} failed; its errors are above.")
        return json.loads(line)

    try:
        yield call
    finally:
        requests.close()
        process.wait()


def _serve() -> None:
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    # Other output must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    import django

    django.setup()
    from bench import tasks

    for line in sys.stdin:
        name, arguments = json.loads(line)
        task: Callable[..., Any] = getattr(tasks, name)
        answers.write(json.dumps(task(**arguments)) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
