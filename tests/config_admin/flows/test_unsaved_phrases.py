"""Pages try phrases before they are saved: what these train is for nobody else, so it is not stored."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from config_admin.flows.teaching.effect import find_effect
from config_admin.flows.teaching.lesson import Lesson
from config_admin.flows.unsaved_flow import lay_flow_over, suggest_messages
from config_admin.models import CeIntentClassifier
from config_admin.releases.active import snapshots
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases import models
from convengine.engine.understanding.phrases.book import get_phrase_book
from tests.worlds import create_help_desk

pytestmark = pytest.mark.django_db
NEW = "Is there parking for vans?"
FLOW = {"code": "PARKING", "title": "Parking", "kind": "answer", "answer": "Behind the house.", "phrases": [NEW]}


class NotingStore(models.NoStore):
    """Notes which weights are stored."""

    def __init__(self) -> None:
        self.stored: set[str] = set()

    def load_or_make(self, name: str, make: Callable[[], bytes], *, takes_long: bool = False) -> bytes:
        self.stored.add(name)
        return make()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> NotingStore:
    monkeypatch.setattr(models, "_models", models._Models())
    create_help_desk()
    CeIntentClassifier.objects.create(
        intent_code="HOURS", state_code="IDLE", rule_type="PHRASE", pattern="Are you open?"
    )
    store = NotingStore()
    models.use_store(store)
    return store


def try_flow() -> Snapshot:
    return lay_flow_over(snapshots.current(), None, FLOW)


@pytest.mark.parametrize(
    "run",
    [
        lambda: suggest_messages(try_flow(), "PARKING", ["may we park there"]),
        lambda: find_effect(Lesson("HOURS", "IDLE", (NEW,)), {"may we park there": 2}, timezone.now()),
    ],
)
def test_what_unsaved_phrases_train_is_not_stored(store: NotingStore, run: Callable[[], object]) -> None:
    run()

    assert models._models.kept
    assert store.stored == set()


def test_what_saved_phrases_train_is_stored(store: NotingStore) -> None:
    book = get_phrase_book(snapshots.current())

    book.rank("may we park there")

    assert store.stored == {book.model_name}
