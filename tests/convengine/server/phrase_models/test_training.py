"""Very many phrases are learned by parts, in a process of its own; a turn is answered meanwhile, and if that fails."""

import os
import random
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

from convengine.engine.understanding.phrases import classifier, models
from convengine.engine.understanding.phrases.classifier import (
    Content,
    Example,
    IntentRanker,
    TrainingTexts,
    Weights,
    train,
)
from convengine.engine.understanding.phrases.interim import InterimClassifier
from convengine.engine.understanding.phrases.models import Making, choose_making, get_classifier, name_model
from convengine.server.phrase_models import training
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector
from convengine.server.phrase_models.store import DatabaseStore

CONTENT = Content(
    (
        Example("PARCEL", "Where is my parcel?"),
        Example("PARCEL", "has my order left"),
        Example("REFUND", "I want my money back"),
    ),
    synonyms=(("parcel", "packet"),),
)
NAME = name_model(CONTENT)
#: Prints the peak of the memory of a process that learns phrases, in MB, and its processor time in seconds.
MEASURED = """
import resource, sys
from convengine.server.phrase_models.training import main
main()
used = resource.getrusage(resource.RUSAGE_SELF)
print("PEAK", used.ru_maxrss // 1024, "SECONDS", round(used.ru_utime + used.ru_stime), file=sys.stderr)
"""


@pytest.fixture
def large(store: DatabaseStore, monkeypatch: pytest.MonkeyPatch) -> DatabaseStore:
    """A store for which three phrases are many, in a process that must not learn."""
    monkeypatch.setattr(models, "_MOST_AT_ONCE", 2)
    monkeypatch.setattr(models, "train", lambda texts: pytest.fail("learned in this process"))
    return store


@pytest.mark.dialects
@pytest.mark.django_db(transaction=True)
def test_many_phrases_are_learned_in_another_process_while_turns_go_on(large: DatabaseStore) -> None:
    with choose_making(Making.BACKGROUND):
        assert isinstance(get_classifier(CONTENT, NAME), InterimClassifier)
        large.finish()
        learned = get_classifier(CONTENT, NAME)

    assert isinstance(learned, IntentRanker)
    assert learned.rank("has the packet been sent", 1)[0].intent == "PARCEL"
    assert CePhraseModel.objects.get(pk=NAME).is_genuine()
    assert CePhraseVector.objects.count() == len(CONTENT.list_texts())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("command", ["import os; os.abort()", "raise MemoryError", "import time; time.sleep(60)"])
def test_a_process_that_does_not_learn_them_is_told_and_not_started_again_at_once(
    large: DatabaseStore, command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    run = subprocess.run
    started = list[object]()

    def fail(_: object, **options: object) -> object:
        started.append(options)
        return run([sys.executable, "-c", command], **options)  # type: ignore[call-overload]

    monkeypatch.setattr(training.subprocess, "run", fail)
    monkeypatch.setattr(training, "LONGEST_TRAINING", 3)
    with choose_making(Making.BACKGROUND):
        for _ in range(3):
            interim = get_classifier(CONTENT, NAME)
            assert isinstance(interim, InterimClassifier)
            assert interim.rank("I want my money", 1)[0].intent == "REFUND"
            large.finish()

    assert len(started) == 1
    assert "The process that learns 3 phrases" in capfd.readouterr().err
    assert not CePhraseModel.objects.filter(pk=NAME).exists()


def _make_phrases(intents: int) -> Content:
    """Twenty phrases for each intent, of words that are drawn by lot."""
    chance = random.Random(1)
    syllables = [first + last for first in "bcdfglmnprst" for last in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(1, 4))) for _ in range(20_000)]
    small = ["i", "want", "to", "please", "my", "the", "with", "how", "do", "where", "what", "help"]
    phrases = list[Example]()
    for intent in range(intents):
        own = chance.sample(words, 6)
        phrases += [
            Example(f"INTENT_{intent}", " ".join([*chance.sample(small, 4), *chance.sample(own, 3), str(number)]))
            for number in range(20)
        ]
    return Content(tuple(phrases))


def test_nothing_of_all_texts_and_all_intents_is_in_memory_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    content = _make_phrases(200)
    chance = np.random.default_rng(0)
    vectors = {text: chance.standard_normal(512).astype(np.float16) / 23 for text in content.list_texts()}
    texts = TrainingTexts(content, vectors)
    assert texts.are_hashed
    monkeypatch.setattr(classifier, "_ROUNDS", 1)
    train(texts)

    tracemalloc.start()
    try:
        weights = train(texts)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    of_weights = weights.by_row.size * 4
    assert peak < 3 * of_weights + 10_000_000 < len(texts.texts) * weights.by_row.shape[0] * 4


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_sixty_thousand_phrases_are_learned_within_600_mb(store: DatabaseStore) -> None:
    from django.db import connection

    content = _make_phrases(3000)
    ended = subprocess.run(
        [sys.executable, "-c", MEASURED],
        check=True,
        input=training.json.dumps([str(connection.settings_dict["NAME"]), content]).encode(),
        capture_output=True,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": os.environ.get("DJANGO_SETTINGS_MODULE", "convengine.settings")},
    )
    told = ended.stderr.decode().split("PEAK")[-1].split()

    assert int(told[0]) <= 600
    assert Weights.unpack(ended.stdout).by_row.shape[1] == 3001
