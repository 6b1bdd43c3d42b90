"""The finders of all sorts, and what those of a deployment found in a message: for kinds of its own, or instead of
built-in ones.
"""

from collections.abc import Mapping, Sequence

from convengine.engine.turn.finder_port import FoundSpan
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarPhrase
from convengine.engine.understanding.kinds.choices import ChoiceFinder
from convengine.engine.understanding.kinds.clock import ClockFinder
from convengine.engine.understanding.kinds.contacts import EmailFinder, IbanFinder, PhoneFinder, PostcodeFinder
from convengine.engine.understanding.kinds.date_times import MomentFinder
from convengine.engine.understanding.kinds.days import DayFinder
from convengine.engine.understanding.kinds.lengths import LengthFinder
from convengine.engine.understanding.kinds.numbers import NumberFinder
from convengine.engine.understanding.kinds.patterns import PatternFinder
from convengine.engine.understanding.kinds.persons import PersonFinder
from convengine.engine.understanding.kinds.yes_no import YesNoFinder
from convengine.engine.understanding.span import Finder, Resolved, Situation, Sort, Span, accept, find_own_sort, refuse

FINDERS: Mapping[Sort, Finder] = {
    Sort.DAY: DayFinder(),
    Sort.CLOCK: ClockFinder(),
    Sort.MOMENT: MomentFinder(),
    Sort.LENGTH: LengthFinder(),
    Sort.NUMBER: NumberFinder(),
    Sort.EMAIL: EmailFinder(),
    Sort.PHONE: PhoneFinder(),
    Sort.POSTCODE: PostcodeFinder(),
    Sort.IBAN: IbanFinder(),
    Sort.PATTERN: PatternFinder(),
    Sort.OPTION: ChoiceFinder(),
    Sort.PERSON: PersonFinder(),
    Sort.YES_NO: YesNoFinder(),
}
#: By kind: what its finder found in the message.
FoundSpans = Mapping[str, Sequence[FoundSpan]]


class FoundSpanFinder:
    """Gives what was found for some kinds of a sort; the fields of other kinds have the built-in finder."""

    def __init__(self, sort: Sort, spans: FoundSpans, built_in: Finder | None) -> None:
        self._sort = sort
        self._spans = spans
        self._built_in = built_in

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """The words that each finding covers, also in part, and the spans of the built-in finder for the other fields.

        Findings without words are left out.
        """
        spans: list[Span] = []
        for kind, findings in self._spans.items():
            for item in findings:
                covered = [at for at, word in enumerate(chart.words) if item.start < word.end and word.start < item.end]
                if covered:
                    phrase = GrammarPhrase(kind, {"found": item})
                    spans.append(Span(self._sort, covered[0], covered[-1] + 1, phrase, item.is_weak, item.field))
        others = [spec for spec in specs if spec.kind_name not in self._spans]
        return [*spans, *(self._built_in.find(chart, others) if self._built_in and others else ())]

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The value or the reason that the deployment's finder gave; for another kind, what the built-in finder says.

        Returns None for a finding of another kind than the field's.
        """
        item, is_own = span.phrase.slots.get("found"), spec.kind_name in self._spans
        if isinstance(item, FoundSpan):
            if not is_own or span.phrase.means != spec.kind_name:
                return None
            if not item.reason:
                return accept(item.value)
            return refuse(item.reason, text=item.text) if item.text else refuse(item.reason)
        if is_own or self._built_in is None:
            return None
        return self._built_in.resolve(span, spec, situation, is_meant=is_meant)


def add_found_spans(finders: Mapping[Sort, Finder], spans: FoundSpans) -> Mapping[Sort, Finder]:
    by_sort: dict[Sort, dict[str, Sequence[FoundSpan]]] = {}
    for kind, kind_spans in spans.items():
        by_sort.setdefault(find_own_sort(kind), {})[kind] = kind_spans
    own = {sort: FoundSpanFinder(sort, kinds, finders.get(sort)) for sort, kinds in by_sort.items()}
    return {**finders, **own}
