"""The drawings of the manual: well-formed, in one style, described in words, and with the figures of the code."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from django.urls import resolve

from audit import seal
from config_admin.manual import prose
from convengine.engine.threads import settings as threads
from convengine.engine.threads.resolve import ResolveReason
from convengine.engine.understanding.phrases.settings import MIN_CONFIDENCE, MIN_NEAR
from convengine.server.deployment.conf import DEFAULTS

ROOT = Path(__file__).resolve().parents[3]
DRAWINGS = sorted((ROOT / "static/docs/pictures").glob("*.svg"))
CHAPTERS = "".join(file.read_text() for file in sorted((ROOT / "docs").glob("*.md")))
SVG = "{http://www.w3.org/2000/svg}"


def read_texts(name: str) -> list[str]:
    drawing = ElementTree.parse(ROOT / f"static/docs/pictures/{name}.svg")
    return [text.text or "" for text in drawing.iter(f"{SVG}text")]


@pytest.mark.parametrize("file", DRAWINGS, ids=lambda file: file.stem)
def test_a_drawing_is_small_safe_described_and_shown_by_a_chapter(file: Path) -> None:
    drawing = ElementTree.fromstring(file.read_text())
    (alternative,) = re.findall(rf"!\[([^]]+)\]\(\.\./static/docs/pictures/{file.name}\)", CHAPTERS)

    assert {element.tag.removeprefix(SVG) for element in drawing.iter()} <= {
        *("svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text"),
    }
    assert len(drawing.findtext(f"{SVG}title") or "") > 10
    assert len(drawing.findtext(f"{SVG}desc") or "") > 40
    assert len(alternative) > 40
    assert int(drawing.attrib["viewBox"].split()[2]) == 360
    assert file.stat().st_size < 6_000


def test_all_drawings_have_one_style_with_a_dark_scheme() -> None:
    (style,) = {file.read_text().partition("<style>")[2].partition("</defs>")[0] for file in DRAWINGS}

    assert "@media (prefers-color-scheme: dark)" in style


def test_the_pages_of_the_admin_that_chapters_link_exist() -> None:
    pages = set(re.findall(r'href="(/admin/[^"]+)"', prose.chapter("concepts").text))

    assert "/admin/config_admin/ceintent/" in pages
    assert len(pages) >= 9
    for page in pages:
        assert resolve(page).url_name


def test_the_seal_has_the_parts_of_a_row() -> None:
    parts = [text.partition(":")[0] for text in read_texts("seal")]

    assert [part for part in parts if part in seal.PARTS] == list(seal.PARTS)


def test_the_overload_has_the_limits_of_the_code() -> None:
    names = ("UNFINISHED", "QUEUED", "WAITING_FOR_MODELS", "WAITING_FOR_TOOLS", "WAITING_FOR_LEASES")
    limits = [f"{DEFAULTS[f'MAX_{name}']:,}" for name in names]
    limits.insert(2, str(DEFAULTS["THREADS"]))

    texts = [text.split()[0] for text in read_texts("overload") if re.fullmatch(r"[\d,]+ [a-z ]+", text)]
    assert texts == limits


def test_the_sessions_begin_for_reasons_and_after_times_of_the_code() -> None:
    texts = read_texts("sessions")
    reasons = [text for text in texts if "_" in text or text in list(ResolveReason)]
    minutes, days = (int(text.split()[0]) for text in texts if text.endswith("without a message"))

    assert set(reasons) <= {reason.value for reason in ResolveReason}
    assert [ResolveReason(reason).is_new for reason in reasons] == [True, False, True, True, True]
    assert threads.TIMEOUT_MINUTES.default < minutes
    assert threads.STALE_TIMEOUT_DAYS.default < days


def test_the_score_has_the_limits_of_the_settings() -> None:
    assert read_texts("score")[:2] == [
        f"{setting.default:.0%}".replace("%", " %") for setting in (MIN_NEAR, MIN_CONFIDENCE)
    ]
