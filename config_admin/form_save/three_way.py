"""Merge two changes of one text or document; where both changed the same part, both stay."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from config_admin.comparison.word_diff import MAX_PARTS, words_of
from config_admin.releases.blobs import canonical
from config_admin.releases.tree import has_same_text

Json = Any
_GONE = object()


def combined_text(base: str, theirs: str, mine: str) -> str:
    """Both changes of a text. Where they overlap, theirs comes first, then mine."""
    texts = (base, theirs, mine)
    parts: list[Sequence[str]] = [words_of(text) for text in texts]
    if sum(map(len, parts)) > 2 * MAX_PARTS:
        parts = [text.splitlines(keepends=True) for text in texts]
    gap = "\n" if any("\n" in text for text in texts) else " "
    return "".join(_merge_parts(parts[0], parts[1], parts[2], gap))


def combined_json(base: Json, theirs: Json, mine: Json) -> Json:
    """Both changes of a document, key by key; if both set one path, mine wins. Lists keep the additions of both."""
    found = _merge_values(base, theirs, mine)
    return mine if found is _GONE else found


def _merge_parts(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str], gap: str) -> Iterator[str]:
    at_b = at_t = at_m = 0
    for b, t, m in [*_anchors(base, theirs, mine), (len(base), len(theirs), len(mine))]:
        yield _between("".join(base[at_b:b]), "".join(theirs[at_t:t]), "".join(mine[at_m:m]), gap)
        if b < len(base):
            yield base[b]
        at_b, at_t, at_m = b + 1, t + 1, m + 1


def _between(base: str, theirs: str, mine: str, gap: str) -> str:
    if theirs in (base, mine):
        return mine
    if mine == base:
        return theirs
    if not (theirs and mine):
        return theirs or mine
    is_apart = theirs[-1].isspace() or mine[0].isspace()
    return theirs + mine if is_apart else f"{theirs}{gap}{mine}"


def _anchors(base: Sequence[str], theirs: Sequence[str], mine: Sequence[str]) -> list[tuple[int, int, int]]:
    """The positions of words that all three have, in order; blanks count only beside such a word."""
    in_theirs, in_mine = _match_indexes(base, theirs), _match_indexes(base, mine)
    found = [(b, in_theirs[b], in_mine[b]) for b in range(len(base)) if b in in_theirs and b in in_mine]
    words = {place for place in found if base[place[0]].strip()}
    return [place for place in found if words & {place, _advance(place, -1), _advance(place, 1)}]


def _advance(place: tuple[int, int, int], by: int) -> tuple[int, int, int]:
    return place[0] + by, place[1] + by, place[2] + by


def _match_indexes(base: Sequence[str], other: Sequence[str]) -> Mapping[int, int]:
    blocks = SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def _merge_values(base: Json, theirs: Json, mine: Json) -> Json:
    if _equal(theirs, base) or _equal(theirs, mine):
        return mine
    if _equal(mine, base):
        return theirs
    if isinstance(theirs, dict) and isinstance(mine, dict):
        before = base if isinstance(base, dict) else {}
        keys = dict.fromkeys([*before, *theirs, *mine])
        found = {key: _merge_values(*(side.get(key, _GONE) for side in (before, theirs, mine))) for key in keys}
        return {key: value for key, value in found.items() if value is not _GONE}
    if isinstance(theirs, list) and isinstance(mine, list):
        return _lists(base if isinstance(base, list) else [], theirs, mine)
    # What one side removed and the other changed stays, changed.
    return theirs if mine is _GONE else mine


def _lists(base: Sequence[Json], theirs: Sequence[Json], mine: Sequence[Json]) -> list[Json]:
    was, now = {_key(item) for item in base}, {_key(item) for item in mine}
    there = {_key(item) for item in theirs}
    kept = [item for item in theirs if _key(item) in now or _key(item) not in was]
    return [*kept, *(item for item in mine if _key(item) not in there | was)]


def _key(item: Json) -> bytes:
    return canonical(item)


def _equal(one: Json, other: Json) -> bool:
    return one is other or (one is not _GONE and other is not _GONE and has_same_text(one, other))
