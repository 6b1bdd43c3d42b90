"""`python -m bench.customers`: a bot of some flows, and one conversation for each customer of it.

    serve FOLDER [--port N]     serve the flows of FOLDER/flows/*.json until Ctrl-C
    say FOLDER CUSTOMER TEXT    send a message of a customer, and print the answer
    count FOLDER                count the verdicts of FOLDER/verdicts.json

The flows and the sheets of customers are written by others than those who build the engine (bench/README.md).
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from convengine.client import Client

#: What a verdict says of a conversation.
RIGHT, WRONG, GAVE_UP, THROWN_OUT = "right", "wrong in silence", "gave up", "thrown out"
ENDS = (RIGHT, WRONG, GAVE_UP, THROWN_OUT)


def main() -> int:
    """Run one of the three commands."""
    parser = argparse.ArgumentParser(
        "python -m bench.customers", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("serve", "say", "count"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name == "serve":
            command.add_argument("--port", type=int, default=8700)
        if name == "say":
            command.add_argument("customer")
            command.add_argument("text")
    options = parser.parse_args()
    if options.command == "serve":
        return serve(options.folder, options.port)
    print(say(options.folder, options.customer, options.text) if options.command == "say" else count(options.folder))
    return 0


def serve(folder: Path, port: int) -> int:
    """Make a bot of the flows in the folder, anew, and serve it."""
    for file in folder.glob("bot.*"):
        file.unlink()
    database = f"sqlite:///{(folder / 'bot.sqlite3').resolve()}"
    environment = {**os.environ, "CE_DEBUG": "true", "DATABASE_URL": database}

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "convengine", *arguments]
        return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout

    run("manage", "migrate", "--verbosity", "0")
    run("manage", "start_flow", *map(str, sorted((folder / "flows").glob("*.json"))), "--reason", "a new bot")
    key = run("manage", "api_key_create", "customers").split()[-1]
    (folder / "bot.json").write_text(json.dumps({"url": f"http://127.0.0.1:{port}", "key": key}))
    return subprocess.call([sys.executable, "-m", "convengine", "serve", "--port", str(port)], env=environment)


def say(folder: Path, customer: str, text: str) -> str:
    """Send a message in the conversation of a customer, note it in the transcript, and return the answer."""
    bot, file = json.loads((folder / "bot.json").read_text()), folder / "transcripts" / f"{customer}.jsonl"
    file.parent.mkdir(exist_ok=True)
    lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    with Client(bot["url"], bot["key"]) as client:
        answer = client.create_turn(text, lines[0]["conversation"] if lines else None)
    with file.open("a") as transcript:
        line = {"conversation": answer.conversation_id, "say": text, "answer": answer.text, "context": answer.context}
        transcript.write(json.dumps(line, ensure_ascii=False, default=str) + "\n")
    return answer.text


def count(folder: Path) -> str:
    """The verdicts in numbers: for each customer `end`, and whether a wrong value was met on the way (`met_wrong`)."""
    verdicts: dict[str, dict[str, Any]] = json.loads((folder / "verdicts.json").read_text())
    ends = Counter(verdict["end"] for verdict in verdicts.values())
    if unknown := ends.keys() - set(ENDS):
        raise SystemExit(f"{folder}: {min(unknown)!r} is no end of a conversation: {', '.join(ENDS)}.")
    met = sum(bool(verdict["met_wrong"]) for verdict in verdicts.values())
    return "\n".join(
        [f"{len(verdicts)} customers", *(f"{end}: {ends[end]}" for end in ENDS), f"met a wrong value: {met}"]
    )


if __name__ == "__main__":
    sys.exit(main())
