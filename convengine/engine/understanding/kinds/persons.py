"""Names of people: "my name is Ann Hill", "under Hill", "Hill, Ann"; a given and a family name each get their part."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.name_parts import FAMILY, GIVEN, WHOLE, find_part, split_name
from convengine.engine.understanding.language import get_tables
from convengine.engine.understanding.span import Resolved, Situation, Sort, Span, accept

#: A name has no more words.
_MOST_WORDS = 4
#: A shorter word of the tables is no name.
_SHORTEST_KNOWN = 3
#: Classes of words that stand around a name that is all of a message.
_AROUND = ("filler", "courtesy", "lead_in", "lead_out", "introduction", "name_lead_in", "name_cue")
#: Classes of words that are no names, whether with a capital or without.
_SMALL = (
    "joint", "alternative", "denial", "supposition", "question", "request", "courtesy", "limit", "lead_out",
    "correction", "opening", "others", "rejection",
)  # fmt: skip
#: Those that no name is, even as all of a message.
_NEVER = ("joint", "alternative", "denial", "courtesy", "correction", "opening", "rejection")
#: What stands before a name, the surest first.
_CUES = ("name_lead_in", "title_word", "name_cue", "introduction")
#: Classes of words before a name that has nothing else around it: "for my mother Ann Hill".
_LEADS = ("name_lead_in", "lead_in", "name_target", "introduction", "courtesy", "possessive", "relative", "opening")
#: Signs between the values of a list.
_PARTING = ("", ",", ";", "\n")
#: Signs behind a cue that no name follows.
_ENDS = frozenset(",;!?-")
#: Values that may stand beside a name that is all the rest of a message.
_BESIDE = ("date", "marked_clock", "counted_head", "number")

#: A name is not said again in full behind more words.
_MOST_BETWEEN = 8


class PersonFinder:
    """Finds names of people (`Sort.PERSON`)."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The first name behind a cue, or before one, or that is all of a message, for each field that takes a part."""
        parts = {spec.name: part for spec in specs if (part := find_part(spec, chart.grammar))}
        if not parts:
            return []
        only = all(spec.name in parts for spec in specs if spec.kind is Kind.TEXT)
        name = next(_list_names(chart, is_only=only), None)
        return list(_deal(chart, _widen(chart, name), parts)) if name else []

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The name as it is typed. Returns None for a field that takes no name.

        So it does for a name without a cue, unless it, or another part of it, was asked for.
        """
        is_name = bool(find_part(spec, get_tables(situation.locale).grammar))
        is_plain = is_meant or not (span.is_weak or span.phrase.slots["asked"])
        return accept(span.phrase.slots["text"]) if is_name and is_plain else None


class _Name(NamedTuple):
    start: int
    end: int
    is_weak: bool = False
    #: It counts only where it is asked for.
    is_asked: bool = False


def _list_names(chart: Chart, *, is_only: bool) -> Iterator[_Name]:
    """Where names may stand, the surest first.

    `is_only`: the form takes no other text, so that "for Ann" and two new words with capitals are a name, too.
    """
    yield from _list_names_behind(chart, is_only=is_only)
    for at in range(1, len(chart.words)):  # Before words such as "is my name".
        start = _find_start(chart, at) if chart.match("name_lead_out", at) else at
        if start < at and not chart.words[at].is_mended:
            yield _Name(start, at)
    yield from _list_runs(chart, is_only=is_only)
    if rest := _find_rest(chart):
        first, end = rest
        # Two new words with capitals, and nothing beside them but values and courtesies.
        is_fragment = end > first + 1 and all(_is_new(chart, at) and _is_capital(chart, at) for at in (first, end - 1))
        is_sure = is_only and is_fragment and chart.content <= chart.cover(("courtesy", *_BESIDE)) | {*range(*rest)}
        yield _Name(first, end, is_weak=not is_sure)


def _list_names_behind(chart: Chart, *, is_only: bool) -> Iterator[_Name]:
    """The names behind words that announce one: "my name is Ann Hill", "Mrs Hill"."""
    cues = [name for name in _CUES if name != "title_word" or not _begins_with_name(chart)]
    for name in (*cues, *(["name_target"] if is_only else [])):
        for at in range(len(chart.words)):
            match = chart.match_longest(name, at)
            if match is None or chart.words[match.end - 1].is_mended:
                continue
            start, is_sure = _skip_signs(chart, match.end), name == "name_lead_in"
            end = _find_end(chart, start, is_sure=is_sure)
            if end > start and (is_sure or not _goes_on(chart, end)):
                start, end = _find_whole(chart, start, end)
                is_single = name == "introduction" and end == start + 1
                yield _Name(at if name == "title_word" else start, end, is_single)


def _begins_with_name(chart: Chart) -> bool:
    """True where a name is all of what stands before the first sign: "Ann Hill, and Mrs Pike knows me"."""
    end = next((at for at, word in enumerate(chart.words) if word.is_sign), 0)
    return _may_be_name(chart, 0, end) and _find_end(chart, 0, is_sure=False) == end if end else False


def _list_runs(chart: Chart, *, is_only: bool) -> Iterator[_Name]:
    """Words with capitals that are all of what stands between two signs or numbers: "Max Power", "A. Hill (Mrs)"."""
    words, first = chart.words, 0
    while first < len(words):
        if not words[first].key[0].isalpha():
            first += 1
            continue
        start = first
        while not _is_initial(chart, start) and (lead_end := _find_lead_end(chart, start)) > start:
            start = lead_end
        end = _find_end(chart, start, is_sure=False) if start < len(words) else start
        ends_run = end == len(words) or not words[end].key[0].isalpha() or bool(chart.match("courtesy", end))
        if end > start and ends_run and _may_be_name(chart, start, end):
            yield _Name(start, end, is_asked=not (is_only and start == first and _is_listed(chart, start, end)))
        first = max(end, first + 1)
        while first < len(words) and words[first].key[0].isalpha():
            first += 1


def _is_listed(chart: Chart, start: int, end: int) -> bool:
    """True between commas: "for 4, Ann Hill, at 7"."""
    is_new = all(_is_new(chart, at) and chart.words[at].key not in chart.grammar.talk for at in range(start, end))
    before, behind = (chart.words[at].key if 0 <= at < len(chart.words) else "" for at in (start - 1, end))
    return is_new and before in _PARTING and behind in (*_PARTING, ".")


def _find_lead_end(chart: Chart, at: int) -> int:
    """The end of words that may introduce a name but do not belong to it; the same for other words."""
    ends = (match.end for name in _LEADS for match in chart.match(name, at))
    return max((end for end in ends if not _is_initial(chart, end - 1)), default=at)


def _is_initial(chart: Chart, at: int) -> bool:
    """True for the A of "A. Hill"."""
    return len(chart.words[at : at + 2]) == 2 and len(chart.words[at].key) == 1 and _joins(chart, at + 1)


def _may_be_name(chart: Chart, start: int, end: int) -> bool:
    """True for several words of which one is new, or begins with an initial."""
    at = [index for index in range(start, end) if chart.words[index].key[0].isalpha()]
    is_never = any(chart.match(name, start) for name in _NEVER) and not _is_initial(chart, start)
    is_long = any(_is_new(chart, index) and len(chart.words[index].key) > 1 for index in at)
    return len(at) > 1 and not is_never and is_long


def _widen(chart: Chart, name: _Name) -> _Name:
    """The name with the words with capitals beside it: the "Max" of "Max Power", the "An" of "Văn An"."""
    start, end = name.start, name.end
    while start:
        # Behind the word before, the full stop of an initial may stand.
        before = start - 1 - (start > 1 and chart.words[start - 1].key == "." and _joins(chart, start - 1))
        if not _belongs_before(chart, before):
            break
        start = before
    while end < len(chart.words) and _is_capital_word(chart, end) and not _is_small(chart, end):
        end += 1
    return name._replace(start=start, end=end)


def _belongs_before(chart: Chart, at: int) -> bool:
    if not _is_capital_word(chart, at):
        return False
    if chart.words[at].end - chart.words[at].start == 1:
        return True
    # The "Namen" of "auf den Namen" is inside of what stands before a name.
    starts = range(max(0, at - _MOST_WORDS), at)
    if any(match.end > at for start in starts for name in _AROUND for match in chart.match(name, start)):
        return False
    return not any(chart.match(name, at) for name in (*_AROUND, *_NEVER, *_CUES, "question", "request", *_BESIDE))


def _is_capital_word(chart: Chart, at: int) -> bool:
    return chart.words[at].key[0].isalpha() and _is_capital(chart, at)


def _goes_on(chart: Chart, at: int) -> bool:
    """True before a word that belongs to what looks like a name: the "cuisine" of "for Thai cuisine"."""
    return at < len(chart.words) and chart.words[at].key[0].isalpha() and _is_new(chart, at)


def _find_whole(chart: Chart, start: int, end: int) -> tuple[int, int]:
    """The whole name that repeats a single one: "Hill, Ann Hill", "Gabi, so Gabi Hill"; else the one that is known."""
    key, last = chart.words[start].key, min(len(chart.words) - 1, end + _MOST_BETWEEN)
    for at in range(end + 1, last) if end == start + 1 else ():
        whole_end = _find_end(chart, at, is_sure=False) if _is_capital(chart, at) else at
        if whole_end > at + 1 and key in (chart.words[at].key, chart.words[whole_end - 1].key):
            return at, whole_end
    return start, end


def _skip_signs(chart: Chart, at: int) -> int:
    while at < len(chart.words) and chart.words[at].is_sign and chart.words[at].key not in _ENDS:
        at += 1
    return at


def _is_capital(chart: Chart, at: int) -> bool:
    """True for a word that begins with a capital, in a message that has other letters, too."""
    return chart.text[chart.words[at].start].isupper() and not chart.is_shouted


def _is_new(chart: Chart, at: int) -> bool:
    """True for a word that no table has."""
    return chart.words[at].is_mended or chart.words[at].key not in chart.grammar.words


def _is_small(chart: Chart, at: int) -> bool:
    return any(chart.match(name, at) for name in _SMALL)


def _find_end(chart: Chart, start: int, *, is_sure: bool) -> int:
    """The end of the name that begins at a word. Behind a sure cue it may be in small letters; its first word any."""
    words, at, count = chart.words, start, 0
    while at < len(words) and count < _MOST_WORDS:
        if not words[at].key[0].isalpha():
            if not (count and _joins(chart, at)):
                break
        elif _is_capital(chart, at):
            if not _is_new(chart, at) and _begins_value(chart, at) and not _ends_there(chart, at):
                break
            count += 1
        elif not (
            (is_sure and (_is_new(chart, at) or not (count or chart.match("filler", at) or _is_small(chart, at))))
            or (count and chart.match("name_particle", at))
        ):
            break
        else:
            count += 1
        at += 1
    return at if count else start


def _joins(chart: Chart, at: int) -> bool:
    """True for a sign inside a name: a hyphen between words, or a full stop behind an initial or a title."""
    words = chart.words
    if at + 1 >= len(words) or not words[at + 1].key[0].isalpha() or not words[at].is_glued:
        return False
    is_short = words[at - 1].end - words[at - 1].start == 1 or bool(chart.match("title_word", at - 1))
    is_initial = words[at].key == "." and is_short
    return (words[at].key == "-" and words[at + 1].is_glued) or (is_initial and _is_capital(chart, at + 1))


def _begins_value(chart: Chart, at: int) -> bool:
    return any(chart.match(name, at) for name in ("weekday", "month", "relative_day", "part", "number_word"))


def _ends_there(chart: Chart, at: int) -> bool:
    """True for the "June" of "my name is June."."""
    return at + 1 == len(chart.words) or chart.words[at + 1].is_sign or _is_new(chart, at + 1)


def _find_start(chart: Chart, end: int) -> int:
    """The start of the name that ends before a word."""
    start = end
    for at in range(end - 1, max(end - 2 * _MOST_WORDS, -1), -1):
        if _find_end(chart, at, is_sure=False) == end and (_is_new(chart, at) or not chart.match("filler", at)):
            start = at
    return start


def _find_rest(chart: Chart) -> tuple[int, int] | None:
    """All of a message but what stands around a name, where it may be one: "Hill, Ann", a word such as "Will".

    None in small letters in a message that has capitals, or behind small words: "on the list".
    """
    if any(chart.match("move", at) and not chart.match("courtesy", at) for at in range(len(chart.words))):
        return None
    content: Sequence[int] = sorted(chart.content)
    # Each of "Max Power" has a capital, and a name may have it, whatever else it means.
    capitals = (at for at in content if _is_capital(chart, at))
    in_run = [at for at in capitals if not any(chart.match(name, at) for name in (*_NEVER, *_AROUND[1:]))]
    if len(content) < 2 or len(in_run) < len(content):
        content = _find_name_words(chart)
    return (content[0], content[-1] + 1) if content and _is_whole(chart, content) else None


def _find_name_words(chart: Chart) -> Sequence[int]:
    """The words of a message without what stands around a name, if they may be one; else nothing."""
    around, has_fillers = _cover_around(chart)
    rest = sorted(chart.content - around)
    content = rest or sorted(chart.content)
    if len({_is_capital(chart, at) for at in rest}) > 1:
        return ()
    are_names = all(_is_new(chart, at) or (_is_capital(chart, at) and not _is_small(chart, at)) for at in rest)
    if not (are_names if rest else _is_known_name(chart, content)):
        return ()
    start = content[0]
    is_small = not _is_capital(chart, start) and (has_fillers or any(_is_capital(chart, at) for at in range(start)))
    return () if is_small else content


def _is_whole(chart: Chart, content: Sequence[int]) -> bool:
    """True for a few words in a row with at most one sign between them."""
    words = chart.words[content[0] : content[-1] + 1]
    signs = [word.key for word in words if not word.key[0].isalpha()]
    is_short = len(content) <= _MOST_WORDS and len(words) == len(content) + len(signs)
    return is_short and signs in ([], [","], ["-"], ["."])


def _cover_around(chart: Chart) -> tuple[set[int], bool]:
    """The words that may stand around a name, and whether one of them only fills."""
    around, has_fillers = set[int](), False
    # The second of two words with capitals belongs to a new first one: "Lukas Freitag".
    is_pair = len(chart.words) == 2 and _is_new(chart, 0) and _is_capital(chart, 0) and _is_capital(chart, 1)
    for at, word in enumerate(chart.words):
        if word.is_mended or (at == 1 and is_pair):
            continue
        ends = {name: match.end for name in (*_AROUND, *_BESIDE) if (match := chart.match_longest(name, at))}
        around |= set(range(at, max(ends.values(), default=at)))
        has_fillers |= list(ends) == ["filler"]
    return around, has_fillers


def _is_known_name(chart: Chart, content: Sequence[int]) -> bool:
    """True for a single word with a capital that the tables know, but that a name may be."""
    if len(content) != 1 or len(chart.words[content[0]].key) < _SHORTEST_KNOWN:
        return False
    return _is_capital(chart, content[0]) and not any(chart.match(name, content[0]) for name in _NEVER)


def _deal(chart: Chart, name: _Name, parts: dict[str, str]) -> Iterator[Span]:
    """A span for each field, with its part of the name. Of several fields for a whole name, none is named."""
    start, end, is_single, is_asked = name
    given, family, whole = split_name(chart.quote(start, end))
    fields = {part: [path for path, own in parts.items() if own == part] for part in (WHOLE, GIVEN, FAMILY)}
    is_pair = bool(given and family)
    for part, value in ((WHOLE, whole), (GIVEN, given), (FAMILY, family or given)):
        names = fields[part]
        # Of one word, the family name only where it is asked for.
        is_weak = is_single or (part == FAMILY and not family and bool(fields[GIVEN]))
        if names and value:
            slots = {"text": value, "asked": is_asked, "fields": tuple(parts) if is_pair else tuple(names)}
            words = _find_words(chart, start, end, value)
            yield Span(
                Sort.PERSON, *words, GrammarPhrase("person", slots), is_weak, field=names[0] if len(names) == 1 else ""
            )


def _find_words(chart: Chart, start: int, end: int, text: str) -> tuple[int, int]:
    """Where a part of a name stands among its words."""
    at = chart.text.find(text, chart.words[start].start, chart.words[end - 1].end)
    own = [index for index in range(start, end) if at <= chart.words[index].start < at + len(text)] if at >= 0 else []
    return (own[0], own[-1] + 1) if own else (start, end)
