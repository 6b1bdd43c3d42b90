"""What an author's patterns find for a field: `pattern` and `x-extract`, and the formats uuid and uri."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

from convengine.engine.rules.patterns import Pattern, PatternError, compile_pattern
from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, accept, refuse
from convengine.engine.understanding.words import Word, cover

_FORMATS: Mapping[str, str] = {
    "uuid": r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    "uri": r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\s<>\"']*[^\s<>\"'.,;:!?)\]]",
}
#: The maximum number of parts in which a code is written: "ord 20 931" has three.
_MOST_PARTS = 4
#: An answer with this many words that has digits, but not the form of the asked field, is refused.
_MOST_REFUSED_WORDS = 8
_FOUND, _OTHER = "pattern", "other"
#: Letters of a code that stand by themselves are no more.
_LONGEST_LETTERS = 3
#: More matches of a pattern are no answer.
_MOST_MATCHES = 4


class PatternFinder:
    """Finds what an author's patterns match (`Sort.PATTERN`), for exactly their field."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The matches of the first own pattern that each field has, and what else has the form of its values."""
        spans: list[Span] = []
        for spec in specs:
            extracts = _list_extracts(chart, spec)
            words = cover(extracts)
            codes = _list_codes(chart, spec) if spec.kind is Kind.PATTERN else []
            spans += [*extracts, *(code for code in codes if words.isdisjoint(range(code.start, code.end)))]
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The text of the match. What only looks like a code is refused.

        Returns None for it unless the field was asked for or is named.
        """
        if span.phrase.means == _OTHER:
            return refuse(RefusalReason.PATTERN_MISMATCH) if is_meant else None
        return accept(span.phrase.slots["text"])


def _list_extracts(chart: Chart, spec: FieldSpec) -> list[Span]:
    """The matches of the author's first pattern that has any, at most _MOST_MATCHES.

    Of each, the value is the group `value`, else the first group with a text, else all of it.
    """
    for text in (*spec.extract, *([_FORMATS[spec.format]] if spec.format in _FORMATS else [])):
        pattern = _compile(text, ignore_case=True)
        spans: list[Span] = []
        for match in islice(pattern.occurrences(chart.text), _MOST_MATCHES) if pattern else ():
            value = match.groupdict().get("value") or next(filter(None, match.groups()), match.group(0))
            span = _make_span(chart, spec, *match.span(), str(value), is_weak=False)
            spans += [span] if span else []
        if spans:
            return spans
    return []


def _compile(text: str, *, ignore_case: bool) -> Pattern | None:
    """The pattern of an author. Returns None for one that does not compile."""
    try:
        return compile_pattern(text, ignore_case=ignore_case)
    except PatternError:
        return None  # The editor reports it on saving.


def _make_span(
    chart: Chart, spec: FieldSpec, start: int, end: int, value: str, *, is_weak: bool, means: str = _FOUND
) -> Span | None:
    """The words from one character up to another, with a value. Returns None if no word is there."""
    first = bisect_right(chart.words, start, key=lambda word: word.end)
    last = bisect_left(chart.words, end, key=lambda word: word.start)
    return (
        Span(Sort.PATTERN, first, last, GrammarPhrase(means, {"text": value}), is_weak, spec.name)
        if first < last
        else None
    )


def _list_codes(chart: Chart, spec: FieldSpec) -> list[Span]:
    """What has the form of the field's own pattern. It is strong if no number and no word looks like it."""
    if spec.kind is not Kind.PATTERN or (pattern := _compile(spec.pattern, ignore_case=False)) is None:
        return []
    parts = [(start, end) for _, start, end, _ in _list_runs(chart)]
    codes: dict[int, Span] = {}
    for start, end, value in chain(_list_spellings(chart.text, parts, spec.pattern), _list_signed(chart)):
        written = chart.text[start:end]
        if pattern.fits(value) and not (written != value and _has_known_word(chart, written.split())):
            has_digits = any(map(str.isdecimal, value))
            is_code = has_digits and not value.replace(" ", "").isdecimal() and not _has_word(chart, written)
            span = _make_span(chart, spec, start, end, value, is_weak=not is_code)
            if span is not None and (has_digits or not codes):
                codes.setdefault(span.end, span)
    return list(codes.values()) or _find_instead(chart, spec, parts)


def _find_instead(chart: Chart, spec: FieldSpec, parts: Sequence[tuple[int, int]]) -> list[Span]:
    """What may be meant where no text has the form: a part of one that has it, or numbers in a short message."""
    inside = _compile(rf"\b(?:{spec.pattern})\b", ignore_case=False)
    match = inside.search(chart.text) if inside else None
    numbers = [part for part in parts if any(map(str.isdecimal, chart.text[slice(*part)]))]
    span = None
    if match and match.group(0):
        span = _make_span(chart, spec, *match.span(), str(match.group(0)), is_weak=True)
    elif numbers and len(parts) <= _MOST_REFUSED_WORDS:
        span = _make_span(chart, spec, numbers[0][0], numbers[-1][1], "", is_weak=True, means=_OTHER)
    return [span] if span else []


def _has_word(chart: Chart, value: str) -> bool:
    """True for a value with a word of the tables or a longer one, which is no plain code: "12 Mill Lane"."""
    return any(
        part.isalpha() and (len(part) > _LONGEST_LETTERS or (len(part) > 1 and part.casefold() in chart.grammar.words))
        for part in value.split()
    )


def _has_known_word(chart: Chart, parts: Sequence[str]) -> bool:
    """True if one of several parts is a word of the tables: "sorry, 4" is no code SORRY4."""
    words = (part.strip(",.;:!?").casefold() for part in parts)
    return len(parts) > 1 and any(word.isalpha() and word in chart.grammar.words for word in words)


def _list_runs(chart: Chart) -> Iterator[tuple[int, int, int, int]]:
    """What is written without blanks: where its signs, its first and its last other character, and it itself end."""
    run: list[Word] = []
    for word in (*chart.words, None):
        if run and (word is None or not word.is_glued):
            inner = [each for each in run if not each.is_sign]
            if inner:
                yield run[0].start, inner[0].start, inner[-1].end, run[-1].end
            run = []
        run += [word] if word else []


def _list_signed(chart: Chart) -> Iterator[tuple[int, int, str]]:
    """What is written without blanks, with the signs before it, behind it, or both: "#2fd1a0"."""
    for first, start, end, last in _list_runs(chart):
        for begins, ends in ((first, end), (start, last), (first, last)):
            if (begins, ends) != (start, end):
                yield begins, ends, chart.text[begins:ends]


def _list_spellings(text: str, parts: Sequence[tuple[int, int]], pattern: str) -> Iterator[tuple[int, int, str]]:
    """The parts of a message as written and in capitals; those with digits also joined with the ones before them, by
    the signs that the pattern has."""
    joints = ["", *(joint for joint, sign in ((" ", r"\s"), ("-", "-")) if joint in pattern or sign in pattern)]
    for first, (start, _) in enumerate(parts):
        for last in range(min(len(parts), first + _MOST_PARTS), first, -1):
            pieces = [text[slice(*part)] for part in parts[first:last]]
            is_code = len(pieces) > 1 and any(map(str.isdecimal, pieces[-1]))
            for joint in joints if is_code else joints[: len(pieces) == 1]:
                value = joint.join(pieces)
                for spelled in dict.fromkeys((value, value.upper())):
                    yield start, parts[last - 1][1], spelled
