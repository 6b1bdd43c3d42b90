"""Turns that an earlier version recorded replay equal: documents, recordings and decisions are read as then."""

import pytest

from audit.replay.replay import find_replay_difference
from convengine.engine.turn.snapshot import Snapshot
from convengine.play import database
from convengine.play.loading import read_scenario
from convengine.play.runner import open_world
from convengine.server.interfaces.configuration import configuration
from convengine.server.sessions.models import CeConversation, CeConversationHistory
from tests.audit.replay.recorded_turns import RecordedWorld, read_worlds
from tests.cases import for_each

#: A database is emptied after a test: not after each world.
SHARES = 4
WORLDS = list(read_worlds())


def test_there_are_as_many_turns_as_promised() -> None:
    assert sum(len(world.turns) for world in WORLDS) >= 300


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("share", range(SHARES))
def test_each_turn_replays_equal(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    @for_each("world", WORLDS[share::SHARES])
    def check(world: RecordedWorld) -> None:
        with database.allow_emptying(), open_world(read_scenario(world.scenario)), monkeypatch.context() as patched:
            CeConversation.objects.bulk_create([CeConversation(**row) for row in world.conversations])
            CeConversationHistory.objects.bulk_create([CeConversationHistory(**row) for row in world.turns])
            current = configuration().current()
            for row in world.turns:
                record = CeConversationHistory.objects.get(pk=row["history_id"])
                # The events name the release by the number that it had.
                snapshot = Snapshot(record.config_version, current.tables, current.defaults)
                patched.setattr(type(configuration()), "at", lambda self, version, snapshot=snapshot: snapshot)
                assert find_replay_difference(record) is None, (world.scenario["id"], record.turn_no)

    check()
