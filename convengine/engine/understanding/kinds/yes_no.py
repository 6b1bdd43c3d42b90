"""Yes/no fields by their names: "with wifi", "no smoking", "a shared ride is fine", "breakfast: no"."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from convengine.engine.understanding.field import FieldSpec, Kind
from convengine.engine.understanding.grammar import Chart, Grammar, Phrase
from convengine.engine.understanding.kinds.choices import get_stemmer_name, stem
from convengine.engine.understanding.kinds.heads import list_names
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Resolved, Situation, Sort, Span, accept
from convengine.engine.understanding.words import split_text

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

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_asked: bool) -> Resolved | None:
        """Whether what the field names is wanted."""
        return accept(span.phrase.slots["value"])


@lru_cache(maxsize=256)
def _get_names(specs: tuple[FieldSpec, ...], grammar: Grammar) -> Mapping[frozenset[str], str]:
    """The telling words of the title and the name of each field, where no other one has the same."""
    names: dict[frozenset[str], set[str]] = {}
    plain = {word for class_name in _PLAIN for word, _ in grammar.list_words(class_name)}
    for spec in specs:
        for text in (spec.title, spec.name.replace("_", " ")):
            words = [word.key for word in split_text(text) if not (word.is_sign or word.key in plain)]
            if words:
                names.setdefault(frozenset(_fold(word, grammar) for word in words), set()).add(spec.name)
    return {words: next(iter(fields)) for words, fields in names.items() if len(fields) == 1}


@lru_cache(maxsize=8192)
def _fold(word: str, grammar: Grammar) -> str:
    """The stem of a word; of a word for people what it counts: "kids" are "children"."""
    return next(iter(list_names((word,), grammar, "counter")), stem(word, get_stemmer_name(grammar)))


def _find(chart: Chart, keys: Sequence[str], at: int, name: frozenset[str], field: str) -> Span | None:
    """The name of a field that begins at a word; none behind a number, which counts it."""
    if keys[at] not in name or (at and chart.match("number_value", at - 1)):
        return None
    end = next((end for end in range(at + len(name), at + _LONGEST + 1) if name <= set(keys[at:end])), 0)
    if not end:
        return None
    start, value = _find_before(chart, at)
    behind = max((match.end for match in chart.match("label_joint", end)), default=end)
    answer = chart.match_longest("opening", behind)
    if answer and behind < len(chart.words) and not chart.words[behind].is_mended:
        return Span(Sort.YES_NO, at, answer.end, Phrase("named", {"value": answer.value == "yes"}), field=field)
    return Span(Sort.YES_NO, start, end, Phrase("named", {"value": value}), field=field)


def _find_before(chart: Chart, at: int) -> tuple[int, bool]:
    """Where the denial of what begins at a word begins, and whether there is none: "no smoking"."""
    start = at
    while start and (chart.words[start - 1].key == "-" or chart.match("filler", start - 1)) and at - start < 2:
        start -= 1
    for first in range(max(0, start - 3), at):
        if any(
            match.end in range(start, at + 1) for name in ("denial", "clearing") for match in chart.match(name, first)
        ):
            return first, False
    return at, True
