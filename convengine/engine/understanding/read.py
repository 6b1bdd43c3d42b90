"""A message read into a form: words, spans, clauses and moves, then assignment and decision (docs/forms.md)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from convengine.engine.understanding.assign import FieldClaim, assign, is_text, list_claims
from convengine.engine.understanding.clauses import Force
from convengine.engine.understanding.decide import Explained, decide
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.form import FormField, OpenForm
from convengine.engine.understanding.free_text import read_free_text
from convengine.engine.understanding.labels import FieldLabel, find_labels, says_nothing
from convengine.engine.understanding.long_texts import is_long_text
from convengine.engine.understanding.meant_options import offer_meant_option
from convengine.engine.understanding.moves import Move, MoveKind
from convengine.engine.understanding.reading import Offered, Reading, RefusedText, Taken
from convengine.engine.understanding.span import Finder, RefusalReason, Situation, Sort
from convengine.engine.understanding.unasked_texts import list_labelled_texts, list_related_texts
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import cover
from convengine.engine.understanding.yes_no_answers import answer_yes_or_no

#: A longer answer to a choice may be about something else.
_MOST_OPTION_WORDS = 2
#: Between the name of a field and its value.
_SIGNS = frozenset({":", "="})
_Result = TypeVar("_Result", Taken, Offered, RefusedText)


def read_into_form(
    understanding: Understanding,
    form: OpenForm,
    finders: Mapping[Sort, Finder],
    situation: Situation,
    *,
    is_phrase: bool = False,
) -> Reading:
    """What of a message goes into the form. `is_phrase`: a phrase of an intent has all of it."""
    labels = find_labels(understanding, form)
    claims = list_claims(understanding, form, labels, finders, situation)
    claims = assign(understanding, form, [*_list_without_names(claims, labels, form, is_phrase=is_phrase)])
    explained = Explained(understanding, form, labels, claims)
    results = list(decide(claims, explained))
    results = answer_yes_or_no(explained, claims, results)
    results += list_labelled_texts(understanding, form, labels, _list_touched(results))
    results += _list_unread(understanding, form, labels, _list_touched(results))
    texts = _list_free_text(explained, claims, results, is_phrase)
    results = [result for result in results if _counts_beside(explained, texts, result)]
    results += texts
    results += list_related_texts(explained, claims, results)
    if not is_phrase and form.asked_path not in _list_touched(results):
        results += offer_meant_option(explained)
        results += [] if results else _refuse_option(explained)
    # All questions of the message, if it has any, may be about the field that was asked for.
    asking = [clause for clause in understanding.clauses if clause.force is Force.ASKS]
    touched = _list_touched(results)
    cleared = [path for path in _list_cleared(explained, labels) if path not in touched]
    return Reading(
        _pick(results, Taken),
        _pick(results, Offered),
        _pick(results, RefusedText),
        tuple(cleared),
        tuple(_list_named(explained, labels, {*touched, *cleared})),
        tuple(_list_unexplained(explained, results)),
        bool(asking) and all(map(explained.is_about_asked, asking)),
        names=tuple((label.field, *understanding.find_position(label.start, label.end)) for label in labels),
    )


def _list_without_names(
    claims: Iterable[FieldClaim], labels: Iterable[FieldLabel], form: OpenForm, *, is_phrase: bool
) -> Iterator[FieldClaim]:
    """Drop persons whose words are a phrase of an intent, or name a field that nobody asked for."""
    named = cover(label for label in labels if label.is_whole)
    for claim in claims:
        is_label = claim.field.path != form.asked_path and named.issuperset(range(claim.span.start, claim.span.end))
        if claim.span.sort is not Sort.PERSON or not (is_phrase or is_label):
            yield claim


def _pick(results: Sequence[Taken | Offered | RefusedText], kind: type[_Result]) -> tuple[_Result, ...]:
    return tuple(result for result in results if isinstance(result, kind))


def _list_touched(results: Sequence[Taken | Offered | RefusedText]) -> set[str]:
    return {result.field for result in results}


def _list_free_text(
    explained: Explained,
    claims: Sequence[FieldClaim],
    results: Sequence[Taken | Offered | RefusedText],
    is_phrase: bool,
) -> list[Taken | Offered | RefusedText]:
    """The text that the asked field takes, if any."""
    form, path = explained.form, explained.form.asked_path
    if not is_text(form.asked_field) or path in _list_touched(results) or not form.is_open(path):
        return []
    settled = {item.field for item in results if not isinstance(item, Offered)}
    certain = [claim for claim in claims if claim.field.path in settled]
    text = read_free_text(explained, certain, is_phrase=is_phrase)
    return [text] if text else []


def _counts_beside(
    explained: Explained, texts: Sequence[Taken | Offered | RefusedText], result: Taken | Offered | RefusedText
) -> bool:
    """True for what is taken. Beside a long text nothing else counts, and no part of a short one: "Elm Row 27"."""
    item = explained.form.asked_field
    is_long = bool(texts) and item is not None and is_long_text(item.spec, explained.understanding.learned)
    is_part = any(text.start <= result.start and result.end <= text.end for text in texts if isinstance(text, Taken))
    return isinstance(result, Taken) or not (is_long or is_part)


def _list_unread(
    understanding: Understanding, form: OpenForm, labels: Sequence[FieldLabel], touched: set[str]
) -> Iterator[RefusedText]:
    """Choices that are named with a sign and words that are no option: "city: Paris"."""
    for label in labels:
        item = form.field(label.field)
        clause = understanding.find_clause(label.start)
        if item is None or clause is None or item.path in touched or not item.spec.options:
            continue
        if label.end + 1 < clause.end and understanding.words[label.end].key in _SIGNS:
            text = understanding.quote(label.end + 1, clause.end)
            position = understanding.find_position(label.end + 1, clause.end)
            yield RefusedText(item.path, text, RefusalReason.VALUE_VIOLATES_SCHEMA, {}, *position)
            touched = {*touched, item.path}


def _list_unexplained(explained: Explained, results: Sequence[Taken | Offered | RefusedText]) -> list[tuple[int, int]]:
    """The positions in the text of words that nothing explains, and that no taken value has."""
    understanding = explained.understanding
    taken = [(result.start, result.end) for result in results if isinstance(result, Taken)]
    words = [
        understanding.words[index] for clause in understanding.clauses for index in explained.list_unexplained(clause)
    ]
    return [(word.start, word.end) for word in words if not any(start <= word.start < end for start, end in taken)]


def _refuse_option(explained: Explained) -> list[RefusedText]:
    """The refusal of a short answer to a choice that is none of its options: "medium"."""
    understanding, asked_field = explained.understanding, explained.form.asked_field
    clauses = understanding.clauses
    if asked_field is None or not asked_field.spec.options or understanding.moves or len(clauses) != 1:
        return []
    words = explained.list_unexplained(clauses[0])
    if clauses[0].force is not Force.STATES or not 0 < len(words) <= _MOST_OPTION_WORDS:
        return []
    text = understanding.quote(clauses[0].start, clauses[0].end)
    labels = [option.label for option in asked_field.spec.options]
    position = understanding.find_position(clauses[0].start, clauses[0].end)
    return [RefusedText(asked_field.path, text, RefusalReason.NOT_AN_OPTION, {"options": labels}, *position)]


def _list_cleared(explained: Explained, labels: Sequence[FieldLabel]) -> list[str]:
    """Fields that are left empty: the asked optional one by "skip" or "no", those behind "remove", and "note: none"."""
    understanding, form = explained.understanding, explained.form
    is_empty = _leaves_asked_empty(explained) or _lacks_asked(explained, labels)
    cleared = [form.asked_path] if is_empty else []
    removed = {move.end for move in understanding.moves if move.kind is MoveKind.CLEAR}
    cleared += [label.field for label in labels if not removed.isdisjoint((label.start, label.start - 1))]
    optional = {item.path for item in form.fields if not item.required}
    cleared += [label.field for label in labels if label.field in optional and says_nothing(understanding, label)]
    return list(dict.fromkeys(cleared))


def _leaves_asked_empty(explained: Explained) -> bool:
    """True for a bare "skip" or "no", or a denial of nothing but the asked field, if that is optional.

    To a field for yes or no, "no" is a value.
    """
    understanding, asked_field = explained.understanding, explained.form.asked_field
    if asked_field is None or asked_field.required:
        return False
    if understanding.is_bare_move:
        kinds = (MoveKind.SKIP,) if asked_field.spec.kind is Kind.YES_NO else (MoveKind.SKIP, MoveKind.NEGATE)
        return understanding.find_move(*kinds) is not None
    # "No special wish" denies no value, and nothing but what was asked for.
    forces = {clause.force for clause in understanding.clauses}
    if Force.DENIES not in forces or forces & {Force.ASKS, Force.SUPPOSES}:
        return False
    says_more = any(map(explained.list_unexplained, understanding.clauses))
    return not says_more and all(span.is_weak for span in understanding.spans)


def _lacks_asked(explained: Explained, labels: Sequence[FieldLabel]) -> bool:
    """True for "I haven't got an email", which denies what was asked for; and where it is optional, for "no idea where
    that is". To a field for yes or no, a denial is a value.
    """
    understanding, asked_field = explained.understanding, explained.form.asked_field
    if asked_field is None or asked_field.spec.kind is Kind.YES_NO:
        return False
    own = [
        clause
        for label in labels
        if label.field == asked_field.path and (clause := understanding.find_clause(label.start))
    ]
    own += [clause for first in own if (clause := understanding.find_clause(first.end))]  # "the email I have | not got"
    if any(clause.force is Force.DENIES for clause in own):
        return True
    return _may_skip(understanding, asked_field) and all(span.is_weak for span in understanding.spans)


def _may_skip(understanding: Understanding, asked_field: FormField) -> bool:
    """True where an answer without a value leaves an optional field out: "no, I had none with me".

    To an optional text, more than a denial may be the text.
    """
    is_any = is_text(asked_field)
    empty = understanding.find_move(MoveKind.SKIP, *(() if is_any else (MoveKind.NEGATE,)))
    if asks := understanding.find_move(MoveKind.ASK):  # "Can we leave that out?", but not "Where do I find it?".
        return not asked_field.required and empty is not None and asks.start <= empty.start < asks.end
    denies = not is_any and any(clause.force is Force.DENIES for clause in understanding.clauses)
    return not asked_field.required and (denies or empty is not None)


def _list_named(explained: Explained, labels: Sequence[FieldLabel], touched: set[str]) -> list[str]:
    """Held fields whose name is said with a cue of correction, or after "What should I change?", without a value.

    Not in "don't change the day", and not in "why did you change the day?".
    """
    understanding, form = explained.understanding, explained.form
    valued = {span.sort for span in understanding.spans if not span.is_weak}
    # The value that a field holds already was said again.
    passed = touched | {item.path for item in form.fields if valued.intersection(item.sorts)}
    correction = understanding.find_move(MoveKind.CORRECT)
    labels = [label for label in labels if label.field in form.held and label.field not in passed]
    return list(dict.fromkeys(label.field for label in labels if _is_to_change(explained, label, correction)))


def _is_to_change(explained: Explained, label: FieldLabel, correction: Move | None) -> bool:
    """True for a name of a field that says what to change. `correction`: the first one of the message.

    A single word of a name does not, among other words: the "number" of "you've lost the house number".
    """
    asks_what_to_change, clause = explained.form.asks_what_to_change, explained.understanding.find_clause(label.start)
    if clause is None:
        return asks_what_to_change
    if not label.is_whole and (explained.list_unexplained(clause) or explained.list_talk(clause)):
        return False
    if clause.has("denial") or (clause.force is Force.ASKS and explained.asks_more(clause)):
        return False
    is_corrected = correction is not None and correction.start < clause.end
    return asks_what_to_change or clause.has("rejection") or is_corrected
