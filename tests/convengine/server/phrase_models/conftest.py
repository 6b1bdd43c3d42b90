"""Classifiers that are shared through the database of the test."""

from collections.abc import Iterator

import pytest

from convengine.engine.understanding.phrases import models
from convengine.server.phrase_models.store import DatabaseStore


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[DatabaseStore]:
    """The store of this process, which has no classifier yet."""
    monkeypatch.setattr(models, "_models", models._Models())
    store = DatabaseStore()
    models.use_store(store)
    yield store
    store.finish()
