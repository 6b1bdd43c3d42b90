"""The chapters that people wrote: all of them are there, lead somewhere, and say what is true."""

import json
import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders

from config_admin.manual import prose
from tests.convengine.engine.rules.conditions.judge import judge_path

DOCS = Path(__file__).resolve().parents[3] / "docs"
SLUGS = [slug for part in prose.PARTS.values() for slug in part]
PATHS = (DOCS / "rules.md").read_text().partition("### JSON paths")[2]


def test_every_file_is_a_chapter() -> None:
    assert sorted(SLUGS) == sorted(path.stem for path in DOCS.glob("*.md") if path.stem != "README")


def test_the_index_leads_to_every_chapter() -> None:
    index = (DOCS / "README.md").read_text()

    assert set(re.findall(r"\]\((\w+)\.md\)", index)) == set(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_every_link_of_a_chapter_leads_somewhere(slug: str) -> None:
    for other, heading in re.findall(r'href="/docs/(\w+)/(?:#([^"]*))?"', prose.chapter(slug).text):
        target = prose.chapter(other).text
        assert not heading or f'id="{heading}"' in target, f"{slug} leads to {other}#{heading}"
    assert [link for link in re.findall(r'href="([^"]*)"', prose.chapter(slug).text) if ".md" in link] == []


def test_words_of_the_vocabulary_lead_to_their_entries() -> None:
    assert 'href="/docs/reference/phases/#phase.POST_TOOL_EXECUTION"' in prose.chapter("rules").text


def test_raw_html_is_not_taken_over() -> None:
    assert "<script" not in prose._READER.render("<script>alert(1)</script>")


@pytest.mark.parametrize(("path", "holds"), re.findall(r"^\| `(\$.*?)` \| (yes|no) \|$", PATHS, re.MULTILINE))
def test_the_paths_of_the_manual_hold_as_it_says(path: str, holds: str) -> None:
    facts = json.loads(re.findall(r"```json\n(.*?)```", PATHS, re.DOTALL)[0])

    assert judge_path(path.replace("\\|", "|"), facts).matched is (holds == "yes")


def test_every_picture_of_a_chapter_is_a_static_file() -> None:
    pictures = re.findall(r'<img src="/static/([^"]+)" alt="([^"]+)"', prose.chapter("first_hour_analyst").text)

    assert len(pictures) >= 20
    for path, alternative in pictures:
        assert finders.find(path)
        assert len(alternative) > 10


def test_a_match_has_its_heading_and_an_excerpt() -> None:
    match = next(match for match in prose.search("bounds confirmation") if match.chapter.slug == "authoring")

    assert match.paragraph.anchor == "starting-a-flow"
    assert match.paragraph.heading == "Starting a flow"
    assert "Bounds" in match.excerpt or "Confirmation" in match.excerpt
    assert prose.search("") == []
