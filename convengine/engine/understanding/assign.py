"""Which span goes to which field: one score decides (docs/forms.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from convengine.engine.understanding.clauses import Clause, Force
from convengine.engine.understanding.comparisons import is_only_compared
from convengine.engine.understanding.corrections import (
    CORRECTIONS,
    is_contrasted,
    may_correct,
    replaces_denied,
)
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.kinds.choices import PART
from convengine.engine.understanding.kinds.pairs import resolve
from convengine.engine.understanding.kinds.yes_no import BEFORE, NAMED
from convengine.engine.understanding.labels import Label, bind_label
from convengine.engine.understanding.moves import MoveKind
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.sides import find_sides
from convengine.engine.understanding.span import Finder, Resolved, Situation, Sort, Span
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.weak_spans import begins_range, is_beaten, is_in_longer
from convengine.engine.understanding.words import cover, is_within

#: What binds a span to a field. A stronger tie always goes before all weaker ones together.
_LABELLED, ASKED_TIE, _OWN, _STRONG, _OPEN = 16, 8, 4, 2, 1
#: Sorts of values that a bare number may be.
_NUMERIC = {Sort.NUMBER, Sort.DAY, Sort.CLOCK, Sort.MOMENT, Sort.LENGTH, Sort.PHONE, Sort.POSTCODE}
_STATING = (Force.STATES, Force.SUPPOSES, Force.ASKS)


@dataclass(frozen=True)
class Claim:
    """A span for one field, and what it is there."""

    field: FormField
    span: Span
    resolved: Resolved
    clause: Clause
    label: Label | None
    score: int
    #: It replaces a value that the form holds, or one of the same message.
    is_correction: bool = False
    #: Nothing says that it replaces the value that the form holds.
    is_doubtful: bool = False
    #: Other plain values for its field that no field took.
    rivals: "tuple[Claim, ...]" = ()

    @property
    def is_meant(self) -> bool:
        """True where a name, the question or a correction binds it."""
        return self.label is not None or self.is_correction or self.score >= ASKED_TIE


def list_claims(
    understanding: Understanding,
    form: OpenForm,
    labels: Sequence[Label],
    finders: dict[Sort, Finder],
    situation: Situation,
) -> list[Claim]:
    """Every span with every field that could take it, in clauses that state, suppose or ask."""
    claims: list[Claim] = []
    sides = find_sides(understanding, form)
    for span in understanding.spans:
        if span.is_weak and (is_in_longer(understanding, span) or is_beaten(understanding, span)):
            continue
        clause = understanding.find_clause(span.start)
        if clause is None or clause.force not in _STATING:
            continue
        bound = bind_label(understanding, form, labels, span.start, span.end)
        if bound is None or not bound.is_whole:
            bound = sides.get(id(span), bound)
        for item in form.fields:
            claim = _make_claim(understanding, form, item, span, clause, bound, finders, situation)
            if claim is not None:
                claims.append(claim)
    return _doubt(claims, form)


def _doubt(claims: Sequence[Claim], form: OpenForm) -> list[Claim]:
    """The claims without weak ones of words that several fields could take; plain ones of that kind are doubtful.

    A field that was asked for, or that is named, has the words for itself. So has each field with a value of its own.
    A correction may be for the field that was asked for last; a bare number at the summary, for a number.
    """
    claims = [claim for claim in claims if not _is_for_another(form, claims, claim)]
    certain: list[Claim] = []
    for claim in claims:
        same = _list_same(claims, claim)
        rivals = [other for other in same if other.span is not claim.span and other.score >= claim.score]
        if claim.score >= ASKED_TIE:
            certain.append(claim)
        elif rivals and claim.is_correction and all(_is_less_likely(form, other, claim) for other in rivals):
            certain.append(replace(claim, is_doubtful=True))
        elif not (rivals and (claim.span.is_weak or any(other.score >= ASKED_TIE for other in rivals))):
            fields = {other.field.path for other in same if other.span is claim.span and other.resolved.is_value}
            spans = {id(other.span) for other in claims if other.field.path in fields}
            certain.append(replace(claim, is_doubtful=claim.is_doubtful or len(fields) > len(spans)))
    return certain


def _is_less_likely(form: OpenForm, claim: Claim, later: Claim) -> bool:
    """True for a correction of a field that the user means less than another one: it was asked for before."""

    def rank(item: Claim) -> tuple[bool, int]:
        return not form.asked_path and item.span.sort is Sort.NUMBER, form.order[item.field.path]

    return claim.is_correction and rank(claim) < rank(later)


def _list_same(claims: Sequence[Claim], claim: Claim) -> list[Claim]:
    """The claims of the same words. Those for a day and for a time in it are no rivals."""
    return [
        other
        for other in claims
        if (other.span.start, other.span.end) == (claim.span.start, claim.span.end)
        and (other.span is claim.span or _overlap(other.span, claim.span))
    ]


def _is_for_another(form: OpenForm, claims: Sequence[Claim], claim: Claim) -> bool:
    """True for the 4 of "no wait, make that 4" and an open field, where it may be meant for what was said before.

    Not where the last message gave nothing for that field: it is what is corrected.
    """
    if form.is_asked_again and claim.field is form.asked_field:
        return False
    if not (claim.span.is_weak and claim.clause.has("correction")) or claim.is_correction or claim.label is not None:
        return False
    is_first = not any(other.field is claim.field and other.span.end <= claim.span.start for other in claims)
    return is_first and any(other.is_correction for other in _list_same(claims, claim))


def _make_claim(
    understanding: Understanding,
    form: OpenForm,
    item: FormField,
    span: Span,
    clause: Clause,
    bound: Label | None,
    finders: dict[Sort, Finder],
    situation: Situation,
) -> Claim | None:
    if span.sort not in item.sorts or (span.field and span.field != item.path):
        return None
    # One answer gives the given and the family name.
    is_asked = form.asked_path in (item.path, *span.phrase.slots.get("fields", ()))
    label = bound if bound and bound.field == item.path else None
    if form.is_opener and _is_part_of_own_words(understanding, form, span, label):
        return None
    if is_only_compared(understanding, form, clause, span):
        return None
    finder = finders[span.sort]
    resolved = resolve(finder, span, item.spec, situation, is_asked=is_asked or label is not None)
    if resolved is None:
        return None
    corrects = not form.is_open(item.path)
    replaces = corrects and may_correct(understanding, form, span)
    is_plain = not corrects or replaces or (label is not None and label.is_whole)
    if corrects and span.is_weak and not (replaces or (label and label.is_whole)):
        return None
    if corrects and resolved.is_value and resolved.value == form.held[item.path]:
        return None
    if corrects and span.sort is Sort.YES_NO and not _answers_again(form, span, clause):
        return None
    if span.is_weak and _begins_only(understanding, clause, span):
        return None
    if span.is_weak and _is_move(understanding, span, MoveKind.AFFIRM, MoveKind.NEGATE):
        return None  # The "ne" of "ne, brauchen wir nicht" is no 1.
    if span.is_weak and not (is_asked or label) and _answers_asked(form, span):
        return None
    is_alone = begins_range(understanding, span) or _stands_alone(understanding, form, clause, span)
    if span.is_weak and not (is_asked or label or (is_alone and not _is_move(understanding, span))):
        return None
    is_cued = corrects and (
        (not span.is_weak and clause.has("correction"))
        or replaces_denied(understanding, form, item, span, finder, situation)
    )
    score = (
        _LABELLED * bool(label)
        + ASKED_TIE * (is_asked or is_cued)
        + _OWN * is_cued
        + _OWN * bool(span.field)
        + _STRONG * (not span.is_weak)
        + _OPEN * (not corrects)
    )
    return Claim(item, span, resolved, clause, label, score, corrects, not is_plain or resolved.is_doubtful)


def _answers_again(form: OpenForm, span: Span, clause: Clause) -> bool:
    """True for "change breakfast to no", and at the summary for "with breakfast". Talk and questions name it, too."""
    is_cued = clause.has("correction") and span.phrase.means != NAMED
    return is_cued or (form.is_confirming and span.phrase.means == BEFORE)


def _is_part_of_own_words(understanding: Understanding, form: OpenForm, span: Span, label: Label | None) -> bool:
    """True for words that only begin the form: "book a climbing course" chooses none, "book room 101" counts nobody.

    Not where the name of the field stands beside.
    """
    if any(word.key not in form.own_words for word in understanding.words[span.start : span.end]):
        return False
    around = {span.start - 1, span.end}.intersection(range(len(understanding.words))) - cover(understanding.cues)
    is_beside = any(understanding.words[index].key in form.own_words for index in around)
    return span.phrase.means == PART or (span.is_weak and label is None and is_beside)


def _begins_only(understanding: Understanding, clause: Clause, span: Span) -> bool:
    """True for a small word that is a time only by itself: the "now" of "now I need another table"."""
    cues = [cue for cue in clause.cues if cue.name == "filler"]
    if span.sort is Sort.NUMBER or not any(is_within(span, cue) for cue in cues):
        return False
    small = cover(clause.cues)
    return any(not (n in small or understanding.words[n].is_sign) for n in range(clause.start, clause.end))


def _answers_asked(form: OpenForm, span: Span) -> bool:
    """True for a bare number where another field of numbers, days or times was asked for: it is for no third one."""
    asked_field = form.asked_field
    return asked_field is not None and span.sort is Sort.NUMBER and not _NUMERIC.isdisjoint(asked_field.sorts)


def _is_move(understanding: Understanding, span: Span, *kinds: MoveKind) -> bool:
    """True for words that are all that their clause wants: the "none" that leaves a field empty is no 0 for another.

    `kinds`: only such moves; without any, all.
    """
    moves = [move for move in understanding.moves if move.is_whole and (not kinds or move.kind in kinds)]
    return any(is_within(span, move) for move in moves)


def _stands_alone(understanding: Understanding, form: OpenForm, clause: Clause, span: Span) -> bool:
    """True when the clause says only plain values and this one, which has no slip and is no small word.

    A yes or no beside it answers what was asked.
    """
    if any(is_within(span, cue) for cue in clause.cues) or understanding.chart.is_mended(span.start, span.end):
        return False
    answers = (MoveKind.AFFIRM, MoveKind.NEGATE)
    asks_yes_no = form.asked_field is not None and form.asked_field.spec.kind is Kind.YES_NO
    if asks_yes_no and understanding.find_move(*answers) and not is_contrasted(understanding, span):
        return False
    known = cover(clause.cues) | cover(other for other in understanding.spans if not other.is_weak)
    if form.is_opener:
        known |= {index for index, word in enumerate(understanding.words) if word.key in form.own_words}
    return all(
        index in known or understanding.words[index].is_sign or span.start <= index < span.end
        for index in range(clause.start, clause.end)
    )


def assign(understanding: Understanding, form: OpenForm, claims: Sequence[Claim]) -> list[Claim]:
    """The claims that hold. Of spans that overlap the longest; each goes to the field with the strongest tie, in the
    order of the message. What one field refuses goes to no other.
    """
    spans = _choose_spans(claims)
    held = [claim for claim in claims if any(claim.span is span for span in spans)]
    dealt = _list_dealt(form, held)
    ordered = sorted(
        (claim for claim in held if claim.field.path in dealt.get(claim.span.sort, (claim.field.path,))),
        key=lambda claim: (
            -(claim.score & ~_STRONG & ~(ASKED_TIE * (claim.span.sort in dealt))),
            claim.span.is_weak and not begins_range(understanding, claim.span),
            claim.span.start,
            not claim.resolved.is_value,
            -form.order[claim.field.path] if claim.is_correction else form.order[claim.field.path],
        ),
    )
    chosen: list[Claim] = []
    settled: list[Span] = []
    for claim in ordered:
        if any(claim.span is span for span in settled):
            continue
        rival = next((other for other in chosen if other.field is claim.field), None)
        if rival is None:
            chosen.append(claim)
            settled.append(claim.span)
        elif _settle_rivals(understanding, chosen, rival, claim):
            settled.append(claim.span)
    return sorted(_add_rivals(chosen, ordered, settled), key=lambda claim: claim.span.start)


def _list_dealt(form: OpenForm, claims: Sequence[Claim]) -> Mapping[Sort, Sequence[str]]:
    """Map each sort that has several plain values to the open fields that get them.

    They go to the fields in the order of the form: from the asked one on, or to the last ones.
    """
    dealt: dict[Sort, Sequence[str]] = {}
    for sort in {claim.span.sort for claim in claims} if form.asked_field and holds(Principle.PAIRS) else ():
        own = [
            claim for claim in claims if claim.span.sort is sort and claim.resolved.is_value and not claim.span.is_weak
        ]
        own = [claim for claim in own if not (claim.is_correction or claim.span.field)]
        size = len({id(claim.span) for claim in own})
        paths = sorted({claim.field.path for claim in own}, key=form.order.__getitem__)
        if 1 < size <= len(paths) and form.asked_path in paths and not any(claim.label for claim in own):
            first = min(paths.index(form.asked_path), len(paths) - size)
            dealt[sort] = paths[first : first + size]
    return dealt


def _choose_spans(claims: Sequence[Claim]) -> list[Span]:
    """Spans that do not overlap: the longest first, then those of the asked field, plain ones, the strongest tie."""
    best = sorted(
        claims,
        key=lambda claim: (
            claim.span.start - claim.span.end,
            not claim.score & ASKED_TIE,
            claim.span.is_weak,
            -claim.score,
            claim.span.start,
        ),
    )
    spans: list[Span] = []
    for claim in best:
        is_known = any(claim.span is span for span in spans)
        if not is_known and not any(_overlap(claim.span, span) for span in spans):
            spans.append(claim.span)
    return spans


def _add_rivals(chosen: Sequence[Claim], claims: Sequence[Claim], settled: Sequence[Span]) -> list[Claim]:
    """The chosen claims, each with the second values for its field that no field took."""
    others = [claim for claim in claims if not any(claim.span is span for span in settled) and claim.resolved.is_value]
    return [
        replace(
            claim,
            rivals=tuple(
                other
                for other in others
                if other.field is claim.field
                and other.clause.force is claim.clause.force
                and (other.span.is_weak is claim.span.is_weak or claim.score & ASKED_TIE)
                and other.resolved.values != claim.resolved.values
                and not any(_overlap(other.span, item.span) for item in chosen)
            ),
        )
        for claim in chosen
    ]


def _settle_rivals(understanding: Understanding, chosen: list[Claim], first: Claim, second: Claim) -> bool:
    """Two spans for one field: the later one behind a cue of correction; both are possible behind an "or".

    False where the second one may be for another field.
    """
    early, late = sorted((first, second), key=lambda claim: claim.span.start)
    if first.resolved.values == second.resolved.values:
        return True
    if _is_between(understanding, early, late, CORRECTIONS):
        chosen.remove(first)
        chosen.append(replace(late, is_correction=True))
        return True
    is_choice = any(
        cue.name == "alternative" and early.span.end <= cue.start < late.span.start for cue in understanding.cues
    )
    both = tuple(dict.fromkeys((*early.resolved.values, *late.resolved.values)))
    if not is_choice or len(both) < 2:
        return False
    chosen.remove(first)
    chosen.append(replace(early, resolved=Resolved(both)))
    return True


def _is_between(understanding: Understanding, early: Claim, late: Claim, kinds: Sequence[MoveKind]) -> bool:
    return any(early.span.end <= move.start < late.span.start and move.kind in kinds for move in understanding.moves)


def _overlap(first: Span, second: Span) -> bool:
    """True for two readings of the same words. "Tonight at 7" has a day and a time."""
    if {first.sort, second.sort} == {Sort.DAY, Sort.CLOCK} and not (first.is_weak or second.is_weak):
        return False
    return first.start < second.end and second.start < first.end


def is_text(item: FormField | None) -> bool:
    """True for a field that takes any text."""
    return item is not None and item.spec.kind in (Kind.TEXT, Kind.PERSON)
