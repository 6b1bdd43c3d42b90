"""What the record shows of what it holds."""

from types import SimpleNamespace

import pytest

from convengine.server.admin_site.record_columns import (
    answer_text,
    excerpt_column,
    json_column,
    render_json,
    row_link,
    row_links,
    shorten_line,
    status_badge,
    text_column,
)
from tests.builders import make_classifier, make_snapshot

pytestmark = pytest.mark.dialects

ROW = SimpleNamespace(text="one\n<two>", document={"a": "<ü>"}, nothing=None)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ({"type": "TEXT", "value": "Hello."}, "Hello."),
        ({"value": {"a": 1}}, '{"value": {"a": 1}}'),
        (["ü"], '["ü"]'),
        (None, ""),
    ],
)
def test_an_answer_reads_as_the_user_saw_it(answer: object, text: str) -> None:
    assert answer_text(answer) == text


def test_long_texts_are_cut_on_one_line() -> None:
    assert shorten_line("a\n b  c" * 40, 10) == "a b ca b …"


def test_json_is_indented_and_harmless() -> None:
    assert (
        render_json(ROW.document)
        == '<pre class="ce-json" tabindex="0">{\n  &quot;a&quot;: &quot;&lt;ü&gt;&quot;\n}</pre>'
    )
    assert render_json(None) == "-"


def test_columns_read_their_column() -> None:
    assert "&lt;ü&gt;" in json_column("document", "document")(None, ROW)
    assert text_column("text", "text")(None, ROW) == '<div class="ce-said">one\n&lt;two&gt;</div>'
    assert text_column("nothing", "text")(None, ROW) == '<div class="ce-said">-</div>'
    assert excerpt_column("text", "text", 6)(None, ROW) == "one <…"


def test_a_status_keeps_its_word_and_reads_like_one() -> None:
    assert status_badge("PENDING_COMPLETE") == ("PENDING_COMPLETE", "Pending completion")


def test_a_row_that_has_no_page_is_only_named() -> None:
    assert row_link("ce_gone", 1) == "ce_gone 1"


def test_a_row_is_called_by_its_name_in_the_newest_release(monkeypatch: pytest.MonkeyPatch) -> None:
    phrase = make_classifier("FEES", "fees", description="asks for fees")
    newest = SimpleNamespace(latest=make_snapshot(phrase))
    monkeypatch.setattr("convengine.server.admin_site.record_columns.configuration", lambda: newest)

    links = row_links([(phrase.table, str(phrase.classifier_id)), (phrase.table, "0")])

    assert "phrase “asks for fees”" in links[0]
    assert "phrase 0" in links[1]
    assert f"Phrase {phrase.classifier_id} “asks for fees”" in row_link(phrase.table, phrase.classifier_id)
