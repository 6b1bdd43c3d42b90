"""Corrections of what a form holds already: "actually make it Tuesday", "no, the 5th", "doch lieber um vier" (R109).

The kind of the value chooses the field when none is named. `extract` reads the values.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from convengine.engine.forms.asking import (
    blank_questions,
    has_leaving_clause,
    is_courtesy,
    puts_off_subject,
    sort_fields,
    wants_to_leave,
)
from convengine.engine.forms.extract import Extracted, Extraction, extract
from convengine.engine.forms.extract.answer import is_plausible_text
from convengine.engine.forms.extract.answer_beside import list_answers_beside
from convengine.engine.forms.extract.candidate import VALUE
from convengine.engine.forms.extract.correct_earlier import read_contrast, read_refused_value
from convengine.engine.forms.extract.correct_moments import (
    MOMENTS,
    complete_moments,
    find_held_times,
    read_date_part,
    read_new_limit,
    read_new_moment,
    read_shift,
)
from convengine.engine.forms.extract.correct_numbers import (
    CLAUSE_GAP,
    MAX_IN_CLAUSES,
    find_number_with_reason,
    read_bare_number,
    read_difference,
    read_number,
    read_total,
)
from convengine.engine.forms.extract.correct_texts import (
    read_alike_text,
    read_named_change,
    read_named_text,
    read_new_names,
    read_other_name,
)
from convengine.engine.forms.extract.day_order import is_day_field
from convengine.engine.forms.extract.held_values import (
    MAX_NAME_WORDS,
    NOT_READ,
    changes_values,
    is_like_held,
    is_retyped_text,
    read_held,
)
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.reversals import find_reversal
from convengine.engine.forms.extract.sentence_values import list_specs, read_inclusions
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.words import FILLERS, fold
from convengine.engine.values import (
    Kind,
    ReadingSituation,
    blank_leading_no,
    blank_unmeant_options,
    counts_persons,
    denies,
    find_bare_number,
    find_core,
    find_retraction,
    find_values,
    has_number,
    has_only_fillers,
    is_bare_cardinal,
    is_correction,
    is_hour,
    is_indifferent,
    is_passing_moment,
    is_shift,
    is_slip,
    keeps_value,
    read_own_words,
    read_value,
    strip_correction,
    strip_tail,
    takes_back,
)
from convengine.engine.values.language import get_language
from convengine.engine.values.names import cut_spelling, has_sentence_word, is_name_field
from convengine.engine.values.numbers import find_only_count
from convengine.engine.values.own_things import keeps_own
from convengine.engine.values.read import list_situations
from convengine.engine.values.retractions import blank_taken_back
from convengine.engine.values.yes_or_no import begins_with_plain_answer

Json = Any
#: A value of one of these kinds says which field it is for, also without words of a correction.
_TELLING = (
    Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.CHOICE, Kind.EMAIL, Kind.PHONE, Kind.YES_NO, Kind.NUMBER, Kind.MONEY,
)  # fmt: skip
#: Kinds whose readers know their own values from those of other fields.
_ANSWERED = (Kind.CHOICE, Kind.DURATION, Kind.MONEY, Kind.NUMBER, Kind.TIME, Kind.POSTCODE, Kind.IBAN, Kind.PATTERN)
#: Kinds whose values answer in one clause while another one corrects.
_ANSWERED_BESIDE = (Kind.TIME, Kind.DATE, Kind.NUMBER, Kind.DURATION, Kind.PHONE, Kind.EMAIL)
#: Between the clauses of a message.
_CLAUSE_SIGN = re.compile(r"[,;:!?]\s+|\.\s+|\s[–-]\s")
#: Between two changes of one message, and how many of them are tried.
_CHANGE_JOINT = re.compile(
    r"\s*(?:[,;]|(?<!\d)\.)\s+(?:(?:and|und|also|auch)\s+)?|\s+(?:and|und)\s+(?:(?:also|auch)\s+)?", re.IGNORECASE
)
_MOST_JOINTS = 4
#: Longest message with two changes, in characters.
_MAX_IN_TWO = 300
_SIGN = re.compile(r"[,.;:!?–]")
#: Counts are hardly as large as years.
_FIRST_YEAR = 1000
#: Longest message that is a value and nothing else, and longest that only names a field, in characters.
_MAX_BARE = 80
_MAX_NAMING = 60
#: Most clauses of a message that changes something in one of them.
_MOST_CLAUSES = 4
#: A clause with so few words gives no reason.
_FEW_WORDS = 2
_CLAUSE = re.compile(r"[^,;!?]+")
#: Between clauses that a sign separates.
_SENTENCE_SIGN = re.compile(r"[,;!?]+\s+|(?<!\d)\.+\s+|\s[–-]\s")
#: Word tables whose words name no field, also where its title has them: "Inside too".
_SMALL_WORDS = ("fillers", "additions")


def read_correction(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    asked_path: str | None = None,
    is_expected: bool = False,
    is_retry: bool = False,
) -> Extraction | None:
    """What a message changes, with all other values in it; null if it corrects nothing.

    `held`: the values by path. `is_expected`: the last answer asked what to change. `is_retry`: it repeated the
    question, so that "sorry, 7" answers it.
    """
    if not held or form.problem:
        return None
    situation = replace(situation, held_times=find_held_times(form, held))
    return (
        _read_change_beside_answer(form, text, held, situation, asked_path)
        or _read_two_changes(form, text, held, situation, asked_path=asked_path, is_expected=is_expected)
        or _read_change(form, text, held, situation, asked_path=asked_path, is_expected=is_expected, is_retry=is_retry)
        or read_new_names(form, text, held, situation, asked_path)
        or _read_change_in_clause(form, text, held, situation, asked_path=asked_path, is_expected=is_expected)
    )


def _read_change_in_clause(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    asked_path: str | None,
    is_expected: bool,
) -> Extraction | None:
    """The change in the only clause that is one, with the answer in another: "Jo Day, and it's 65 now, they all come".

    The clauses beside it say why: they have no values, and leave nothing.
    """
    clauses = [clause.strip() for clause in _SENTENCE_SIGN.split(text[:MAX_IN_CLAUSES]) if clause.strip()]
    if not 1 < len(clauses) <= _MOST_CLAUSES or has_leaving_clause(text):
        return None
    if any(begins_with_plain_answer(text, local.locale) for local in list_situations(situation)):
        return None
    changes = [
        (clause, change)
        for clause in clauses
        if (change := _read_change(form, clause, held, situation, asked_path=asked_path, is_expected=is_expected))
    ]
    values = {tuple((item.field, str(item.value)) for item in change.extracted) for _, change in changes}
    if len(values) != 1 or any(change.rejected for _, change in changes):
        return None
    changed, change = changes[0]
    if asked_path and is_slip(changed, situation):
        return None  # "4... no wait 6" says the asked number anew.
    answers: list[Extracted] = []
    for clause in clauses:
        answer = _read_answer(form, clause, held, situation, asked_path) if clause != changed else None
        if answer is not None:
            answers.append(answer)
        elif clause != changed and (has_number(clause, situation) or _takes_back(clause, situation)):
            return None
    return replace(change, extracted=(*change.extracted, *answers)) if len(answers) < 2 else None


def _takes_back(clause: str, situation: ReadingSituation) -> bool:
    """True for "nicht April", which belongs to the change beside it."""
    return takes_back(clause, situation) and len(clause.split()) <= _FEW_WORDS


def _read_answer(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extracted | None:
    """The answer to the asked field that a clause is."""
    if asked_path is None:
        return None
    missing = [field.path for field in form.leaves if field.path not in held]
    extraction = extract(form, text, asked_paths=[asked_path], missing=missing, situation=situation)
    return next((item for item in extraction.extracted if item.field == asked_path), None)


def _read_change_beside_answer(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The answer to the asked field with the change beside it: "yes, and could we make it 11 instead"."""
    for answers, other in list_answers_beside(form, text, held, situation, asked_path):
        known = {**held, **{answer.field: answer.value for answer in answers}}
        change = _read_change(form, other, known, situation, asked_path=asked_path, is_expected=False)
        if change is None:
            continue
        changed = {item.field for item in change.extracted} | {item.field for item in change.rejected}
        if changed <= held.keys():
            return replace(change, extracted=(*change.extracted, *answers))
    return None


def _wants_thing(asked_field: Field | None, text: str, situation: ReadingSituation) -> bool:
    """True for "I'd like one" beside a yes or no: the thing that was asked about, and no number."""
    number = find_bare_number(text, situation) if asked_field and asked_field.spec.kind is Kind.YES_NO else None
    languages = (get_language(local.locale) for local in list_situations(situation))
    return number is not None and any(language.number_words.get(number) == 1 for language in languages)


def _read_change(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    asked_path: str | None,
    is_expected: bool,
    is_retry: bool = False,
) -> Extraction | None:
    """The values that replace others, in the order of how plainly the message says so."""
    if contrast := read_contrast(form, text, held, situation):
        return contrast
    if refused := read_refused_value(form, text, held, situation, asked_path):
        return refused
    for read_named in (read_named_change, read_named_text):
        if named := read_named(form, text, held, situation, asked_path):
            return named
    specs = [field.spec for field in form.leaves]
    text = blank_taken_back(specs, blank_unmeant_options(specs, text, situation, with_denials=True), situation)
    if shift := read_shift(form, text, held, situation, asked_path):
        return shift
    if not asked_path and (limit := read_new_limit(form, text, held, situation)):
        return limit
    if is_expected and (answer := _read_own_words(form, text, held, situation)):
        return answer
    if reversal := find_reversal(form, text, held, situation, is_expected=is_expected):
        return Extraction((reversal,))
    if renamed := read_other_name(form, text, held, situation, asked_path):
        return renamed
    if difference := read_difference(form, text, held, situation, asked_path):
        return difference
    if not asked_path and (retracted := _read_retraction(form, text, held, situation)):
        return retracted
    if asked_path and is_indifferent(text, situation):
        return None
    earlier = _list_earlier_fields(form, held, asked_path)
    if total := read_total(form, text, held, situation, asked_path, earlier):
        return total
    if moment := read_new_moment(form, text, held, situation, asked_path):
        return moment
    names_persons = counts_persons(blank_questions(text), situation)
    if not (is_expected or is_correction(text, situation) or names_persons) and (
        _answers(form, text, situation, asked_path) or not _is_bare(form, text, held, situation, asked_path)
    ):
        return _read_moment_in_clause(form, text, held, situation, asked_path)
    if is_shift(text, situation) or (asked_path and _wants_thing(form.field(asked_path), text, situation)):
        return None
    bare_number = find_bare_number(text, situation)
    says_hour = is_hour(text, situation)
    slips = not (is_retry or (bare_number and (is_expected or says_hour))) and is_slip(text, situation)
    if slips and (slip := _read_slip(form, text, held, situation, earlier)):
        return slip
    if _answers_yes_or_no(form.field(asked_path) if asked_path else None, text, situation):
        return None  # "No, we do need one"
    number = bare_number or find_number_with_reason(form, text, situation)
    if number:
        times = {field.path for field in form.leaves if field.spec.kind in (Kind.TIME, Kind.DATE_TIME)}
        counted = {path: held[path] for path in held if path not in times} if names_persons else held
        is_cardinal = not is_retry and is_bare_cardinal(text, number, situation)
        change = read_bare_number(
            form,
            number,
            (0, len(text)),
            counted,
            situation,
            asked_path,
            earlier,
            is_cardinal=is_cardinal,
            names_field=bool(find_mentions(Reading(text), form.leaves)),
            is_hour=says_hour,
        )
        # "No, 1981" is a year, unless a field counts as much.
        counts = [value for value in held.values() if isinstance(value, int | float) and value >= _FIRST_YEAR]
        day = None if counts or asked_path else read_date_part(form, text, held, situation)
        return day or change or read_date_part(form, text, held, situation)
    asked_group = [[asked_path]] if asked_path else []
    nearest = [[field.path] for field in earlier] if asked_path else []
    preferred = [*nearest, *asked_group] if slips else [*asked_group, *nearest, list(held)]
    extraction = extract(form, text, situation=situation, preferred_paths=preferred)
    extraction = _strip_corrections(form, extraction, situation)
    if asked_path:
        extraction = _drop_mentions(form, text, extraction, held, situation, asked_path)
    if changes_values(extraction, held):
        changed = complete_moments(form, text, extraction, held, situation)
        return _add_answer(form, text, changed, situation, asked_path)
    plain = blank_leading_no(text, situation)
    if plain != text:
        extraction = extract(form, plain, situation=situation, preferred_paths=preferred)
        if changes_values(extraction, held) and not _chooses(form, extraction, held):
            return complete_moments(form, plain, extraction, held, situation)
    retraction = find_retraction(text, situation)
    if retraction and not denies(text[len(retraction[0]) :], situation):
        # "11. No sorry, make that Friday": the "no" takes back what was said before.
        later = " " * (len(text) - len(retraction[1])) + retraction[1]
        extraction = extract(form, later, situation=situation, preferred_paths=preferred)
        if changes_values(extraction, held) and not _chooses(form, extraction, held):
            changed = complete_moments(form, later, extraction, held, situation)
            return _add_answer(form, text, changed, situation, asked_path)
    if orderly := _read_in_order(form, text, held, situation):
        return orderly
    whole = _read_whole_correction(form, text, held, situation, asked_path)
    return (
        whole or read_alike_text(form, text, held, situation, asked_path) or read_date_part(form, text, held, situation)
    )


def _drop_mentions(
    form: Form,
    text: str,
    extraction: Extraction,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    asked_path: str,
) -> Extraction:
    """The extraction without options that a clause beside the answer only mentions: "2pm, the club said so"."""
    if all(item.field != asked_path for item in extraction.extracted):
        return extraction
    clauses = [(match.start(), match.end()) for match in _CLAUSE.finditer(text)]
    corrects = [span for span in clauses if is_correction(text[slice(*span)], situation)]
    changes = tuple(
        item
        for item in extraction.extracted
        if item.field not in held
        or (field := form.field(item.field)) is None
        or field.spec.kind is not Kind.CHOICE
        or any(start <= item.span[0] < end for start, end in corrects)
    )
    return replace(extraction, extracted=changes)


def _read_retraction(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """The second value of "9am, no, 9.30am" for the only field that takes both."""
    parts = find_retraction(text, situation)
    if not parts:
        return None
    changes: list[Extracted] = []
    for field in form.leaves:
        if field.path in held and field.spec.kind in (*_ANSWERED_BESIDE, Kind.DATE_TIME):
            values = [read_held(field, find_core(part, situation), held[field.path], situation) for part in parts]
            if None not in values and values[1] != held[field.path] and not form.breaks(field, values[1]):
                changes.append(Extracted(field.path, values[1], (0, len(text)), VALUE))
    if len(changes) > 1 and find_bare_number(find_core(parts[1], situation), situation) is None:
        # "9.30am" is no count.
        changes = [change for change in changes if isinstance(change.value, str)]
    return Extraction((changes[0],)) if len(changes) == 1 else None


def _list_earlier_fields(form: Form, held: Mapping[str, Json], asked_path: str | None) -> list[Field]:
    """The fields that hold a value before the asked one, the last one first; without an asked field, all of them."""
    fields = sort_fields(form, form.leaves)
    end = next((index for index, field in enumerate(fields) if field.path == asked_path), len(fields))
    return [field for field in reversed(fields[:end]) if field.path in held]


def _read_slip(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, earlier: Sequence[Field]
) -> Extraction | None:
    """The value of "sorry typo, 29" for the last field before the asked one that takes it; a text only for the last."""
    rest = strip_correction(text, situation).strip(" .,!")
    core = find_core(text, situation)
    if find_mentions(Reading(rest), form.leaves):
        return None
    local = replace(situation, is_asked=False, earlier_days={}, listed_options=())
    for index, field in enumerate(earlier):
        # The last field was asked for just now, so that a bare "4" may be its time.
        own = replace(local, is_asked=index == 0)
        read = partial(read_held, field, held=held[field.path], situation=own)
        value = None if field.spec.kind in NOT_READ else read(rest)
        value = read(core) if value is None and field.spec.kind not in NOT_READ else value
        if value is None and index == 0 and field.spec.kind is Kind.NUMBER:
            value = find_only_count(field.spec, rest, own).value  # "Hang on, 11 with the conservatory"
        if value is not None and not form.breaks(field, value):
            is_new = value != held[field.path]
            return Extraction((Extracted(field.path, value, (0, len(text)), VALUE),)) if is_new else None
    last = next(iter(earlier), None)
    if last is None or rest == text or not is_retyped_text(last, rest, held[last.path], situation):
        return None
    return None if form.breaks(last, rest) else Extraction((Extracted(last.path, rest, (0, len(text)), VALUE),))


def find_possible_fields(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> list[str]:
    """The fields that may get the only value of a message, where nothing says which: "make it 5 July", "make it 3"."""
    if possible := _list_possible_values(form, text, held, situation):
        return list(possible)
    number = find_bare_number(text, situation) or find_number_with_reason(form, text, situation)
    fields = [field for field in form.leaves if number and field.path in held]
    values = {field.path: read_number(field, number or "", held[field.path], situation) for field in fields}
    return [path for path, value in values.items() if value is not None and value != held[path]]


def repeats_value(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> bool:
    """True when the message says a value that the form holds already: "make it Friday"."""
    fields = [field for field in form.leaves if field.path in held]
    spans = find_values(list_specs(form, fields), text, replace(situation, earlier_days={}))
    return any(reading.value == held[path] for span in spans for path, reading in span.readings.items())


def _list_possible_values(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation
) -> dict[str, Json]:
    """The new value of each field that the only value in the message may be for."""
    fields = [field for field in form.leaves if field.path in held and field.spec.kind is not Kind.CHOICE]
    spans = find_values(list_specs(form, fields), text, replace(situation, earlier_days={}))
    readings = spans[0].readings if len(spans) == 1 else {}
    return {path: item.value for path, item in readings.items() if item.has_value and item.value != held[path]}


def _read_in_order(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """The only value of a message for the only date with which the dates of the form stay in order."""
    values = _list_possible_values(form, text, held, situation)
    order = [field.path for field in sort_fields(form, filter(is_day_field, form.leaves)) if field.path in held]
    if len(values) < 2 or not set(values) <= set(order):
        return None
    days = {path: [str({**held, path: value}[item])[:10] for item in order] for path, value in values.items()}
    paths = [path for path in values if days[path] == sorted(days[path])]
    if len(paths) != 1:
        return None
    return Extraction((Extracted(paths[0], values[paths[0]], (0, len(text)), VALUE),))


def _strip_corrections(form: Form, extraction: Extraction, situation: ReadingSituation) -> Extraction:
    """The extraction with texts as meant: "Dan Pryce" of "my name is actually Dan Pryce"."""
    texts = {field.path for field in form.leaves if field.spec.kind is Kind.TEXT and not field.spec.long}
    extracted = [
        replace(item, value=strip_correction(item.value, situation)) if item.field in texts else item
        for item in extraction.extracted
    ]
    return replace(extraction, extracted=tuple(extracted))


def _read_two_changes(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    asked_path: str | None,
    is_expected: bool,
) -> Extraction | None:
    """Read two changes in one message: "we're 4 now, and circle rather than stalls", "the hours, 7. and …".

    Null unless both are read, for different fields.
    """
    if len(text) > _MAX_IN_TWO:
        return None
    for joint in islice(_CHANGE_JOINT.finditer(text[:MAX_IN_CLAUSES]), _MOST_JOINTS):
        parts = text[: joint.start()], text[joint.end() :]
        direct_changes = [
            read_contrast(form, part, held, situation) or read_named_change(form, part, held, situation, asked_path)
            for part in parts
        ]
        if not (is_expected or any(direct_changes)):
            continue
        changes = [
            change
            or _read_change(form, part, held, situation, asked_path=asked_path, is_expected=True)
            or read_named_field(
                form,
                part,
                find_fields_to_ask_again(form, part, held, situation, is_expected=True),
                held,
                situation,
                takes_any_text=True,
            )
            for change, part in zip(direct_changes, parts, strict=True)
        ]
        extracted = [item for change in changes if change for item in change.extracted]
        is_read = all(change and change.extracted and not change.rejected for change in changes)
        if is_read and len({item.field for item in extracted}) == len(extracted):
            return Extraction(tuple(extracted))
    return None


def _answers_yes_or_no(asked_field: Field | None, text: str, situation: ReadingSituation) -> bool:
    """True for a yes to the asked field without another value, and for a no to what somebody has already."""
    if asked_field is None or asked_field.spec.kind is not Kind.YES_NO or any(map(str.isdigit, text)):
        return False
    spec = asked_field.spec
    return read_value(spec, text, situation).value is True or keeps_own(spec, text, situation)


def _read_own_words(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> Extraction | None:
    """The other answer to the only question whose own words a message has: "please don't store them"."""
    fields = [field for field in form.leaves if field.path in held and field.spec.kind is Kind.YES_NO]
    values = {field.path: read_own_words(field.spec, text, situation) for field in fields}
    changed = {path: value for path, value in values.items() if value is not None and value != held[path]}
    if len(changed) != 1 or len(text.split()) == 1:
        return None
    return Extraction(tuple(Extracted(path, value, (0, len(text)), VALUE) for path, value in changed.items()))


def find_fields_to_ask_again(
    form: Form,
    text: str,
    held: Collection[str],
    situation: ReadingSituation,
    *,
    asked_path: str | None = None,
    is_expected: bool = False,
) -> list[str]:
    """The fields that a message wants to change without a new value: "change the date", "the phone number is wrong".

    Not one that answers the yes or no of the asked field: "nope, first time".
    """
    asked_field = form.field(asked_path) if asked_path else None
    is_answer = asked_field is not None and asked_field.spec.kind is Kind.YES_NO
    if asked_field and is_answer and read_value(asked_field.spec, text, replace(situation, is_asked=True)).has_value:
        return []
    if len(text) > _MAX_NAMING or not (is_expected or is_correction(text, situation)):
        return []
    if _only_leaves(text, situation):
        return []
    reading = Reading(text)
    fields = [field for field in form.leaves if field.path in held]
    mentions = find_mentions(reading, fields)
    paths = [
        name.field.path
        for name in mentions
        if not reading.is_question(name.start)
        and not reading.is_denied(name.start, name.start)
        and not keeps_value(reading.quote(*reading.clause(name.start)), situation)
    ]
    return paths if mentions else _find_by_title_word(reading, fields, situation)


def answers_asked_field(form: Form, text: str, situation: ReadingSituation, asked_path: str | None) -> bool:
    """True when a message has a value of the asked field, whatever other field its words may name."""
    field = form.field(asked_path) if asked_path else None
    if field is None or field.spec.kind in NOT_READ or field.spec.kind is Kind.YES_NO:
        return False
    rest = strip_correction(text, situation)
    is_whole = any(
        read_value(field.spec, part, situation).has_value for part in (text, rest, find_core(text, situation))
    )
    spans = find_values(list_specs(form, [field]), text, situation)
    return is_whole or any(reading.has_value for span in spans for reading in span.readings.values())


def _only_leaves(text: str, situation: ReadingSituation) -> bool:
    """True for "actually no, leave that, the trees can wait": no clause but the one that stops corrects anything."""
    if puts_off_subject(text):
        return True
    others = (clause for clause in _CLAUSE_SIGN.split(text) if not wants_to_leave(clause))
    return has_leaving_clause(text) and not any(is_correction(clause, situation) for clause in others)


def read_named_field(
    form: Form,
    text: str,
    paths: Sequence[str],
    held: Mapping[str, Json],
    situation: ReadingSituation,
    *,
    takes_any_text: bool = False,
) -> Extraction | None:
    """The value behind the words that name the only field: "the budget is wrong, 350".

    `takes_any_text`: the last answer asked what to change, so that "the driver. Tom Marr" need not be like the value
    that is held.
    """
    field = form.field(paths[0]) if len(paths) == 1 else None
    if field is None or field.spec.kind is Kind.YES_NO or is_shift(text, situation):
        return None
    starts = [sign.end() for sign in _CLAUSE_SIGN.finditer(text)]
    if field.spec.kind is not Kind.TEXT or takes_any_text:
        reading = Reading(text)  # "No, the code HH-TX 777"
        starts += [reading.span(name.start, name.end)[1] for name in find_mentions(reading, [field])]
    for start in starts:
        words = strip_correction(text[start:], situation)
        if field.spec.kind is Kind.TEXT:
            words = strip_tail(cut_spelling(words, get_language(situation.locale)).strip(" .!"), situation)
            is_new = takes_any_text and _may_be_new_text(field, words, held.get(field.path), situation)
            is_new = is_new or is_like_held(field, words, held.get(field.path), situation)
            if is_new and not form.breaks(field, words):
                return Extraction((Extracted(field.path, words, (start, len(text)), VALUE),))
            continue
        value = read_value(field.spec, words, situation)
        if value.has_value and value.value != held.get(field.path) and not form.breaks(field, value.value):
            return Extraction((Extracted(field.path, value.value, (start, len(text)), VALUE),))
    return None


def _may_be_new_text(field: Field, words: str, held: Json, situation: ReadingSituation) -> bool:
    """True for a short text that neither tells nor asks anything."""
    language = get_language(situation.locale)
    is_short = any(map(str.isalnum, words)) and len(words.split()) <= MAX_NAME_WORDS + 1 and words != held
    tells = is_correction(words, situation) or has_sentence_word(words, language) or denies(words, situation)
    return is_short and not (tells or "?" in words or is_courtesy(words)) and is_plausible_text(words, field)


def _find_by_title_word(reading: Reading, fields: Sequence[Field], situation: ReadingSituation) -> list[str]:
    """The only field with a word of the message in its title, "the house number", or of the kind that it names."""
    language = get_language(situation.locale)
    words = [
        word
        for word in reading.words(0, len(reading.text))
        if len(word) > 2 and word not in FILLERS and not any(language.is_in(table, word) for table in _SMALL_WORDS)
    ]
    kinds = language.words["kind_names"]
    by_title = [field.path for field in fields if not set(field.spec.words).isdisjoint(words)]
    by_kind = [field.path for field in fields if not set(kinds.get(field.spec.kind.value, ())).isdisjoint(words)]
    is_name = any(word.endswith("name") and language.is_in("name_fields", word) for word in words)
    by_name = [field.path for field in fields if is_name and is_name_field(field.spec, language)]  # "My surname"
    return next((paths for paths in (by_title, by_kind, by_name) if len(paths) == 1), [])


def _add_answer(
    form: Form, text: str, extraction: Extraction, situation: ReadingSituation, asked_path: str | None
) -> Extraction:
    """The extraction with the answer in a clause of its own: the time of "11. No sorry, make that Friday"."""
    field = form.field(asked_path) if asked_path else None
    touched = {item.field for item in extraction.extracted} | {item.field for item in extraction.rejected}
    if field is None or field.path in touched or field.spec.kind not in _ANSWERED_BESIDE or "?" in text:
        return extraction
    clauses = [clause.strip(" .") for clause in CLAUSE_GAP.split(text) if any(map(str.isalnum, clause))]
    readings = (read_value(field.spec, clause, situation) for clause in clauses if not denies(clause, situation))
    values = {reading.value for reading in readings if reading.has_value}
    if len(values) != 1 or form.breaks(field, value := values.pop()):
        return extraction
    added = Extracted(field.path, value, (0, len(text)), VALUE)
    return replace(extraction, extracted=(*extraction.extracted, added))


def _read_moment_in_clause(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The other day or time in the only clause that says nothing else: "my wife is away, so could we do the 14th?".

    The other clauses must tell something, and answer nothing.
    """
    asked_field = form.field(asked_path) if asked_path else None
    if (asked_field is not None and asked_field.spec.kind in MOMENTS) or has_leaving_clause(text):
        return None
    languages = [get_language(locale) for locale in (situation.locale, situation.fallback_locale) if locale]
    is_text = asked_field is not None and asked_field.spec.kind is Kind.TEXT
    is_note = is_text and not any(is_name_field(asked_field.spec, language) for language in languages if asked_field)
    clauses = [clause for clause in CLAUSE_GAP.split(text[:MAX_IN_CLAUSES]) if any(map(str.isalnum, clause))]
    bare = [clause for clause in clauses if _is_bare(form, clause, held, situation, asked_path, MOMENTS)]
    others = [clause for clause in clauses if clause not in bare]
    tell = (any(has_sentence_word(clause, language) for language in languages) for clause in others)
    if (is_note and "?" not in text) or len(bare) != 1 or not any(tell) or is_shift(bare[0], situation):
        return None
    if any(language.is_in("additions", word) for language in languages for word in fold(bare[0]).split()):
        return None
    missing = [field.path for field in form.leaves if field.path not in held]
    asked_paths = [asked_path] if asked_path else []
    rest = extract(form, text, asked_paths=asked_paths, missing=missing, situation=situation)
    extraction = extract(form, bare[0], situation=situation, preferred_paths=[list(held)])
    changed = {item.field for item in extraction.extracted} | {item.field for item in extraction.rejected}
    if not changed or not changed <= {field.path for field in form.leaves if field.spec.kind in MOMENTS}:
        return None
    own = tuple(item for item in rest.extracted if item.field not in changed and item.field not in held)
    if not changes_values(extraction, held):
        return None
    moments = complete_moments(form, bare[0], extraction, held, situation)
    return replace(moments, extracted=(*moments.extracted, *own))


def _read_whole_correction(
    form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation, asked_path: str | None
) -> Extraction | None:
    """The rest of "nein, der 5." as the value of the only field that takes it."""
    rest = strip_correction(text, situation)
    if rest == text or not _reads_any(form, rest, held, situation):
        rest = find_core(text, situation)
    if not rest or rest == text or denies(_SIGN.split(text[: text.index(rest)])[-1], situation):
        return None  # "No thanks, not on Friday" names no day.
    unread = NOT_READ if blank_leading_no(text, situation) == text else (*NOT_READ, Kind.CHOICE)
    local = replace(situation, is_asked=False)
    readings = {
        field: reading
        for field in form.leaves
        if (field.path in held or field.path == asked_path) and field.spec.kind not in unread
        if (reading := read_value(field.spec, rest, local)).has_value
    }
    if len(readings) != 1:
        return None
    ((field, reading),) = readings.items()
    if field.path not in held or reading.value == held[field.path] or form.breaks(field, reading.value):
        return None
    start = text.index(rest)
    return Extraction((Extracted(field.path, reading.value, (start, start + len(rest)), VALUE),))


def _reads_any(form: Form, text: str, held: Mapping[str, Json], situation: ReadingSituation) -> bool:
    """True when the whole text is a value of a field that holds one."""
    fields = (field for field in form.leaves if field.path in held and field.spec.kind not in NOT_READ)
    return any(read_value(field.spec, text, replace(situation, is_asked=False)).has_value for field in fields)


def _chooses(form: Form, extraction: Extraction, held: Mapping[str, Json]) -> bool:
    """True when a choice changes: "no pain" does not choose the pain."""
    fields = [form.field(item.field) for item in extraction.extracted if item.field in held]
    return any(field is not None and field.spec.kind is Kind.CHOICE for field in fields)


def _is_bare(
    form: Form,
    text: str,
    held: Mapping[str, Json],
    situation: ReadingSituation,
    asked_path: str | None,
    kinds: Collection[Kind] = (),
) -> bool:
    """True when a message is another value of a field that has one, and says nothing else: "Tuesday please".

    `kinds`: only values of these kinds count; default all that tell which field they are for.
    """
    asked_field = form.field(asked_path) if asked_path else None
    if len(text) > _MAX_BARE or (asked_field is not None and asked_field.spec.long):
        return False
    is_text_asked = asked_field is not None and asked_field.spec.kind is Kind.TEXT
    fields = [
        field for field in form.leaves if (field.spec.kind in kinds if kinds else _is_telling(field, is_text_asked))
    ]
    if not any(field.path in held for field in fields):
        return False
    reading = Reading(text)
    spans = [
        (span.start, span.end, tuple(span.readings))
        for span in find_values(list_specs(form, fields), text, situation)
        if not is_passing_moment(text[span.start : span.end], situation)
    ]
    inclusions = read_inclusions(reading, [field for field in fields if field.spec.kind is Kind.YES_NO], situation)
    spans += [(*reading.span(item.start, item.end), (item.field.path,)) for item in inclusions]
    spans.sort()
    if not any(asked_path not in paths and any(path in held for path in paths) for _, _, paths in spans):
        return False
    ends = [0, *(end for _, end, _ in spans)]
    starts = [*(start for start, _, _ in spans), len(text)]
    return has_only_fillers((text[end:start] for end, start in zip(ends, starts, strict=True)), situation)


def _answers(form: Form, text: str, situation: ReadingSituation, asked_path: str | None) -> bool:
    """True when the whole message is a value of the asked field: "1h" where a duration is asked for is no time."""
    field = form.field(asked_path) if asked_path else None
    return field is not None and field.spec.kind in _ANSWERED and read_value(field.spec, text, situation).has_value


def _is_telling(field: Field, is_text_asked: bool) -> bool:
    return field.spec.kind in _TELLING and not (is_text_asked and field.spec.kind is Kind.CHOICE)
