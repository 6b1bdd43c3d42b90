"""Check the account of a match by deciding on the message again, and comparing phrases one by one."""

import re
from collections.abc import Collection, Iterator
from typing import Any

from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.turn.labels import format_confidence
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.book import PhraseBook, get_phrase_book
from convengine.engine.understanding.phrases.explain import LEAST_NEAR
from convengine.engine.understanding.phrases.matching import PhraseMatches, match_phrases
from convengine.engine.understanding.words import split_text
from convengine.server.admin_site.phrase_account import PhraseAccount, build_phrase_account

_STRAY = re.compile(
    r"The phrase “(.+)” of “(.+)” is more like “(.+)” of “(.+)” than like the other phrases of “(.+)”\. If "
)
_SAME = re.compile(r"the phrase “(.+?)”")
#: A word that changes less is only counted.
_POINT = 0.01


def list_false_statements(snapshot: Snapshot, text: str, **given: Any) -> Iterator[str]:
    """What the account of a message says that is not so. `given`: as for `match_phrases`."""
    account = build_phrase_account(snapshot, text, **given)
    recorded = given.pop("recorded", None)
    matches = match_phrases(snapshot, text, **given)
    ranked = [*matches.hits, *matches.near]
    same = recorded is None or [*map(recorded.get, (match.phrase.key for match in ranked))] == [
        match.confidence for match in ranked
    ]
    if same == bool(account.difference):
        yield f"{text}: “{account.difference}” of {recorded}"
    told = [(line.name, line.confidence, line.is_meant) for line in account.intents]
    so = [
        (get_intent_name(snapshot, match.intent), format_confidence(match.confidence), match in matches.hits)
        for match in ranked[:5]
    ]
    yield from ([f"{text}: {told}, not {so}"] if told != so else [])
    if format_confidence(matches.min_confidence) not in account.needed:
        yield f"{text}: {account.needed}, not {matches.min_confidence}"
    if ranked and ranked[0].confidence >= LEAST_NEAR:
        yield from _list_false_words(account, snapshot, text, matches, given)
    for line in account.advice:
        yield from (f"{text}: {line}" for _ in [0] if not _is_sound(line, snapshot, matches))


def _list_false_words(
    account: PhraseAccount, snapshot: Snapshot, text: str, matches: PhraseMatches, given: Any
) -> Iterator[str]:
    best = (*matches.hits, *matches.near)[0]
    without: list[tuple[str, str]] = []
    small = further = 0
    for number, word in enumerate(word for word in split_text(text) if not word.is_sign):
        if number >= 25:
            further += 1
            continue
        rest = " ".join(part for part in (text[: word.start].rstrip(), text[word.end :].lstrip()) if part)
        left = match_phrases(snapshot, rest, **given)
        found = [match.confidence for match in (*left.hits, *left.near) if match.intent == best.intent]
        if abs((found or [0.0])[0] - best.confidence) < _POINT - 1e-9:
            small += 1
        else:
            shown = format_confidence(found[0]) if found else "not in question"
            without.append((text[word.start : word.end], shown))
    if sorted(without) != sorted((line.word, line.without) for line in account.words):
        yield f"{text}: {account.words}, not {without}"
    if (small, further) != (account.small_words, account.further_words):
        yield f"{text}: {account.small_words} and {account.further_words} words, not {small} and {further}"


def _is_sound(line: str, snapshot: Snapshot, matches: PhraseMatches) -> bool:
    """True if a sentence of what to do rests on the decision and on the phrases."""
    names = {get_intent_name(snapshot, match.intent) for match in (*matches.hits, *matches.near)}
    if stray := _STRAY.match(line):
        return (
            stray[2] == stray[5] and {stray[2], stray[4]} <= names and _is_stray(snapshot, stray[1], stray[2], stray[3])
        )
    if line.startswith("No intent is near."):
        return all(match.confidence < LEAST_NEAR for match in (*matches.hits, *matches.near))
    if line.startswith("The message has the telling words of "):
        told = {match.group(1) for match in _SAME.finditer(line)}
        return bool(told) and told <= {match.phrase.text for match in matches.hits if match.is_identical}
    if line.startswith("The message is the phrase "):
        return len(matches.hits) == 1 and f"“{matches.hits[0].phrase.text}”" in line
    if line.startswith("If the message does not mean "):
        return len(matches.hits) == 1 and f"“{get_intent_name(snapshot, matches.hits[0].intent)}”" in line
    return len(matches.hits) != 1 and any(f"“{name}”" in line for name in names)


def _is_stray(snapshot: Snapshot, phrase: str, intent: str, nearer: str) -> bool:
    """True if a phrase is most like one of another intent, and the other phrases of both say that it means that one."""
    book = get_phrase_book(snapshot)
    likenesses = {
        (example.text, get_intent_name(snapshot, example.intent)): likeness
        for example, likeness in book.classifier.list_likenesses(phrase)
        if example.text != phrase
    }
    own: Collection[float] = [likeness for (_, name), likeness in likenesses.items() if name == intent]
    others = {text: likeness for (text, name), likeness in likenesses.items() if name != intent}
    (other,) = {name for text, name in likenesses if text == nearer and name != intent}
    rest = [each for each in book.phrases if each.text != phrase]
    pair = [each for each in rest if get_intent_name(snapshot, each.intent) in (intent, other)]
    best = PhraseBook(pair, (), book.content.synonyms, book.content.encoder).rank(phrase)[0]
    return others.get(nearer, -1.0) > max(own) and get_intent_name(snapshot, best.intent) == other
