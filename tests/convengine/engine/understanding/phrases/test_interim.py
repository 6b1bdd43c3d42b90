from convengine.engine.understanding.encoder import encode_text
from convengine.engine.understanding.phrases.classifier import Content, Example, IntentRanker
from convengine.engine.understanding.phrases.interim import InterimClassifier
from convengine.engine.understanding.phrases.models import Making, choose_making, get_classifier, name_model

OLD = (
    Example("PARCEL", "Where is my parcel?"),
    Example("PARCEL", "Has my order been sent?"),
    Example("REFUND", "I want my money back"),
    Example("GIFT", "Do you sell vouchers?"),
)
NEW = Example("HOURS", "When does the shop close in the evening?")


def train(*examples: Example) -> IntentRanker:
    content = Content(examples)
    with choose_making(Making.OWN):
        made = get_classifier(content, name_model(content))
    assert isinstance(made, IntentRanker)
    return made


def make_interim(*examples: Example, last: IntentRanker | None = None) -> InterimClassifier:
    return InterimClassifier(examples, last, {example.text: encode_text(example.text) for example in examples})


def test_the_last_classifier_ranks_what_it_knows_and_new_phrases_are_compared() -> None:
    last = train(*OLD)
    interim = make_interim(*OLD, NEW, last=last)

    known, new = "where did my parcel go", "when do you close in the evening"
    assert interim.rank(known, 1)[0][:2] == last.rank(known, 1)[0][:2]
    assert (interim.rank(new, 1)[0].intent, interim.rank(new, 1)[0].phrase) == ("HOURS", NEW.text)
    assert interim.rank(new, 1)[0].confidence > 0.3
    assert max(interim.list_likenesses(new), key=lambda listed: listed[1])[0] == NEW


def test_an_intent_without_phrases_is_meant_no_more_and_a_phrase_that_is_gone_is_not_named() -> None:
    interim = make_interim(*OLD[1:3], last=train(*OLD))

    assert "GIFT" not in {ranked.intent for ranked in interim.rank("do you sell vouchers", 8)}
    assert {ranked.phrase for ranked in interim.rank("where is my parcel", 8)} <= {OLD[1].text, OLD[2].text}


def test_without_a_last_classifier_the_nearest_phrase_decides_and_phrases_without_vectors_wait() -> None:
    assert make_interim(*OLD).rank("I want the money back", 1)[0].intent == "REFUND"
    assert InterimClassifier(OLD, None, {}).rank("I want the money back", 1) == ()
