"""Phrases by an embedding model of the deployment: over HTTP, in turns, in the database and in their replay."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from audit.narration.explanation import explain_turn
from audit.replay.replay import find_replay_difference
from config_admin.models import CeConfig, CeIntent, CeIntentClassifier, CeResponse
from convengine.engine.understanding.encoder import encode_text
from convengine.engine.understanding.phrases import encoders, models
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.classifier import list_general_sentences
from convengine.server import wiring
from convengine.server.interfaces.configuration import configuration
from convengine.server.phrase_models.live import LiveClassifier
from convengine.server.phrase_models.models import CePhraseModel, CePhraseVector
from convengine.server.phrase_models.old_models import remove_old
from convengine.server.phrase_models.store import DatabaseStore
from convengine.server.sessions.models import CeConversationHistory
from tests.api import Caller
from tests.database import in_another_process
from tests.fakes.openai_server import ModelServer, Says, model_server, say_vectors

pytestmark = pytest.mark.django_db(transaction=True)

PHRASES = {
    "PARCEL": ("Where is my parcel?", "Has my order been sent?", "When does the delivery come?"),
    "REFUND": ("I want my money back", "Please pay me back", "Can you return the payment?"),
}
PROGRAM = """
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.server.interfaces.configuration import configuration
match = get_phrase_book(configuration().current()).rank("please refund my payment")[0]
print(match.intent, match.confidence, match.phrase.text)
"""


def encode(text: str) -> list[float]:
    shift = np.random.default_rng(7).normal(size=512) / 16
    return [*map(float, encode_text(text) + shift)]


@pytest.fixture
def service(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """The model `lab:meaning`, which gives the vectors of the live phrases."""
    monkeypatch.setattr(encoders._service, "_vectors", type(encoders._service._vectors)())
    with model_server(by=say_vectors(encode)) as server:
        connection = {"base_url": server.url, "models": ["meaning"], "answers": "vectors", "circuit_failures": 0}
        monkeypatch.setenv("CE_LLM_CONNECTIONS", json.dumps({"lab": connection}))
        settings.CONVENGINE = {**settings.CONVENGINE, "MODELS": {"lab": connection}}
        wiring.models.cache_clear()
        wiring.model.cache_clear()
        wiring.embedding_model.cache_clear()
        for intent, texts in PHRASES.items():
            CeIntent.objects.create(intent_code=intent, description=intent)
            CeResponse.objects.create(intent_code=intent, state_code="ANY", response_type="EXACT", exact_text=intent)
            for text in texts:
                CeIntentClassifier.objects.create(intent_code=intent, rule_type="PHRASE", pattern=text)
        CeConfig.objects.create(config_type="Phrases", config_key="EMBEDDING_MODEL", config_value="lab:meaning")
        yield server
        wiring.embedding_model().close()
    wiring.models.cache_clear()
    wiring.model.cache_clear()
    wiring.embedding_model.cache_clear()


def list_batches(server: ModelServer) -> list[list[str]]:
    """The texts of each call. Nothing else is asked of a service that only gives vectors."""
    return [request["input"] for request in server.requests]


def list_texts(server: ModelServer) -> list[str]:
    return [text for batch in list_batches(server) for text in batch]


@pytest.mark.long
def test_another_process_asks_for_no_text_that_is_known(store: DatabaseStore, service: ModelServer) -> None:
    first = in_another_process(PROGRAM)
    asked_for = list_texts(service)
    second = in_another_process(PROGRAM)

    assert first == second
    assert first.startswith("REFUND")
    assert len(asked_for) == len(set(asked_for)) == len(list_general_sentences()) + 6 + 1
    assert list_texts(service)[len(asked_for) :] == ["please refund my payment"]
    assert {request["model"] for request in service.requests} == {"meaning"}
    assert CePhraseVector.objects.count() == len(asked_for) - 1


def test_a_turn_by_a_service_that_failed_says_so_and_is_replayed_without_it(
    store: DatabaseStore, service: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller = Caller()
    answers = [caller.say("please pay me back today")]
    store.finish()
    service.requests.clear()
    answers.append(caller.say("please pay me back today"))
    assert list_batches(service) == [["please pay me back today"]]
    service.answers = [Says(status=500)]
    answers.append(caller.say("could I have my money returned, and are you a robot"))

    assert [answer["success"] for answer in answers] == [True] * 3
    assert len(list_batches(service)) == 2, "the third message with all of its parts, once"
    is_substituted = ["INTENT_CLASSIFIER_SUBSTITUTED" in caller.stages(turn) for turn in (1, 2, 3)]
    assert is_substituted == [True, False, True], "the first turn does not wait for the vectors of phrases"
    assert "only knows words and letters compared the message" in "\n".join(explain_turn(caller.conversation_id, 3))
    monkeypatch.setattr(encoders._service, "embed", lambda name, texts: pytest.fail("asked"))
    monkeypatch.setattr(models, "_models", models._Models())
    for turn in CeConversationHistory.objects.filter(turn_no__gt=0):
        assert find_replay_difference(turn) is None


def test_a_server_that_starts_without_the_service_says_why_and_has_another_classifier_ready(
    store: DatabaseStore, service: ModelServer, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    service.answers = [Says("out of memory", status=500)]

    LiveClassifier().start()

    assert "EncoderUnavailable: 500: out of memory" in capsys.readouterr().err
    monkeypatch.setattr(models, "train", lambda texts: pytest.fail("trained"))
    assert get_phrase_book(configuration().current()).classifier.substitution == "NO_VECTORS"


def test_vectors_of_a_model_in_use_are_kept(store: DatabaseStore, service: ModelServer) -> None:
    caller = Caller()
    caller.say("please refund my payment")
    store.finish()
    before = CePhraseVector.objects.count(), CePhraseModel.objects.count()
    CePhraseVector.objects.update(made_at="2020-01-01T00:00Z")

    list(remove_old())

    assert (CePhraseVector.objects.count(), CePhraseModel.objects.count()) == before
    CeConfig.objects.filter(config_key="EMBEDDING_MODEL").delete()
    list(remove_old())
    assert CePhraseVector.objects.count() == 0
