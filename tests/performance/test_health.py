"""The health check at 5,000 rules and 500 intents; in seconds of a core, so that other work does not count."""

import time

import pytest

from bench.health import world
from config_admin.health.check import check_all, check_touched
from config_admin.validation.world import World
from convengine.engine.turn import rows
from tests.pace import allow

INSTALLED = World(model_configured=True)


@pytest.mark.nightly
def test_a_full_check_takes_less_than_20_seconds_and_what_was_touched_less_than_half_of_one() -> None:
    snapshot = world(rules=5000, intents=500)
    began = time.process_time()
    health = check_all(snapshot, INSTALLED, seconds=600)
    took = time.process_time() - began

    assert took < allow(20)
    assert health.left_out == {}
    assert (
        sum(one.code == "RULE_COLLISION" and not (one.witness and one.witness.joined) for one in health.findings) == 500
    )
    for row in (*snapshot.rows(rows.Rule)[:10], snapshot.rows(rows.Classifier)[3], snapshot.rows(rows.OutputSchema)[7]):
        began = time.process_time()
        check_touched(snapshot, INSTALLED, [row])
        assert time.process_time() - began < 0.5, row
