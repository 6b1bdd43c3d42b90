import pytest

from convengine.engine.understanding.phrases import book
from convengine.engine.understanding.phrases.book import Phrase, PhraseBook

TEXTS = ("Where is my parcel?", "Has my order been sent?", "I don't want it any more")


def make_book(*texts: str) -> PhraseBook:
    return PhraseBook([Phrase(number, "PARCEL", text) for number, text in enumerate(texts)])


def test_an_edit_splits_only_new_phrases_into_words(monkeypatch: pytest.MonkeyPatch) -> None:
    make_book(*TEXTS)
    split: list[str] = []
    split_text = book.split_text
    monkeypatch.setattr(book, "split_text", lambda text: split.append(text) or split_text(text))

    edited = make_book(*TEXTS, "Did a box of mine arrive?")

    assert split == ["Did a box of mine arrive?"]
    assert [phrase.key for phrase in edited.find_identical("i dont want it any more")] == [2]
