import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from convengine.server import chat
from convengine.server.api.failures import list_error_codes
from convengine.server.deployment.folders import find_shipped
from tests.chat_texts import read_texts

TEXT = (find_shipped("static") / "convengine/chat.js").read_bytes()
TEXTS = read_texts()
OTHERS = ["de", "es", "fr", "it", "pt", "nl"]
#: The names of texts that are the same in English, by language.
SAME = {language: {"title", "bot"} for language in OTHERS} | {"fr": {"title", "bot", "log"}}


def get_script(accepted: str = "gzip, deflate, br") -> Any:
    """What a page gets that names the address which stays."""
    return Client().get("/chat.js", follow=True, headers={"Accept-Encoding": accepted})


@pytest.fixture
def next_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[bytes]:
    """Another script, as a server of the next release has it."""
    (tmp_path / "convengine").mkdir()
    (tmp_path / "convengine/chat.js").write_bytes(b"// the next one\n")
    monkeypatch.setattr(chat, "find_shipped", lambda name: tmp_path)
    chat.read_script.cache_clear()
    yield b"// the next one\n"
    chat.read_script.cache_clear()


@pytest.mark.parametrize("accepted", ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, gzip;q=0.8, *;q=0.1"])
def test_the_script_comes_compressed_to_whoever_reads_that(accepted: str) -> None:
    answer = get_script(accepted)

    assert (answer["Content-Encoding"], answer["Vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(answer.content) == TEXT
    assert int(answer["Content-Length"]) == len(answer.content) < len(TEXT) / 3


@pytest.mark.parametrize("accepted", ["", "identity", "br"])
def test_others_get_it_as_it_is(accepted: str) -> None:
    answer = get_script(accepted)

    assert "Content-Encoding" not in answer
    assert (answer.content, answer["Vary"]) == (TEXT, "Accept-Encoding")


def test_browsers_keep_the_script_for_good_and_its_address_for_minutes() -> None:
    redirect, answer = Client().get("/chat.js"), get_script()

    assert re.fullmatch(r"/chat-[0-9a-f]{16}\.js", redirect["Location"])
    assert redirect["Cache-Control"] == "public, max-age=300"
    assert answer["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer["Content-Type"] == "text/javascript; charset=utf-8"
    assert answer["X-Content-Type-Options"] == "nosniff"


def test_a_page_has_the_script_of_the_next_release_without_being_changed(request: pytest.FixtureRequest) -> None:
    before = Client().get("/chat.js")["Location"]
    script = request.getfixturevalue("next_release")

    assert Client().get("/chat.js")["Location"] != before
    assert get_script("identity").content == script


@pytest.mark.parametrize("version", ["0123456789abcdef", "of-another-release", "0"])
def test_the_address_of_another_release_gives_the_script_that_is_there_for_minutes(version: str) -> None:
    answer = Client().get(f"/chat-{version}.js")

    assert (answer.status_code, answer.content) == (200, TEXT)
    assert answer["Cache-Control"] == "public, max-age=300"


@pytest.mark.parametrize("path", ["/chat-.js", "/chat-a/b.js", "/chat-%2e%2e.js", "/chat-1.css"])
def test_other_addresses_are_none(path: str) -> None:
    assert Client().get(path).status_code == 404


def test_the_chat_has_its_languages_and_the_manual_names_them() -> None:
    manual = (Path(__file__).parents[3] / "docs/chat.md").read_text()
    (row,) = re.findall(r"^\| `data-lang` \| (.*?)\.", manual, re.MULTILINE)

    assert list(TEXTS) == ["en", *OTHERS]
    assert set(re.findall(r"`([a-z]{2})`", row)) == set(TEXTS)


@pytest.mark.parametrize("language", OTHERS)
def test_each_language_has_every_text(language: str) -> None:
    english, texts = TEXTS["en"], TEXTS[language]

    assert list(texts) == list(english)
    for mark in ("{}", "|", "…"):
        assert [texts[name].count(mark) for name in texts] == [english[name].count(mark) for name in texts], mark
    assert [name for name, text in texts.items() if text != text.strip() or not text] == []


@pytest.mark.parametrize("language", OTHERS)
def test_only_words_that_both_languages_share_are_the_same_in_english(language: str) -> None:
    texts = TEXTS[language]

    assert {name for name in texts if texts[name].casefold() == TEXTS["en"][name].casefold()} == SAME[language]


def test_no_text_is_that_of_another_name() -> None:
    for language, texts in TEXTS.items():
        assert len(set(texts.values())) == len(texts), language


def test_each_reason_is_a_code_of_the_api_or_a_status_and_has_a_text() -> None:
    (block,) = re.findall(r"const REASONS = \{(.*?)\};", TEXT.decode(), re.DOTALL)
    reasons = dict(re.findall(r"(\w+): \"(\w+)\"", block))

    assert {code for code in reasons if not code.isdecimal()} <= {code for code, _ in list_error_codes()}
    assert set(reasons.values()) <= set(TEXTS["en"])
