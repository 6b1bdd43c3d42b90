"""Classifiers of this process: kept, made later, and made for nobody else. The store's own tests share them."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from convengine.engine.understanding.phrases import classifier, models
from convengine.engine.understanding.phrases.classifier import Content, Example, IntentRanker, TrainingTexts, train
from convengine.engine.understanding.phrases.interim import InterimClassifier
from convengine.engine.understanding.phrases.models import (
    Making,
    NoStore,
    Ranker,
    choose_making,
    get_classifier,
    is_made,
    load_vectors,
    name_model,
    train_content,
)

CONTENT = Content((Example("PARCEL", "Where is my parcel?"), Example("REFUND", "I want my money back")))
EDITED = Content((*CONTENT.examples, Example("REFUND", "Please pay me back")))


class LateStore:
    """Keeps what was to be made in the background."""

    def __init__(self) -> None:
        self.works: list[Callable[[], None]] = []
        self.stored: dict[str, bytes] = {}

    def load_vectors(self, names: Sequence[str]) -> Mapping[str, bytes]:
        return {name: self.stored[name] for name in names if name in self.stored}

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        self.stored |= vectors

    def load(self, name: str) -> bytes | None:
        return self.stored.get(name)

    def load_or_make(self, name: str, make: Callable[[], bytes], *, takes_long: bool = False) -> bytes:
        if name not in self.stored:
            self.stored[name] = make()
        return self.stored[name]

    def train(self, content: Content) -> bytes:
        return train_content(content, self)

    def start(self, work: Callable[[], None]) -> bool:
        self.works.append(work)
        return True


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> LateStore:
    """A store of a process that has no classifier, for which three phrases are many."""
    monkeypatch.setattr(models, "_models", models._Models())
    monkeypatch.setattr(models, "_MOST_AT_ONCE", 2)
    store = LateStore()
    models.use_store(store)
    return store


def get(content: Content) -> Ranker:
    return get_classifier(content, name_model(content))


def test_a_turn_waits_for_a_classifier_of_few_phrases(store: LateStore) -> None:
    with choose_making(Making.BACKGROUND):
        assert isinstance(get(CONTENT), IntentRanker)


def test_a_classifier_of_many_phrases_is_made_once_in_the_background_while_turns_go_on(store: LateStore) -> None:
    get(CONTENT)

    with choose_making(Making.BACKGROUND):
        interim = get(EDITED)
        assert get(EDITED) is interim
    (work,) = store.works
    assert isinstance(interim, InterimClassifier)
    assert interim.rank("pay my money back", 1)[0].intent == "REFUND"
    work()

    with choose_making(Making.BACKGROUND):
        assert isinstance(get(EDITED), IntentRanker)


def test_a_preview_of_many_phrases_makes_and_stores_no_classifier(store: LateStore) -> None:
    with choose_making(Making.PREVIEW):
        assert isinstance(get(EDITED), InterimClassifier)

    assert not store.works
    assert not is_made(name_model(EDITED))


@pytest.mark.parametrize(("how", "is_stored"), [(Making.OWN, False), (Making.PREVIEW, False), (Making.SHARED, True)])
def test_what_nobody_else_needs_is_not_stored(store: LateStore, how: Making, is_stored: bool) -> None:
    with choose_making(how):
        get(CONTENT)

    assert (name_model(CONTENT) in store.stored) == is_stored


def test_a_preview_reads_what_is_stored_and_stores_no_vector(store: LateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    get(CONTENT)
    stored = dict(store.stored)
    monkeypatch.setattr(models, "_models", models._Models())
    models.use_store(store)
    monkeypatch.setattr(models, "train", lambda texts: pytest.fail("trained"))

    with choose_making(Making.PREVIEW):
        assert isinstance(get(CONTENT), IntentRanker)
        get(EDITED)

    assert store.stored == stored


def test_a_process_keeps_the_classifiers_that_it_used_last(store: LateStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_MOST_KEPT", 1)
    get(CONTENT)
    get(EDITED)

    assert (is_made(name_model(CONTENT)), is_made(name_model(EDITED))) == (False, True)


def test_the_order_of_phrases_does_not_change_the_name_of_their_classifier() -> None:
    assert name_model(Content(EDITED.examples[::-1])) == name_model(EDITED) != name_model(CONTENT)


def test_many_texts_are_learned_by_hashed_terms_with_the_same_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    phrases = {
        "PARCEL": ("Where is my parcel?", "Has my order been sent?", "When does the delivery come?"),
        "REFUND": ("I want my money back", "Please pay me back", "Can you return the payment?"),
    }
    content = Content(tuple(Example(intent, text) for intent, texts in phrases.items() for text in texts))
    texts = TrainingTexts(content, load_vectors(content.list_texts(), NoStore()))
    messages = ("has the parcel left", "give me back what I paid", "what a lovely evening")
    usual = IntentRanker(texts, train(texts))
    decided = [usual.rank(message, 2) for message in messages]

    monkeypatch.setattr(classifier, "_MOST_PRODUCTS", 0)
    weights = train(texts)
    hashed = IntentRanker(texts, weights)

    assert weights.by_row.shape[0] < len(texts.table.matrix.indices)
    for message, expected in zip(messages, decided, strict=True):
        ranked = hashed.rank(message, 2)
        assert [each[2:] for each in ranked if each.intent == expected[0].intent] == [expected[0][2:]]
        assert abs(max(ranked).confidence - max(expected).confidence) < 0.1
