"""Which span goes to which field: one rank decides (docs/forms.md)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.corrections import CORRECTIONS, may_correct, replaces_denied
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.kinds.choices import PART, TELLING
from convengine.engine.understanding.kinds.pairs import resolve
from convengine.engine.understanding.kinds.yes_no import BEFORE, BEHIND, NAMED
from convengine.engine.understanding.labels import BoundLabels, FieldLabel
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.sides import find_sides
from convengine.engine.understanding.span import Finder, Resolved, Situation, Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.weak_spans import is_in_range, is_only_compared, is_outdone
from convengine.engine.understanding.words import cover, is_within

#: What binds a span to a field. A stronger tie always goes before all weaker ones together.
_LABELLED, ASKED_TIE, _OWN, _STRONG, _OPEN = 16, 8, 4, 2, 1
#: Sorts of values that a bare number may be.
_NUMERIC = {Sort.NUMBER, Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.PHONE, Sort.POSTCODE}
_STATING = (Force.STATES, Force.SUPPOSES, Force.ASKS)
_Rank = tuple[int, bool, bool, bool, int, bool, bool, int]


@dataclass(frozen=True)
class FieldClaim:
    field: FormField
    span: Span
    resolved: Resolved
    clause: Clause
    label: FieldLabel | None
    score: int
    #: It replaces a value that the form holds, or one of the same message.
    is_correction: bool = False
    #: Nothing says that it replaces the value that the form holds.
    is_doubtful: bool = False
    #: Other plain values for its field that no field took.
    rivals: "tuple[FieldClaim, ...]" = ()

    @property
    def is_meant(self) -> bool:
        """True where a name, the question or a correction binds it."""
        return self.label is not None or self.is_correction or self.score >= ASKED_TIE


def list_claims(
    understanding: Understanding,
    form: OpenForm,
    labels: Sequence[FieldLabel],
    finders: Mapping[Sort, Finder],
    situation: Situation,
) -> list[FieldClaim]:
    """Every span with every field that could take it, in clauses that state, suppose or ask.

    Weak ones of words that several fields could take are left out; plain ones of that kind are doubtful. A field that
    was asked for, or that is named, has the words for itself. So has each field with a value of its own. A correction
    may be for the field that ranks first.
    """
    claims: list[FieldClaim] = []
    sides, maker = find_sides(understanding, form), _ClaimMaker(understanding, form, finders, situation)
    bound_labels = BoundLabels(understanding, labels)
    for span in understanding.spans:
        clause = understanding.find_clause(span.start)
        if clause is None or clause.force not in _STATING:
            continue
        if is_outdone(understanding, span) or is_only_compared(understanding, form, clause, span):
            continue
        bound = bound_labels.find(span.start, span.end) or sides.get(id(span))
        claims += [claim for item in form.fields if (claim := maker.make(item, span, clause, bound))]
    claims = [claim for claim in claims if not _is_for_another(form, claims, claim)]
    return [certain for claim in claims if (certain := _compare(form, claims, claim))]


@dataclass(frozen=True)
class _ClaimMaker:
    understanding: Understanding
    form: OpenForm
    finders: Mapping[Sort, Finder]
    situation: Situation

    def make(self, item: FormField, span: Span, clause: Clause, bound: FieldLabel | None) -> FieldClaim | None:
        """The claim of a span for a field.

        Returns None where it says nothing for it. `bound`: the name that the span has.
        """
        if span.sort not in item.sorts or span.field not in ("", item.path):
            return None
        label = bound if bound and bound.field == item.path else None
        # One answer gives the given and the family name.
        is_asked = self.form.asked_path in (item.path, *span.phrase.slots.get("fields", ()))
        is_meant = is_asked or label is not None or self._is_chosen_anew(span, clause)
        if span.is_weak and not self._counts(span, clause, is_meant):
            return None
        if span.phrase.means == TELLING and self._begins_form(span):
            return None  # The "cream" of "ice cream please" chooses no flavour.
        resolved = resolve(self.finders[span.sort], span, item.spec, self.situation, is_meant=is_meant)
        if resolved is None:
            return None
        is_strong = not span.is_weak or is_in_range(self.understanding, span)
        score = _LABELLED * (label is not None) + ASKED_TIE * is_asked + _OWN * bool(span.field) + _STRONG * is_strong
        claim = FieldClaim(item, span, resolved, clause, label, score, is_doubtful=resolved.is_doubtful)
        return replace(claim, score=score | _OPEN) if self.form.is_open(item.path) else self._correct(claim)

    def _correct(self, claim: FieldClaim) -> FieldClaim | None:
        """The claim for a field that holds a value. Returns None where nothing says that it replaces this one."""
        is_named = claim.label is not None and claim.label.is_whole
        is_plain = is_named or may_correct(self.understanding, self.form, claim.span)
        is_same = claim.resolved.values == (self.form.held[claim.field.path],)
        is_for_asked = self.form.asked_field is not None and claim.span.sort in self.form.asked_field.sorts
        is_unsure = claim.span.is_weak or (is_for_asked and not claim.resolved.values)
        if is_same or (is_unsure and not is_plain) or not self._answers_again(claim.span, claim.clause):
            return None
        # A plain value beside a word of correction, or one whose other value is denied.
        finder, is_cued = self.finders[claim.span.sort], not claim.span.is_weak and claim.clause.has("correction")
        is_cued = is_cued or replaces_denied(
            self.understanding, self.form, claim.field, claim.span, finder, self.situation
        )
        score = claim.score | (ASKED_TIE | _OWN) * is_cued
        return replace(claim, score=score, is_correction=True, is_doubtful=claim.is_doubtful or not is_plain)

    def _is_chosen_anew(self, span: Span, clause: Clause) -> bool:
        """True at the summary for a name, or a word of an option, that is all of a clause beside a correction."""
        may_stand_alone = span.phrase.means == PART or span.sort is Sort.PERSON
        stands_alone = self.form.is_confirming and may_stand_alone and self._stands_alone(span, clause)
        return stands_alone and (self.form.asks_what_to_change or bool(self.understanding.find_move(*CORRECTIONS)))

    def _answers_again(self, span: Span, clause: Clause) -> bool:
        """True for "change breakfast to no", at the summary for "with breakfast" and "breakfast: no", too.

        Talk and questions name it: "the breakfast is fine".
        """
        if span.sort is not Sort.YES_NO:
            return True
        is_cued = clause.has("correction") and span.phrase.means != NAMED
        is_said = span.phrase.means == BEHIND and (self.form.asks_what_to_change or span.phrase.slots["value"] is False)
        return is_cued or (self.form.is_confirming and (is_said or span.phrase.means == BEFORE))

    def _counts(self, span: Span, clause: Clause, is_meant: bool) -> bool:
        """False for a weak span that says nothing here. `is_meant`: its field was asked for, or is named."""
        begins_form = self._begins_form(span)
        if self._begins_only(span, clause) or (begins_form and span.phrase.means == PART):
            return False
        if is_meant:
            return True
        # All that a clause wants: the "none" that leaves a field empty is no 0 for another.
        is_move = any(move.is_whole and is_within(span, move) for move in self.understanding.moves)
        is_free = not (is_move or begins_form or self._answers_asked(span, clause))
        return is_free and (is_in_range(self.understanding, span) or self._stands_alone(span, clause))

    def _begins_form(self, span: Span) -> bool:
        """True for words that begin the form: "book a climbing course" chooses none, "book room 101" counts nobody."""
        words = self.understanding.words[span.start : span.end]
        return self.form.is_opener and all(word.key in self.form.own_words for word in words)

    def _begins_only(self, span: Span, clause: Clause) -> bool:
        """True for a small word that is a time only by itself: the "now" of "now I need another table"."""
        is_filler = any(cue.name == "filler" and is_within(span, cue) for cue in clause.cues)
        return is_filler and span.sort is not Sort.NUMBER and not self._covers(clause, cover(clause.cues))

    def _answers_asked(self, span: Span, clause: Clause) -> bool:
        """True for a bare number where a text, another number, a day or a time was asked for: it is for that."""
        asked_field = self.form.asked_field
        if asked_field is None or span.sort is not Sort.NUMBER:
            return False
        is_earlier = clause.has("correction") and Sort.NUMBER not in asked_field.sorts
        takes_text = is_text(asked_field) and holds(Principle.ASKED_TEXTS)
        is_for_asked = takes_text or not _NUMERIC.isdisjoint(asked_field.sorts)
        return is_for_asked and not (is_earlier and holds(Principle.CORRECTED_NUMBERS))

    def _stands_alone(self, span: Span, clause: Clause) -> bool:
        """True when the clause says only plain values and this one, which has no slip and is no small word."""
        understanding, form = self.understanding, self.form
        if any(is_within(span, cue) for cue in clause.cues) or understanding.chart.is_mended(span.start, span.end):
            return False
        known = cover((span, *clause.cues)) | cover(other for other in understanding.spans if not other.is_weak)
        if form.is_opener:
            known |= {index for index, word in enumerate(understanding.words) if word.key in form.own_words}
        return self._covers(clause, known)

    def _covers(self, clause: Clause, known: set[int]) -> bool:
        """True when a clause has nothing besides known words and signs."""
        return known.issuperset(self.understanding.chart.content.intersection(range(clause.start, clause.end)))


def _compare(form: OpenForm, claims: Sequence[FieldClaim], claim: FieldClaim) -> FieldClaim | None:
    """The claim, marked as doubtful if it fits a second field.

    Returns None if another claim on its words is as strong.
    """
    if claim.score >= ASKED_TIE:
        return claim
    same = [other for other in _list_same(claims, claim) if other.span is not claim.span]
    rivals, rank = [other for other in same if other.score >= claim.score], _rank(form, claim)
    if claim.is_correction and rivals and all(other.is_correction and rank < _rank(form, other) for other in rivals):
        return replace(claim, is_doubtful=True)
    if any(claim.span.is_weak or other.score >= ASKED_TIE for other in rivals):
        return None
    return replace(claim, is_doubtful=claim.is_doubtful or _has_more_fields(claims, claim))


def _has_more_fields(claims: Sequence[FieldClaim], claim: FieldClaim) -> bool:
    """True if more fields than values compete for the words of a claim."""
    fields = {other.field.path for other in claims if other.span is claim.span and other.resolved.is_value}
    return len(fields) > len({id(other.span) for other in claims if other.field.path in fields})


def _list_same(claims: Sequence[FieldClaim], claim: FieldClaim) -> list[FieldClaim]:
    return [other for other in claims if (other.span.start, other.span.end) == (claim.span.start, claim.span.end)]


def _is_for_another(form: OpenForm, claims: Sequence[FieldClaim], claim: FieldClaim) -> bool:
    """True for the 4 of "no wait, make that 4" and an open field, where it may be meant for what was said before.

    Not where the last message gave nothing for that field: it is what is corrected.
    """
    if form.is_asked_again and claim.field is form.asked_field:
        return False
    if not (claim.span.is_weak and claim.clause.has("correction")) or claim.is_correction or claim.label is not None:
        return False
    is_first = not any(other.field is claim.field and other.span.end <= claim.span.start for other in claims)
    return is_first and any(other.is_correction for other in _list_same(claims, claim))


def _rank(form: OpenForm, claim: FieldClaim) -> _Rank:
    """What is settled first: the strongest tie, what is stated, not refused, said in full, first in the message.

    At the summary a number. Then the field that comes first in the form; of corrections, the one asked for last.
    """
    order = form.order[claim.field.path]
    is_number = claim.span.sort is Sort.NUMBER and not form.asked_path
    in_form = -order if claim.is_correction else order
    return (
        -claim.score,
        claim.clause.force is Force.SUPPOSES,
        not claim.resolved.values,
        not _is_full(claim),
        claim.span.start,
        not claim.resolved.is_value,
        not is_number,
        in_form,
    )


def _is_full(claim: FieldClaim) -> bool:
    """True for "the 21st of November" beside "on Friday", and for "5:45 in the evening" beside "quarter to 6"."""
    is_dated = claim.span.sort is not Sort.DAY or "month" in claim.span.phrase.slots
    return (is_dated and len(claim.resolved.values) == 1) or not holds(Principle.FULL_VALUES)


def assign(understanding: Understanding, form: OpenForm, claims: Sequence[FieldClaim]) -> list[FieldClaim]:
    """The claims that hold, in the order of the message. Of spans that overlap the longest counts, and each goes to the
    field that ranks first. What one field refuses goes to no other.
    """
    longest = _list_longest(form, claims)
    dealt = _deal(understanding, form, longest)
    fitting = (claim for claim in longest if claim.field.path == dealt.get(id(claim.span), claim.field.path))
    ordered = sorted(fitting, key=lambda claim: _rank(form, claim))
    chosen: dict[str, FieldClaim] = {}
    settled: set[int] = set()  # Spans, by identity.
    for claim in ordered:
        if id(claim.span) in settled or _says_again(claim, chosen.values()):
            continue
        first = chosen.get(claim.field.path)
        joined = claim if first is None else _join_rivals(understanding, first, claim)
        if joined is not None:
            chosen[claim.field.path] = joined
            settled.add(id(claim.span))
    others = [claim for claim in ordered if id(claim.span) not in settled]
    with_rivals = (replace(claim, rivals=tuple(_list_rivals(claim, others))) for claim in chosen.values())
    return sorted(with_rivals, key=lambda claim: claim.span.start)


def _says_again(claim: FieldClaim, chosen: Iterable[FieldClaim]) -> bool:
    """True for a day that another field has by other words: "on Thursday week, the tenth of December"."""
    if claim.span.sort not in (Sort.DAY, Sort.CLOCK, Sort.MOMENT) or claim.label is not None or claim.span.field:
        return False
    others = [other for other in chosen if other.field is not claim.field and other.span.sort is claim.span.sort]
    return any(other.span is not claim.span and other.resolved.values == claim.resolved.values for other in others)


def _list_longest(form: OpenForm, claims: Sequence[FieldClaim]) -> list[FieldClaim]:
    """The claims of spans that do not overlap: of several the longest one, then a strong one, then the one that ranks
    first.
    """

    def rank(claim: FieldClaim) -> tuple[int, bool, int, _Rank]:
        # The "two months ago" of "I moved in two months ago".
        return claim.span.start - claim.span.end, claim.span.is_weak, -claim.span.end, _rank(form, claim)

    spans: list[Span] = []
    for claim in sorted(claims, key=rank):
        if not any(claim.span is not span and _overlap(claim.span, span) for span in spans):
            spans.append(claim.span)
    return [claim for claim in claims if any(claim.span is span for span in spans)]


def _deal(understanding: Understanding, form: OpenForm, claims: Sequence[FieldClaim]) -> Mapping[int, str]:
    """The field of each span, by identity, of a sort that has several plain values for open fields."""
    if understanding.find_move(*CORRECTIONS) or not holds(Principle.PAIRS):
        return {}
    strong = [claim for claim in claims if not (claim.span.is_weak or claim.span.field or claim.is_correction)]
    plain = [claim for claim in strong if claim.resolved.is_value]
    dealt: dict[int, str] = {}
    for sort in {claim.span.sort for claim in plain}:
        dealt |= _deal_sort(form, [claim for claim in plain if claim.span.sort is sort])
    return dealt


def _deal_sort(form: OpenForm, claims: Sequence[FieldClaim]) -> Mapping[int, str]:
    """The spans go to the fields in the order of the form: from the asked one on, or to the last ones."""
    spans = list(dict.fromkeys(id(claim.span) for claim in sorted(claims, key=lambda claim: claim.span.start)))
    paths = sorted({claim.field.path for claim in claims}, key=form.order.__getitem__)
    if not 1 < len(spans) <= len(paths) or form.asked_path not in paths or any(claim.label for claim in claims):
        return {}
    first = min(paths.index(form.asked_path), len(paths) - len(spans))
    return dict(zip(spans, paths[first:], strict=False))


def _list_rivals(claim: FieldClaim, others: Sequence[FieldClaim]) -> Iterator[FieldClaim]:
    """The second values for the field of a claim that are as plain, and that no field took."""
    for other in others:
        is_as_plain = other.span.is_weak is claim.span.is_weak or claim.score >= ASKED_TIE
        is_same = other.field is claim.field and other.clause.force is claim.clause.force
        is_as_full = _is_full(other) or not _is_full(claim)
        if is_same and is_as_plain and is_as_full and other.resolved.is_value:
            yield other


def _join_rivals(understanding: Understanding, first: FieldClaim, second: FieldClaim) -> FieldClaim | None:
    """What two spans are for one field: the later one behind a cue of correction; both are possible behind an "or".

    Returns None where the second one may be for another field.
    """
    if first.resolved.values == second.resolved.values:
        return first
    early, late = sorted((first, second), key=lambda claim: claim.span.start)
    between = range(early.span.end, late.span.start)
    if any(move.kind in CORRECTIONS and move.start in between for move in understanding.moves):
        return replace(late, is_correction=True)
    if any(cue.name == "alternative" and cue.start in between for cue in understanding.cues):
        return replace(early, resolved=Resolved(tuple(dict.fromkeys((*early.resolved.values, *late.resolved.values)))))
    return None


def _overlap(first: Span, second: Span) -> bool:
    """True for two readings of the same words. "Tonight at 7" has a day and a time."""
    if {first.sort, second.sort} == {Sort.DAY, Sort.CLOCK} and not (first.is_weak or second.is_weak):
        return False
    return first.start < second.end and second.start < first.end


def is_text(item: FormField | None) -> bool:
    return item is not None and item.spec.kind in (Kind.TEXT, Kind.PERSON)
