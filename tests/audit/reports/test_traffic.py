"""The traffic of an intent on its map: moves from state to state, and where conversations stopped."""

import pytest
from django.test import Client

from audit.reports.traffic import read_traffic
from config_admin.editing.links import chart_url
from tests.audit.reports.test_funnel import talk
from tests.audit.reports.test_page import reader

__all__ = ["reader"]
pytestmark = [pytest.mark.django_db]


def test_turns_are_counted_from_state_to_state() -> None:
    assert read_traffic("RENT_BICYCLE", 7) == ([], [])
    talk()
    traffic = read_traffic("RENT_BICYCLE", 7)
    moves = {(move.state_before, move.state): move.turns for move in traffic.moves}
    assert moves["COLLECT", "CONFIRM"] == 1
    visits = {each.state: (each.entered, each.exited, each.losses) for each in traffic.visits}
    assert (visits["COLLECT"], visits["CONFIRM"]) == ((3, 2, 1), (1, 1, 0))


def test_the_map_shows_the_traffic_when_asked(reader: Client) -> None:
    talk()
    plain = reader.get(chart_url("RENT_BICYCLE")).content.decode()
    assert "Show traffic" in plain
    assert "Traffic of the last" not in plain
    text = reader.get(chart_url("RENT_BICYCLE"), {"traffic": "1"}).content.decode()
    assert "Hide traffic" in text
    assert "3 in, 1 stopped" in text
    assert "Turns from state to state" in text
