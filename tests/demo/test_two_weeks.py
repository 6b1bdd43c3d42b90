"""Two weeks of the demonstration: Home says how the week was, since which edit it is worse, and what to teach first."""

import re

import pytest

from audit.reports.week import summarise_week
from tests.sign_in import sign_in_superuser
from tests.two_weeks import BAD_RELEASE, seed_two_weeks

pytestmark = [pytest.mark.usefixtures("helpdesk"), pytest.mark.long]


def test_home_answers_the_three_questions_of_a_monday() -> None:
    seed_two_weeks()

    week = summarise_week()
    assert week.turns > 200
    assert week.previous_turns > 200
    first = [group.text for group in week.largest_groups]
    assert any("gift card" in text for text in first), first
    assert {"my power is out", "the electricity is gone", "there is a blackout"} & set(first), first

    client = sign_in_superuser("ana")
    response = client.get("/admin/")
    page = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))
    _, author, reason = BAD_RELEASE
    assert re.search(rf"It got worse with release \d+ of [^“]+, by {author}, “{reason}”: .* It changed: Phrase", page)
    assert response.context["next_step"].badge == "Worse"
    assert "Typing mistakes ana 2 days ago No clear difference" in page
