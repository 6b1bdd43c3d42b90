"""The account of a match in words: no figure and no sentence of it is false."""

import pytest

from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.server.admin_site.phrase_account import build_phrase_account, describe_match, describe_needed_score
from tests.builders import make_config
from tests.convengine.engine.understanding.phrases.test_explain import PHRASES, build_snapshot
from tests.phrase_accounts import list_false_statements

MESSAGES = (
    "when is it that you open",
    "Track my parcel",
    "my parcel, and my money",
    "refund the order, I want to send the parcel back",
    "open the parcel on Sunday",
    "the weather is nice",
    "",
    "?!",
    "hello hello hello",
    "I WANT MY MONEY BACK NOW",
)
SAME = {**PHRASES, "OPENING": (*PHRASES["OPENING"], "Track my parcel")}
MISPLACED = {**PHRASES, "OPENING": (*PHRASES["OPENING"], "Where is the parcel of mine?")}


@pytest.mark.parametrize("phrases", [PHRASES, SAME, MISPLACED, {"PARCEL": ("Where is my parcel?",)}, {}])
def test_no_account_of_any_message_is_false(phrases: dict[str, tuple[str, ...]]) -> None:
    snapshot = build_snapshot(phrases)
    texts = (*MESSAGES, *(text for listed in PHRASES.values() for text in listed))

    assert [false for text in texts for false in list_false_statements(snapshot, text)] == []


def test_a_false_account_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = build_snapshot(PHRASES)
    told = "tests.phrase_accounts.build_phrase_account"
    monkeypatch.setattr(told, lambda snapshot, text, **kwargs: build_phrase_account(snapshot, f"{text} refund"))

    assert list(list_false_statements(snapshot, "when do they open")) != []


@pytest.mark.parametrize(
    ("phrases", "message", "expected"),
    [
        (PHRASES, "?!", "No intent is near. If the message means one, add it as a phrase of that intent."),
        (
            PHRASES,
            "track my parcel",
            "The message is the phrase “Track my parcel”. If it means another intent, move the phrase there.",
        ),
        (
            PHRASES,
            "my parcel, track it please",
            "If the message does not mean “Parcel”, add it as a phrase of the intent that it means.",
        ),
        (SAME, "track my parcel", " and of the phrase “Track my parcel” of "),
        (
            PHRASES,
            "how do I refund the order",
            "If the message does not mean “Refund”, add it as a phrase of the intent",
        ),
        (MISPLACED, "where would the parcel of mine be", "If it means “Parcel”, move it there."),
    ],
)
def test_it_says_what_to_do(phrases: dict[str, tuple[str, ...]], message: str, expected: str) -> None:
    assert expected in " ".join(build_phrase_account(build_snapshot(phrases), message).advice)


def test_an_intent_that_is_not_sure_is_told_as_one_to_choose() -> None:
    unsure = build_snapshot(PHRASES, make_config("Phrases/MIN_CONFIDENCE", "0.999"))

    several, one = (
        build_phrase_account(unsure, text).advice[0] for text in ("refund my parcel", "refund that lamp of mine")
    )

    assert several.startswith("If the message means one of ")
    assert {"“Refund”", "“Parcel”"} <= set(several.rstrip(".").replace(",", "").split())
    assert one == "If the message means “Refund”, add it as a phrase of “Refund”."


def test_there_is_advice_only_on_an_intent_for_which_the_turn_took_the_message() -> None:
    snapshot, message = build_snapshot(PHRASES), "how do I refund the order"

    for taken_for, is_advised in ((None, True), (["REFUND"], True), (["PARCEL"], False), ([], False)):
        assert bool(build_phrase_account(snapshot, message, taken_for=taken_for).advice) is is_advised
    assert not build_phrase_account(snapshot, "?!", taken_for=["REFUND"]).advice


def test_words_are_told_with_what_changes_without_them() -> None:
    account = build_phrase_account(build_snapshot(PHRASES), "how do I refund the order")

    assert account.best is not None
    first = account.words[0]
    assert account.best.name == "Refund"
    assert first.word == "refund"
    assert first.change.startswith("−")
    assert first.change.endswith(" points")


def test_other_figures_of_the_turn_are_told() -> None:
    snapshot: Snapshot = build_snapshot(PHRASES)
    message = "how do I refund the order"
    phrase, confidence = next((match.phrase.key, match.confidence) for match in match_phrases(snapshot, message).hits)

    def tell(recorded: dict[object, float] | None) -> str:
        return build_phrase_account(snapshot, message, recorded=recorded).difference

    assert tell({phrase: confidence}) == tell(None) == ""
    assert tell({phrase: 0.123}).endswith("In the turn, “Refund” was the likeliest, with 12.3\N{NO-BREAK SPACE}%.")
    assert tell({1: 0.95, phrase: confidence}).endswith("“Opening” was the likeliest, with 95\N{NO-BREAK SPACE}%.")
    assert tell({}).endswith("In the turn, no intent came into question.")


def test_a_match_names_its_confidence_and_the_nearest_phrase() -> None:
    match = {"phrase": "how much is a tattoo", "score": 0.8}
    assert describe_match("Prices", match) == (
        "Prices: confidence 80\N{NO-BREAK SPACE}%. The nearest phrase is “how much is a tattoo”."
    )
    assert (
        describe_match("Prices", {**match, "score": 1})
        == "Prices: the message has the telling words of the phrase “how much is a tattoo”."
    )


def test_the_needed_confidence_has_a_reason() -> None:
    snapshot = Snapshot(1, {}, {})

    assert (
        describe_needed_score(snapshot, 0.0, [])
        == "A confidence of 0\N{NO-BREAK SPACE}% is needed, the minimum for all intents."
    )
    near_others = describe_needed_score(snapshot, 0.95, [1.0])
    assert near_others == (
        "The best intent has a confidence of 100\N{NO-BREAK SPACE}%. "
        "Others count from 95\N{NO-BREAK SPACE}% on, which is 5 points below."
    )
