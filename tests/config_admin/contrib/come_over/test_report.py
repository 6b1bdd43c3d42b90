"""The report of a plan: one file that shows everything, needs nothing else, and runs nothing."""

import re

from config_admin.contrib.come_over.outcomes import Outcome, PlanEntry
from config_admin.contrib.come_over.plan import Plan
from config_admin.contrib.come_over.report import describe_plan, write_report

HOSTILE = '<script>alert("x")</script>'
PLAN = Plan([
    PlanEntry("intent", "greet", Outcome.COMES, "Answer GREET"),
    PlanEntry("intent", HOSTILE, Outcome.PARTLY, HOSTILE, HOSTILE),
    *(PlanEntry("story", f"story {number}", Outcome.PERSON, "", f"no way {number % 25}") for number in range(30)),
])  # fmt: skip


def test_the_summary_counts_the_outcomes() -> None:
    assert "1 comes along, 1 in part, 30 need a person." in write_report("x", PLAN)


def test_entries_with_the_same_reason_share_a_line_and_long_lists_are_closed() -> None:
    (outcome, count, [stories]), (_, _, [partly]), (_, _, [comes]) = describe_plan("x", PLAN)["groups"]
    assert (outcome, count, len(stories.lines), stories.entry_count) == (Outcome.PERSON, 30, 25, 30)
    assert stories.lines[0].names == ["story 0", "story 25"]
    assert [stories.is_open, partly.is_open, comes.is_open] == [False, True, False]


def test_the_report_has_every_entry_and_nothing_from_outside() -> None:
    report = write_report(HOSTILE, PLAN)
    assert not re.search(r"<script|<link|<img|https?:|src=|href=|url\(", report)
    assert report.count("&lt;script&gt;") == 5
    assert {*re.findall(r"<li>(story \d+)</li>", report)} == {f"story {number}" for number in range(30)}
    assert report.count("<details open>") == report.count("<details") == 3
