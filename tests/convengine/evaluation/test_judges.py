"""Files of somebody who had not seen how intents are found: what is understood of them must not become less."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from convengine.evaluation.corpus import IntentCorpus, read_corpus
from convengine.evaluation.labelled import read_files
from convengine.evaluation.measures import summarize_intents

FOLDER = Path(__file__).parent / "judges"


def test_a_bot_of_34_intents_is_understood() -> None:
    phrases: dict[str, list[str]] = {}
    for message in read_files([FOLDER / "intents-34.yml"]).messages:
        phrases.setdefault(message.intent or "", []).append(message.text)
    measured = measure(phrases, read_json("intents-34-test.json"))

    assert len(phrases) == 34
    assert measured["recall"] >= 0.64
    assert measured["precision"] >= 0.95
    assert measured["recall"] + measured["near"] >= 0.88


def test_messages_in_other_languages_are_understood_by_english_phrases() -> None:
    corpus = read_corpus(FOLDER / "multilingual-20.json")
    outcomes = [*corpus.decide()]

    right, asked = sum(each.is_right for each in outcomes), sum(each.is_near for each in outcomes)
    assert len(outcomes) == 40
    assert right >= 25
    assert right + asked >= 35


def test_questions_are_recognised_by_one_or_two_phrases() -> None:
    document = read_json("faq-30.json")
    phrases = {str(at): [faq["question"], *faq["also"]] for at, faq in enumerate(document["faqs"])}
    outcomes = [*IntentCorpus(phrases, [(text, str(at)) for text, at in document["test"]]).decide()]

    right, asked = sum(outcome.is_right for outcome in outcomes), sum(outcome.is_near for outcome in outcomes)
    assert len(outcomes) == 40
    assert right + asked >= 24


def measure(phrases: Mapping[str, Sequence[str]], messages: Sequence[tuple[str, str | None]]) -> Mapping[str, Any]:
    corpus = IntentCorpus(phrases, [(text, intent or "") for text, intent in messages])
    return summarize_intents([*corpus.decide()])


def read_json(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))
