"""Erase a participant from stored searches: the access log, and the searches that users saved.

A search for the whole name or phone number is erased. A search for a part, or for other words of the erased turns, may
mean somebody else, too: it is listed for a person to decide.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from django.db import transaction
from django.db.models import Model

from audit.erasure.telling_words import has_telling_word
from audit.models import CeAccessLog, CeLedger, CeSavedSearch
from audit.record import removals
from audit.seal import ERASED, read_seal
from convengine.engine.text.compare import fold, split_words
from convengine.engine.text.participants import SHORTEST, has_all, list_local_terms, list_terms, read_phone
from convengine.engine.turn.job import Counts

#: The parameters of pages that name a participant, and those with other words that somebody typed.
_NAMES, _WORDS = ("participant", "remote_jid"), ("q", "text", "query")
#: The pages whose `q` is a participant.
_LISTS_OF_PEOPLE = ("/ceconversation/", "/cethread/")


class ParticipantMatch(Enum):
    """What a search says of a participant."""

    NO = "It is about something else."
    MAYBE = "It may mean the participant or somebody else."
    YES = "It means the participant."


class _Texts(NamedTuple):
    """What somebody typed in a search: names of participants, and other words."""

    names: list[str]
    words: list[str]


def _read_texts(search: str, path: str) -> _Texts:
    """The texts of a stored search, an address or plain words.

    Only parameters of names or words count: a time, a status or a number is about nobody.
    """
    pairs = parse_qsl(search) if "=" in search else [("q", search)]
    named = (*_NAMES, "q") if any(page in path for page in _LISTS_OF_PEOPLE) else _NAMES
    names = [text for parameter, text in pairs if parameter in named]
    return _Texts(names, [text for parameter, text in pairs if parameter in _WORDS and parameter not in named])


def match_search(search: str, path: str, participant: str) -> ParticipantMatch:
    """Whether a stored search is about a participant. The strongest parameter counts."""
    names, words = _read_texts(search, path)
    if any(_is_whole(text, participant) for text in (*names, *words)):
        return ParticipantMatch.YES
    is_maybe = any(_is_part(text, participant) for text in names) or any(_mentions(text, participant) for text in words)
    return ParticipantMatch.MAYBE if is_maybe else ParticipantMatch.NO


def _is_whole(text: str, participant: str) -> bool:
    """True if the text is the participant's name or phone number, however it is spelled."""
    phone = read_phone(participant)
    return fold(text) == fold(participant) or (phone != "" and phone == read_phone(text))


def _is_part(text: str, participant: str) -> bool:
    """True if the search for people finds the participant by this text, unless it is too short to mean anybody."""
    options = (terms for terms in (list_terms(text), list_local_terms(text)) if terms)
    return any(len(terms[0]) >= SHORTEST and has_all(participant, terms) for terms in options)


def _mentions(text: str, participant: str) -> bool:
    """True if the name is a part of the text, or one of its words is a part of the name."""
    return fold(participant) in fold(text) or any(_is_part(word, participant) for word in split_words(text))


def erase_searches(participant: str, by: str, reason: str) -> Iterator[Counts]:
    """Erase the searches for a participant, and record which ones a person must decide. The accesses stay."""
    with transaction.atomic():
        saved = {row.pk: match_search(row.query, "", participant) for row in CeSavedSearch.objects.iterator()}
        entries = CeAccessLog.objects.exclude(search="").values_list("pk", "search", "path")
        logged = {pk: match_search(search, path, participant) for pk, search, path in entries.iterator()}
        certain = [pk for pk, match in saved.items() if match is ParticipantMatch.YES]
        delete_saved_searches(certain, by, reason)
        emptied = [pk for pk, match in logged.items() if match is ParticipantMatch.YES]
        undecided = {
            model._meta.db_table: pks
            for model, matches in ((CeAccessLog, logged), (CeSavedSearch, saved))
            if (pks := [pk for pk, match in matches.items() if match is ParticipantMatch.MAYBE])
        }
        empty_searches(emptied, by, reason)
        removals.note_undecided(undecided, by, reason)
    if emptied or certain:
        yield {"searches": len(emptied) + len(certain)}
    if undecided:
        yield {"undecided": sum(map(len, undecided.values()))}


def note_searches_with(words: frozenset[str], by: str, reason: str) -> Iterator[Counts]:
    """Record the searches that have one of these words of erased turns, for a person to decide.

    What an erasure lists already is not listed again.
    """
    if not words:
        return
    with transaction.atomic():
        logged = CeAccessLog.objects.exclude(search="").values_list("pk", "search", "path")
        saved = ((row.pk, row.query, "") for row in CeSavedSearch.objects.iterator())
        undecided = {
            model._meta.db_table: keys
            for model, searches in ((CeAccessLog, logged.iterator()), (CeSavedSearch, saved))
            if (keys := sorted(_list_searches_with(words, searches) - _list_undecided(model)))
        }
        removals.note_undecided(undecided, by, reason)
    if undecided:
        yield {"undecided": sum(map(len, undecided.values()))}


def _list_searches_with(words: frozenset[str], searches: Iterable[tuple[int, str, str]]) -> set[int]:
    """The keys of the searches that have one of these words. A search is its key, its text and the path of its page."""
    typed = ((key, chain(*_read_texts(search, path))) for key, search, path in searches)
    return {key for key, texts in typed if any(has_telling_word(text, words) for text in texts)}


def _list_undecided(model: type[Model]) -> set[Any]:
    """The searches of a table that erasures have listed for a person to decide."""
    entries = CeLedger.objects.filter(kind=CeLedger.Kind.ERASURE, table_name=model._meta.db_table, count=0)
    return {key for entry in entries for key in entry.details.get("undecided", ())}


def empty_searches(keys: Sequence[int], by: str, reason: str) -> int:
    """Remove the searched text of entries of the access log, and record it. Returns how many had one.

    Needs an open transaction.
    """
    entries = list(CeAccessLog.objects.filter(pk__in=keys).exclude(search=""))
    CeAccessLog.objects.filter(pk__in=[row.pk for row in entries]).purge()
    for row in entries:
        if seal := read_seal(row.seal):
            row.seal = seal.cut(ERASED, row.encode()).to_bytes()
        row.search = ""
    CeAccessLog.objects.bulk_create(entries)
    if entries:
        pks = [row.pk for row in entries]
        removals.note_removal(removals.Kind.ERASURE, CeAccessLog._meta.db_table, pks, by, reason, emptied=pks)
    return len(entries)


def delete_saved_searches(keys: Sequence[int], by: str, reason: str) -> int:
    """Delete searches that users saved, and record it. Returns how many existed. Needs an open transaction."""
    rows = CeSavedSearch.objects.filter(pk__in=keys)
    if pks := list(rows.values_list("pk", flat=True)):
        rows.delete()
        removals.note_removal(removals.Kind.ERASURE, CeSavedSearch._meta.db_table, pks, by, reason)
    return len(pks)
