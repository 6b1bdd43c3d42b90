"""Rivals that have environments of their own: measured where a variable names their Python, left out elsewhere."""

import os
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from bench.load import Conversation
from bench.postgres import Postgres
from bench.servers import PORT, Server, start_command, start_server

RASA = "Rasa"
LANGGRAPH_TURN = "LangGraph, turn"
#: Saved after each node, and once at the end of the turn.
_DURABILITIES = {"LangGraph, node": "sync", LANGGRAPH_TURN: "exit"}
#: Rasa reads a conversation as a whole, so its turns take longer with each one before.
_RASA_TURNS = 20


@dataclass(frozen=True)
class RasaConversation(Conversation):
    """Begins anew after some turns, which favours Rasa."""

    def requests(self) -> Iterator[bytes]:
        while True:
            sender = str(uuid.uuid4())
            for message in islice(cycle(self.messages), _RASA_TURNS):
                yield self.build_request({"sender": sender, "message": message})


@dataclass(frozen=True)
class Opener:
    """A served rival, and how conversations with it are opened."""

    server: Server
    path: str
    kind: type[Conversation] = Conversation

    def open(self, messages: Sequence[str]) -> Conversation:
        """A new conversation."""
        return self.kind(self.server.port, self.path, str(uuid.uuid4()), messages)


def start_installed(stack: ExitStack, postgres: Postgres, say: Callable[[str], None]) -> dict[str, Opener]:
    """Serve those that are installed; say which are left out."""
    openers = {}
    if python := os.environ.get("CE_BENCH_LANGGRAPH"):
        for name, durability in _DURABILITIES.items():
            openers[name] = Opener(_start_langgraph(stack, postgres, python, durability), "/turn")
    else:
        say("LangGraph is left out: CE_BENCH_LANGGRAPH names no Python that has it (bench/README.md)")
    if python := os.environ.get("CE_BENCH_RASA"):
        openers[RASA] = Opener(_start_rasa(stack, postgres, python), "/webhooks/rest/webhook", RasaConversation)
    else:
        say("Rasa is left out: CE_BENCH_RASA names no Python that has it (bench/README.md)")
    return openers


def _start_langgraph(stack: ExitStack, postgres: Postgres, python: str, durability: str) -> Server:
    """Served like `base`."""
    app, database = "bench.rivals.langgraph_app", f"langgraph_{durability}"
    postgres.create(database)
    environment = {"DATABASE_URL": postgres.url(database), "DURABILITY": durability}
    subprocess.run([python, "-m", app], env={**os.environ, **environment}, check=True)
    return stack.enter_context(start_server(database, f"{app}:application", environment, python=python))


def _start_rasa(stack: ExitStack, postgres: Postgres, python: str) -> Server:
    """One process, as Rasa runs without a Redis; its rules are trained first."""
    postgres.create("rasa")
    environment = {"RASA_TELEMETRY_ENABLED": "false", "RASA_DATABASE": postgres.url("rasa")}
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="ceb-rasa-"))
    train = [python, "-m", "rasa", "train", *_name_files("config", "domain", "data"), "--out", folder]
    subprocess.run(train, cwd=folder, env={**os.environ, **environment}, check=True, capture_output=True)
    run = [python, "-m", "rasa", "run", *_name_files("endpoints", "credentials"), "--model", folder]
    return stack.enter_context(start_command("rasa", [*run, "--interface", "127.0.0.1", "--port", PORT], environment))


def _name_files(*options: str) -> Iterator[str]:
    for option in options:
        yield from (f"--{option}", str(Path(__file__).parent / "rasa" / f"{option}.yml"))
