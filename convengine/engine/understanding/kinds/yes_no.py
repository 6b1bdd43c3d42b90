"""Yes/no fields by their names: "with wifi", "no smoking", "a shared ride is fine", "breakfast: no"."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, Grammar, GrammarPhrase
from convengine.engine.understanding.kinds.heads import list_names
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Resolved, Situation, Sort, Span, accept
from convengine.engine.understanding.stems import stem
from convengine.engine.understanding.words import split_text

#: `means` of a name with words before it, or an answer behind it, that say whether it is wanted; and without any.
BEFORE, BEHIND, NAMED = "before", "behind", "named"
#: Classes of these words before a name, and what they say.
_BEFORE = {"denial": False, "clearing": False, "inclusion": True}
#: The words of a name stand no further apart.
_LONGEST = 4
#: Classes of words in names of fields that do not distinguish one field from another.
_PLAIN = ("filler", "feature", "inclusion", "denial", "joint")


class YesNoFinder:
    """Finds the names of yes/no fields (`Sort.YES_NO`), with what is said of each."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """Where the telling words of one field's name stand together, with the denial before or the answer behind."""
        names = _get_names(tuple(spec for spec in specs if spec.kind is Kind.YES_NO), chart.grammar)
        if not (names and holds(Principle.NAMED_YES_NO)):
            return []
        keys = [_fold(word.key, chart.grammar) if not word.is_mended else "" for word in chart.words]
        spans = (_find(chart, keys, at, name, field) for name, field in names.items() for at in range(len(keys)))
        return [span for span in spans if span]

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        return accept(span.phrase.slots["value"])


@lru_cache(maxsize=256)
def _get_names(specs: tuple[FieldSpec, ...], grammar: Grammar) -> Mapping[frozenset[str], str]:
    """The telling words of each name of a field, where no other one has the same."""
    names: dict[frozenset[str], set[str]] = {}
    plain = {word for class_name in _PLAIN for word, _ in grammar.list_words(class_name)}
    for spec in specs:
        # A property is called "fitting" where people say "fitting at home".
        for text in (spec.title or spec.name.replace("_", " "), *spec.labels):
            words = [word.key for word in split_text(text) if not (word.is_sign or word.key in plain)]
            if words:
                names.setdefault(frozenset(_fold(word, grammar) for word in words), set()).add(spec.name)
    return {words: next(iter(fields)) for words, fields in names.items() if len(fields) == 1}


@lru_cache(maxsize=8192)
def _fold(word: str, grammar: Grammar) -> str:
    """The stem of a word; of a word for people what it counts: "kids" are "children"."""
    return next(iter(list_names((word,), grammar, "counter")), stem(word, grammar))


def _find(chart: Chart, keys: Sequence[str], at: int, name: frozenset[str], field: str) -> Span | None:
    """The name of a field that begins at a word, with what is said of it. Returns None if none begins there.

    So it does behind a number, which counts it, unless that is an article, too.
    """
    is_counted = bool(at) and bool(chart.match("number_value", at - 1)) and not chart.match("article", at - 1)
    if keys[at] not in name or is_counted:
        return None
    end = next((end for end in range(at + len(name), at + _LONGEST + 1) if name <= set(keys[at:end])), 0)
    if not end:
        return None
    behind = max((match.end for match in chart.match("label_joint", end)), default=end)
    answer = chart.match_longest("opening", behind)
    if answer and behind < len(chart.words) and not chart.words[behind].is_mended:
        return Span(Sort.YES_NO, at, answer.end, GrammarPhrase(BEHIND, {"value": answer.value == "yes"}), field=field)
    if denied := _find_denial_behind(chart, end):
        return Span(Sort.YES_NO, at, denied, GrammarPhrase(BEHIND, {"value": False}), field=field)
    for class_name, value in _BEFORE.items():
        if (start := _find_before(chart, at, class_name)) is not None:
            return Span(Sort.YES_NO, start, end, GrammarPhrase(BEFORE, {"value": value}), field=field)
    return Span(Sort.YES_NO, at, end, GrammarPhrase(NAMED, {"value": True}), field=field)


def _find_denial_behind(chart: Chart, at: int) -> int:
    """The end of a denial that fills the clause behind a name, with small words; 0 without such a denial."""
    denied = _skip(chart, at, "filler")
    match = chart.match_longest("denial", denied) if denied < len(chart.words) else None
    end = _skip(chart, match.end, "filler", "feature") if match else 0
    ends = end == len(chart.words) or chart.words[end].is_sign or chart.match("joint", end)
    return end if ends else 0


def _skip(chart: Chart, at: int, *classes: str) -> int:
    """The word behind a few of these classes."""
    last = min(at + _LONGEST, len(chart.words))
    return next((index for index in range(at, last) if not any(chart.match(name, index) for name in classes)), last)


def _find_before(chart: Chart, at: int, class_name: str) -> int | None:
    """Where words of a class begin that say whether what begins at a word is wanted: "no smoking", "with a cot".

    Returns None if no such words stand there.
    """
    start = at
    while start and (chart.words[start - 1].key == "-" or chart.match("filler", start - 1)) and at - start < 2:
        start -= 1
    ends = range(start, at + 1)
    for first in range(max(0, start - 3), at):
        if any(match.end in ends for match in chart.match(class_name, first)):
            return first
    return None
