"""What a number counts: people one by one, and the nouns of fields: "2 adults and 3 kids", "2 rooms for 3 people"."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, Grammar, GrammarPhrase
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.words import fold
from convengine.json_value import Json

#: What is counted by heads: the first word of the value of a counter.
PERSON = "person"
#: A larger number behind a "for" is no hour.
_LAST_HOUR = 12
#: Words between a number and a noun that it does not count.
_SMALL = (
    "filler", "joint", "alternative", "range", "counter", "measure", "number_word", "part", "unit", "time_unit",
    "month", "denial", "limit",
)  # fmt: skip


def list_names(words: Sequence[str], grammar: Grammar, class_name: str) -> set[str]:
    """The units or counters of a class that some words name."""
    names = _get_names(grammar, class_name)
    return {names[word] for word in map(fold, words) if word in names}


@lru_cache(maxsize=64)
def _get_names(grammar: Grammar, class_name: str) -> Mapping[str, str]:
    """What each word of a class names: of "person child" the child; of a class without values the word itself."""
    return {word: str(value or word).split()[-1] for word, value in grammar.list_words(class_name)}


def read_heads(phrase: GrammarPhrase) -> Iterator[tuple[Json, str]]:
    """The numbers of a sum of people, each with what it counts."""
    slots = phrase.slots
    if phrase.means == "sum":
        for value in slots.values():
            if isinstance(value, GrammarPhrase):
                yield from read_heads(value)
        if "counter" in slots:
            yield slots["number_value"], str(slots["counter"])
    else:
        number = slots.get("number_value", slots.get("relative", 1))
        yield number, str(slots.get("counter", f"{PERSON} one"))


def list_counts(chart: Chart, span: Span, specs: Sequence[FieldSpec]) -> Sequence[Span]:
    """A span, or what stands for it: the parts of a sum of people where a field takes one of them, or where it has
    other things; the number alone where it may be an hour; nothing for people beside others who are not counted.
    """
    slots = span.phrase.slots
    if span.phrase.means == "heads":
        counters = {counter for _, counter in read_heads(slots["heads"])}
        parts = {counter.rpartition(" ")[2] for counter in counters}
        named = set[str]().union(*(list_names(spec.words, chart.grammar, "counter") for spec in specs)) - {PERSON}
        # "3 people, my wife comes, too" are three.
        is_cut = any(word.key == "." for word in chart.words[span.start : span.end]) or PERSON in counters
        if is_cut or parts & named or not all(counter.startswith(PERSON) for counter in counters):
            return list(_list_parts(chart, span, "counted"))
    elif "loose" in slots and not _counts_people(chart, span, specs):
        return _list_loose(chart, span, specs)
    is_person = span.phrase.means == "heads" or str(slots.get("counter", "")).startswith(PERSON)
    return [] if is_person and _has_others(chart, span) else [span]


def _list_loose(chart: Chart, span: Span, specs: Sequence[FieldSpec]) -> Sequence[Span]:
    """The number of a "for 8" that need not count people; nothing for one with a measure: "for 5 nights"."""
    if chart.match("measure", span.end):
        return []
    heads = [spec.name for spec in specs if "hour" in span.phrase.slots and counts_heads(spec, chart.grammar)]
    # Where nobody asks for a time, the 8 of "for 8" are people.
    field = heads[0] if len(heads) == 1 else ""
    return [replace(part, field=field) for part in _list_parts(chart, span, "number")]


def _list_parts(chart: Chart, span: Span, means: str) -> Iterator[Span]:
    """The numbers inside of a span that have this meaning, each as a span of its own."""
    at = span.start
    while at < span.end:
        match = next((item for item in chart.match(Sort.NUMBER, at) if item.value.means == means), None)
        if match:
            yield Span(Sort.NUMBER, at, match.end, match.value, is_weak=bool(match.value.slots.get("weak")))
        at = match.end if match else at + 1


def _counts_people(chart: Chart, span: Span, specs: Sequence[FieldSpec]) -> bool:
    """False for the "table for 2" of "a table for 2 pm", and for a "for 7" where a time is taken and none is said.

    So it is for "for 5 nights" and "for 2 rooms": a measure, or the noun of one field, stands behind the number.
    """
    inside, longer = range(span.start + 1, span.end), ("marked_clock", "date", "length")
    if any(match.end > span.end for at in inside for name in longer for match in chart.match(name, at)):
        return False
    numbers = tuple(spec for spec in specs if spec.kind is Kind.NUMBER)
    nouns = _get_nouns(numbers, chart.grammar)
    is_noun = span.end < len(chart.words) and len(nouns.get(_find_noun(chart, span.end, nouns), ())) == 1
    if is_noun or chart.match("measure", span.end) or not any(counts_heads(spec, chart.grammar) for spec in numbers):
        return False
    takes_time = any(spec.kind in (Kind.TIME, Kind.DATE_TIME) for spec in specs)
    return not (takes_time and _is_hour(chart, span) and not chart.occurs("marked_clock"))


def _is_hour(chart: Chart, span: Span) -> bool:
    """True for a number that may be an hour: the 7 of "for 7"."""
    hours = [item.value for at in range(span.start + 1, span.end) for item in chart.match("hour_of", at)]
    return "hour" in span.phrase.slots and bool(hours) and min(hours) <= _LAST_HOUR


def _has_others(chart: Chart, span: Span) -> bool:
    """True if people are joined to a count, but not counted themselves: "just me and my friends"."""
    behind = max((match.end for match in chart.match("joint", span.end)), default=0)
    before = span.start - 2 if span.start > 1 and chart.match("joint", span.start - 1) else -1
    people = ("possessive", "relative", "relatives", "self")
    return bool(behind and any(chart.match(name, behind) for name in people)) or (
        before >= 0 and any(chart.match(name, before) for name in ("relative", "relatives", "counter"))
    )


def bind_counts(chart: Chart, spans: Sequence[Span], specs: Sequence[FieldSpec]) -> list[Span]:
    """The spans of numbers, each with the only field that it counts for, where the message says what it counts."""
    numbers = tuple(spec for spec in specs if spec.kind is Kind.NUMBER)
    if not numbers:
        return list(spans)
    return [
        _bind(chart, span, numbers) if span.phrase.means in ("number", "counted", "heads") else span for span in spans
    ]


def _bind(chart: Chart, span: Span, specs: tuple[FieldSpec, ...]) -> Span:
    """The span of a number, for the only field that its counter or its noun names.

    Unchanged if there is no such field, or if there are several.
    """
    slots = span.phrase.slots
    if span.phrase.means == "number":
        is_article = span.end == span.start + 1 and chart.match("one_thing", span.start)
        return span if "any_counter" in slots or is_article else _bind_noun(chart, span, specs)
    whole, _, part = str(slots.get("counter", PERSON)).rpartition(" ")
    named = {spec.name: list_names((*spec.words, *spec.question), chart.grammar, "counter") for spec in specs}
    owners = [name for name, counters in named.items() if part in counters]
    if PERSON in (whole, part) and not owners:
        if part == PERSON and any("child" in counters for counters in named.values()):
            return span
        owners = [spec.name for spec in specs if counts_heads(spec, chart.grammar)]
    return replace(span, field=owners[0]) if len(owners) == 1 else span


def counts_heads(spec: FieldSpec, grammar: Grammar) -> bool:
    """True for a field that counts people by its name: "passengers", "party"."""
    return bool(list_names(spec.names, grammar, "head_field"))


def _bind_noun(chart: Chart, span: Span, specs: tuple[FieldSpec, ...]) -> Span:
    """The "3 bedrooms" of a field for beds, the "2 hotel rooms" of one for rooms; a noun that only one field has.

    If only the question uses the noun, the number stays weak, as in "one table".
    """
    nouns, words = _get_nouns(specs, chart.grammar), chart.words
    for at in range(span.end, min(len(words), span.end + 2)):
        noun = _find_noun(chart, at, nouns)
        owners = nouns.get(noun, ())
        if len(owners) == 1:
            field = next(iter(owners))
            is_named = any(spec.name == field and noun in _list_stems(spec.names, chart.grammar) for spec in specs)
            # What stands between them may be a value: "3 red shirts".
            end = at + 1 if at == span.end else span.end
            return replace(span, end=end, is_weak=not is_named, field=field)
        if not words[at].key.isalpha() or any(chart.match(name, at) for name in _SMALL):
            break
    return span


def _find_noun(chart: Chart, at: int, nouns: Mapping[str, frozenset[str]]) -> str:
    """The stem of a word; of a compound with a counter behind ("bedrooms") that of its first part."""
    key = chart.words[at].key
    whole = stem(key, chart.grammar)
    if whole in nouns or not key.isalpha():
        return whole
    counters = (word for word, _ in chart.grammar.list_words("counter") if key.endswith(word))
    return next((first for word in counters if (first := key[: -len(word)]) in nouns), "")


@lru_cache(maxsize=256)
def _get_nouns(specs: tuple[FieldSpec, ...], grammar: Grammar) -> Mapping[str, frozenset[str]]:
    """By the stem of each word of a name: the fields that have it."""
    owners: dict[str, set[str]] = {}
    for spec in specs:
        for word in _list_stems((*spec.names, *spec.question), grammar):
            owners.setdefault(word, set()).add(spec.name)
    return {word: frozenset(names) for word, names in owners.items()}


@lru_cache(maxsize=1024)
def _list_stems(words: Sequence[str], grammar: Grammar) -> frozenset[str]:
    """The stems of words that may be counted; head fields have counters for theirs."""
    small = {word for class_name in ("filler", "measure", "head_field") for word, _ in grammar.list_words(class_name)}
    return frozenset(stem(word, grammar) for word in map(fold, words) if word.isalpha() and word not in small)
