"""Turns that an earlier version recorded: as a file, and as rows of a database.

`python -m tests.audit.replay.recorded_turns` writes the file anew, from the worlds of `tests/scenarios` as they are
now. Then it holds nothing of an earlier version any more, so this is for a format that is given up.
"""

import base64
import json
import lzma
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import django
import yaml
from django.core.serializers.json import DjangoJSONEncoder

from convengine.json_value import Json

if __name__ == "__main__":
    os.environ |= {"CE_DEBUG": "true", "DJANGO_SETTINGS_MODULE": "convengine.settings"}
    django.setup()

from convengine.play.database import use_scratch_database
from convengine.play.loading import files, load, read_scenario
from convengine.play.runner import open_world
from convengine.server.interfaces.configuration import configuration_files
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.dialogues.play import list_trades, play_trade

FILE = Path(__file__).with_suffix(".json.xz")
#: The key of an object that stands for bytes.
_BASE64 = "base64"
#: Dialogues that fill in forms, in both languages.
TRADES = ("allergy_clinic", "autopflege")


@dataclass(frozen=True)
class RecordedWorld:
    """The turns of one world that ran on its first release."""

    #: A scenario with the rows of the release; its own turns are not played.
    scenario: Mapping[str, Json] = field(repr=False)
    #: Columns of `ce_conversation` and of `ce_conversation_history`.
    conversations: list[Mapping[str, Json]] = field(repr=False)
    turns: list[Mapping[str, Json]] = field(repr=False)


def read_worlds() -> Iterator[RecordedWorld]:
    """The worlds of the file."""
    for world in json.loads(lzma.decompress(FILE.read_bytes()), object_hook=_read_bytes):
        yield RecordedWorld(**world)


def _read_bytes(value: dict[str, Json]) -> Json:
    return base64.b64decode(value[_BASE64]) if value.keys() == {_BASE64} else value


class _Encoder(DjangoJSONEncoder):
    def default(self, value: Json) -> Json:
        """Bytes, too."""
        if isinstance(value, bytes | memoryview):
            return {_BASE64: base64.b64encode(value).decode()}
        return super().default(value)


def record_worlds() -> Iterator[dict[str, Json]]:
    """The worlds of the scenarios, and dialogues that fill in forms, played anew in the current database."""
    for file in files([Path("tests/scenarios")]):
        scenario = load(file)
        with open_world(scenario) as player:
            rows = configuration_files().read_rows()
            for turn in scenario.turns:
                if turn.before:
                    break
                player.play(turn)
            yield _read_world(yaml.safe_load(file.read_text()), rows)
    for trade in [file for file in list_trades("seen") if file.stem in TRADES]:
        world = {"id": trade.stem, "title": trade.stem, "turns": [{"user": "?"}]}
        with open_world(read_scenario(world)):
            assert all(played.lines for played in play_trade(trade))
            yield _read_world(world, configuration_files().read_rows())


def _read_world(scenario: Mapping[str, Json], rows: Mapping[str, Json]) -> dict[str, Json]:
    """What the current database holds of the turns on one release."""
    recorded = CeConversationHistory.objects.exclude(recording=None).filter(replayable=True).order_by("history_id")
    release = recorded.values_list("config_version", flat=True).last()
    turns = list(recorded.filter(config_version=release).values())
    keys = {turn["conversation_id"] for turn in turns}
    conversations = list(CeConversation.objects.filter(pk__in=keys).values())
    others = {key: value for key, value in scenario.items() if key != "state_graph"}
    return {"scenario": {**others, "tables": rows}, "conversations": conversations, "turns": turns}


def main() -> int:
    """Write the file."""
    with use_scratch_database():
        worlds = [world for world in record_worlds() if world["turns"]]
    text = _Encoder(ensure_ascii=False).encode(worlds)
    FILE.write_bytes(lzma.compress(text.encode(), preset=9))
    print(
        sum(len(world["turns"]) for world in worlds), "turns of", len(worlds), "worlds,", FILE.stat().st_size, "bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
