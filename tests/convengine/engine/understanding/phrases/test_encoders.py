"""Phrases by the vectors of a service: what it is asked, and what decides when it fails."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import pytest

from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.encoder import Vector, encode_text
from convengine.engine.understanding.phrases import encoders, models
from convengine.engine.understanding.phrases.classifier import Content, Example, list_general_sentences
from convengine.engine.understanding.phrases.encoders import EncoderUnavailable, encode_texts, use_service
from convengine.engine.understanding.phrases.explain import explain_match
from convengine.engine.understanding.phrases.features import spell_beginning
from convengine.engine.understanding.phrases.interim import InterimClassifier
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.models import Making, choose_making, get_classifier, name_model
from convengine.engine.understanding.phrases.store import NoStore
from convengine.evaluation.cross_validation import cross_validate
from tests.builders import make_classifier, make_config, make_intent, make_snapshot

EXAMPLES = tuple(
    Example(intent, text)
    for intent, texts in {
        "PARCEL": ("Where is my parcel?", "Has my order been sent?", "When does the delivery come?"),
        "REFUND": ("I want my money back", "Please pay me back", "Can you return the payment?"),
        "HOURS": ("When are you open?", "What are your opening times?", "Are you there on Sundays?"),
    }.items()
    for text in texts
)
MESSAGES = (
    "has the parcel left yet", "give me back what I paid", "do you open at the weekend", "please refund my payment",
    "until when is the shop open", "is my package on its way", "could I have the money returned", "my cat is ill",
)  # fmt: skip


class Service:
    """A model behind a service: the vectors of the encoder of this process, all of them shifted the same way."""

    def __init__(self) -> None:
        self.batches: list[Sequence[str]] = []
        self.fails = False
        self.dimensions = 512

    def embed(self, name: str, texts: Sequence[str]) -> Sequence[Vector]:
        self.batches.append(texts)
        if self.fails:
            raise EncoderUnavailable("LLM_TIMEOUT", "No complete answer.")
        shift = np.random.default_rng(7).normal(size=512)
        shift /= np.linalg.norm(shift)
        return [(3 * (encode_text(text) + 1.5 * shift)).astype(np.float32)[: self.dimensions] for text in texts]

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]


class Remembering(NoStore):
    """Keeps vectors."""

    def __init__(self) -> None:
        self.vectors: dict[str, bytes] = {}

    def load_vectors(self, names: Sequence[str]) -> dict[str, bytes]:
        return {name: self.vectors[name] for name in names if name in self.vectors}

    def save_vectors(self, vectors: Mapping[str, bytes]) -> None:
        self.vectors |= vectors


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Service:
    monkeypatch.setattr(models, "_models", models._Models())
    monkeypatch.setattr(encoders, "_service", encoders._Service())
    service = Service()
    use_service(service.embed)
    return service


def get(encoder: str, messages: Sequence[str] = (), examples: Sequence[Example] = EXAMPLES) -> models.Ranker:
    content = Content(tuple(examples), encoder=encoder)
    return get_classifier(content, name_model(content), messages)


def make_configured() -> Snapshot:
    """The phrases, in a workspace that names the model."""
    phrases = [make_classifier(each.intent, each.text, rule_type="PHRASE") for each in EXAMPLES]
    intents = [make_intent(intent) for intent in ("PARCEL", "REFUND", "HOURS")]
    return make_snapshot(*phrases, *intents, make_config("Phrases/EMBEDDING_MODEL", " lab:shifted "))


def test_decisions_hardly_change_when_all_vectors_are_shifted_the_same_way(service: Service) -> None:
    decided = {name: [get(name, MESSAGES).rank(message, 1)[0] for message in MESSAGES] for name in ("", "lab:shifted")}

    pairs = [*zip(*decided.values(), strict=True)]
    assert all(usual.intent == shifted.intent for usual, shifted in pairs)
    assert np.mean([abs(usual.confidence - shifted.confidence) for usual, shifted in pairs]) < 0.1
    assert np.mean([abs(usual.likeness - shifted.likeness) for usual, shifted in pairs]) < 0.1


def test_a_service_is_asked_once_for_each_text_in_batches(service: Service) -> None:
    get("lab:shifted", MESSAGES)
    get("lab:shifted", MESSAGES)

    assert max(map(len, service.batches)) == encoders.BATCH
    assert (
        len(service.texts)
        == len(set(service.texts))
        == len({*list_general_sentences()}) + len(EXAMPLES) + len(MESSAGES)
    )
    assert service.batches[-1] == [*MESSAGES], "one call for all of them"


def test_an_edit_asks_for_what_is_new(service: Service) -> None:
    get("lab:shifted")
    service.batches.clear()

    get("lab:shifted", examples=(*EXAMPLES, Example("REFUND", "Reimburse me")))

    assert service.batches == [["reimburse me"]]


def test_the_likenesses_of_a_phrase_are_those_of_its_stored_vector(service: Service) -> None:
    classifier = get("lab:shifted")
    service.batches.clear()

    likenesses = dict(classifier.list_likenesses("Where is my parcel?"))

    assert likenesses[EXAMPLES[0]] == pytest.approx(1, abs=0.01)
    assert service.batches == []


def test_words_and_letters_decide_while_the_service_fails(service: Service) -> None:
    get("lab:shifted")
    service.fails = True

    ranker = get("lab:shifted", ["has the parcel left yet"])
    (best,) = ranker.rank("has the parcel left yet", 1)

    assert ranker.substitution == "NO_VECTORS"
    assert (best.intent, best.phrase) == ("PARCEL", "Where is my parcel?")
    assert next(iter(get("NO_VECTORS").rank("Where is my parcel?", 1))).likeness == pytest.approx(1, abs=0.01)
    assert get("lab:shifted", MESSAGES[:1]).substitution == "NO_VECTORS"
    service.fails = False
    assert get("lab:shifted", MESSAGES[:1]).substitution == ""


def test_a_training_that_was_cut_off_goes_on_where_it_ended(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    stored: dict[str, bytes] = {}
    monkeypatch.setattr(NoStore, "load_vectors", lambda self, names: {n: stored[n] for n in names if n in stored})
    monkeypatch.setattr(NoStore, "save_vectors", lambda self, vectors: stored.update(vectors))
    embed = service.embed

    def fail_later(name: str, texts: Sequence[str]) -> Sequence[Vector]:
        service.fails = len(service.batches) == 2
        return embed(name, texts)

    use_service(fail_later)
    assert get("lab:shifted").substitution == "NO_VECTORS"
    assert len(stored) == 2 * encoders.BATCH
    service.batches.clear()

    use_service(embed)
    service.fails = False
    assert get("lab:shifted").substitution == ""
    assert len(service.texts) == len(list_general_sentences()) + len(EXAMPLES) - 2 * encoders.BATCH


def test_a_cross_validation_asks_for_no_phrase_whose_vector_is_stored(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored: dict[str, bytes] = {}
    monkeypatch.setattr(NoStore, "load_vectors", lambda self, names: {n: stored[n] for n in names if n in stored})
    monkeypatch.setattr(NoStore, "save_vectors", lambda self, vectors: stored.update(vectors))
    snapshot = make_configured()
    match_phrases(snapshot, "please refund my payment")
    monkeypatch.setattr(encoders, "_service", encoders._Service())
    use_service(service.embed)
    service.batches.clear()

    validated = cross_validate(snapshot.rows(rows.Classifier), snapshot)

    assert len(validated.outcomes) == len(EXAMPLES)
    assert any(outcome.decision.ranked for outcome in validated.outcomes)
    assert not {*service.texts} & {spell_beginning(each.text) for each in EXAMPLES}


def test_a_service_with_vectors_of_another_length_than_before_is_not_believed(service: Service) -> None:
    get("lab:shifted")
    service.dimensions = 256

    assert get("lab:shifted", ["something else"]).substitution == "NO_VECTORS"
    with pytest.raises(EncoderUnavailable, match="vectors of 256 and of 512 numbers"):
        models.load_encoder("lab:shifted", NoStore()).encode("something else")


def test_two_lengths_among_the_stored_vectors_are_a_fault_of_the_service(service: Service) -> None:
    texts = list_general_sentences()
    store = Remembering()
    for size, part in ((512, texts[:64]), (256, texts[64:])):
        service.dimensions = size
        models._load_stored_vectors(part, store, "lab:shifted")

    with pytest.raises(EncoderUnavailable, match="vectors of 256 and of 512 numbers"):
        models.load_encoder("lab:shifted", store)


def test_nothing_is_asked_for_an_account_of_a_message_of_one_word(service: Service) -> None:
    explain_match(make_configured(), "refund")

    assert "" not in service.texts


def test_an_interim_classifier_compares_its_own_phrases_when_the_service_is_down(service: Service) -> None:
    encoder = models.load_encoder("lab:shifted", NoStore())
    texts = [each.text for each in EXAMPLES]
    interim = InterimClassifier(EXAMPLES, None, models.load_vectors(texts, NoStore(), encoder), encoder)
    encoders._service = encoders._Service()

    likenesses = dict(interim.list_likenesses(EXAMPLES[0].text))

    assert likenesses[EXAMPLES[0]] == max(likenesses.values())


def test_without_a_service_words_and_letters_decide(service: Service) -> None:
    encoders._service.embed = None

    assert get("lab:shifted").substitution == "NO_VECTORS"
    with pytest.raises(EncoderUnavailable, match="No connection to the model lab:shifted is configured"):
        encode_texts("lab:shifted", ["hello"])


def test_each_model_has_classifiers_and_vectors_of_its_own() -> None:
    content = Content(EXAMPLES)

    names = [name_model(content._replace(encoder=encoder)) for encoder in ("", "lab:one", "lab:two", "NO_VECTORS")]

    assert len({*names}) == 4
    assert len({models.name_vector("hello", encoder) for encoder in ("", "lab:one", "lab:two")}) == 3


def test_a_setting_names_the_model_of_phrases_and_one_call_asks_for_a_message_and_its_parts(service: Service) -> None:
    snapshot = make_configured()
    match_phrases(snapshot, "is it gone")
    service.batches.clear()

    match_phrases(snapshot, "my dog is 3 years old, and I wonder when the postman brings what I bought on Monday")

    (batch,) = service.batches
    assert len(batch) > 2


def test_an_account_asks_for_all_shorter_messages_at_once(service: Service) -> None:
    snapshot = make_configured()
    explain_match(snapshot, "please refund my payment")
    service.batches.clear()

    account = explain_match(snapshot, "give me back what I paid")

    assert len(account.words) == 6
    assert [len(batch) > 5 for batch in service.batches] == [False, True]


@pytest.fixture
def late_store(service: Service) -> Iterator[list[Callable[[], None]]]:
    works: list[Callable[[], None]] = []

    class LateStore(NoStore):
        def start(self, work: Callable[[], None]) -> bool:
            works.append(work)
            return True

    models.use_store(LateStore())
    return iter([works])


def test_no_turn_waits_while_a_service_is_asked_for_phrases(
    service: Service, late_store: Iterator[list[Callable[[], None]]]
) -> None:
    works = next(late_store)
    with choose_making(Making.BACKGROUND):
        assert get("lab:shifted", MESSAGES[:1]).substitution == "NO_VECTORS"
        assert service.batches == []
        works.pop()()
        assert get("lab:shifted", MESSAGES[:1]).substitution == ""

        new = Example("GIFT", "Do you sell vouchers?")
        service.batches.clear()
        interim = get("lab:shifted", ["have you got gift vouchers"], (*EXAMPLES, new))
        assert interim.substitution == "BEING_MADE"
        assert interim.rank("have you got gift vouchers", 1)[0].intent == "GIFT"
        assert service.batches == [["do you sell vouchers?"], ["have you got gift vouchers"]]
