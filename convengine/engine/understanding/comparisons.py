"""Options that a message only compares or asks about: "smaller than large", "how big is large?" (docs/forms.md)."""

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.form import OpenForm
from convengine.engine.understanding.kinds.choices import TELLING
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.span import Sort, Span
from convengine.engine.understanding.understand import Understanding

#: What compares has no more words.
_MOST_WORDS = 4


def is_only_compared(understanding: Understanding, form: OpenForm, clause: Clause, span: Span) -> bool:
    """True for an option behind a word that compares; where it was asked for, also in a clause that asks about it.

    A telling word counts in no clause that asks: "is there a hazelnut syrup?".
    """
    chart = understanding.chart
    if span.sort is not Sort.OPTION or not holds(Principle.COMPARISONS):
        return False
    before = range(max(0, span.start - _MOST_WORDS), span.start)
    if any(match.end == span.start for at in before for match in chart.match("comparing", at)):
        return True
    if span.phrase.means == TELLING and clause.force is Force.ASKS and not clause.is_wish:
        return True
    before = range(clause.start, span.start) if span.field == form.asked_path else range(0)
    return clause.force is Force.ASKS and any(chart.match("inquiry", at) for at in before)
