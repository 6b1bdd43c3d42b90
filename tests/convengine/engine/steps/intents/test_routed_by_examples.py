"""Whole turns routed by phrases, with the real encoder; each replayed."""

from pathlib import Path

import pytest

from convengine.play import database
from convengine.play.report_format import format_line
from convengine.play.runner import RunOptions, run


@pytest.mark.django_db(transaction=True)
def test_a_message_goes_where_its_meaning_goes_and_replays_equal() -> None:
    with database.allow_emptying():
        report = run(Path(__file__).with_name("routed-by-examples.yaml"), RunOptions(replay=True))

    assert report.outcome == "passed", format_line(report)
