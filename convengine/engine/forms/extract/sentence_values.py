"""Values inside sentences, as people say them: "tomorrow at 3 for a check-up" (R114). `engine.values` finds them."""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from convengine.engine.forms.asking import sort_fields
from convengine.engine.forms.extract.answer import is_plausible_text
from convengine.engine.forms.extract.candidate import (
    ANSWER,
    DIRECTION,
    FORMAT,
    LABEL,
    NUMBER,
    UNIT,
    VALUE,
    X_EXTRACT,
    Candidate,
)
from convengine.engine.forms.extract.directions import leads_from, leads_to
from convengine.engine.forms.extract.labels import find_mentions
from convengine.engine.forms.extract.language import DESCRIBES, VAGUE
from convengine.engine.forms.extract.negated_or_hypothetical import is_negated_or_hypothetical
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.resolve import AMBIGUOUS, ResolvedCandidates
from convengine.engine.forms.form import Field, Form
from convengine.engine.text.words import FILLERS
from convengine.engine.values import (
    FieldSpec,
    Kind,
    Outcome,
    ReadingSituation,
    ValueSpan,
    concludes,
    find_values,
    has_only_fillers,
    is_correction,
    is_indifferent,
    is_passing_moment,
    read_value,
)
from convengine.engine.values import Reading as ValueReading
from convengine.engine.values.choices import stem_words
from convengine.engine.values.date_times import add_known_hours
from convengine.engine.values.language import Language, get_language, list_languages
from convengine.engine.values.names import (
    cut_behind_name,
    find_introduction,
    find_introduction_of_other,
    find_related_person,
    has_sentence_word,
    is_name_field,
    names_other_kind,
    takes_name_of_other,
)
from convengine.engine.values.numbers import asks_for_limit
from convengine.engine.values.own_things import keeps_own
from convengine.engine.values.read import list_situations
from convengine.engine.values.reading import Reason
from convengine.engine.values.tokens import fold_text
from convengine.engine.values.yes_or_no import find_addition, find_inclusion

Json = Any
#: Kinds that are not looked for: free text, and what the other readers know completely.
_NOT_SOUGHT = (Kind.TEXT, Kind.YES_NO, Kind.PATTERN, Kind.EMAIL)
#: Kinds that the other readers of sentences know well: what they read stays.
_KNOWN_KINDS = (Kind.CHOICE, Kind.NUMBER)
#: Readings whose words name the field.
_NAMING = (LABEL, DIRECTION, X_EXTRACT)
_AMOUNTS = (Kind.NUMBER, Kind.MONEY, Kind.DURATION)
#: Parts of a message that may each answer another question.
_JOINT = re.compile(r"[,;:!?\n]+|\.(?=\s|$)|\s[–-]\s|\b(?:and|und)\b")
#: Kinds of values for which two fields can share a range, such as "from Friday to Sunday".
_IN_PAIRS = (Kind.DATE, Kind.TIME, Kind.DATE_TIME)
_FROM = re.compile(r"\b(?:from|starting|ab|von|vom)\s+(?:on\s+|the\s+)*$")
_UNTIL = re.compile(r"\b(?:to|until|till|til|through|bis)\s+(?:on\s+|the\s+|zum\s+)*$")
_SEPARATED = re.compile(r"(?:[,;.\n]|\b(?:and|und))\s*(?:\w+\s+){0,2}$")
#: How many words a name between other values has, and what each looks like.
_FEWEST_NAMES, _MOST_NAMES, _SHORTEST_NAME = 2, 4, 3
#: How many words a name without capitals has behind "her name is".
_MOST_SMALL_NAMES = 2
_NAME = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*\.?")
_CAPITAL_WORDS = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w'’-]*(?: [^\W\d_a-zß-öø-ÿ][\w'’-]*){0,3}")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_LAST_WORD = re.compile(r"\s+(\w+)\s*$")
_EDGES = " \t\r\n.,;:!?…–-"


def read_sentence_values(
    reading: Reading,
    form: Form,
    fields: Sequence[Field],
    situation: ReadingSituation,
    preferred_paths: Sequence[Collection[str]],
) -> list[Candidate]:
    """The values of these fields in a message, one for each field; several different ones are AMBIGUOUS.

    `preferred_paths`: of several fields that could take a value, those of the first of these groups do.
    """
    if not any(char.isalnum() for char in reading.original):
        return []
    typed = sort_fields(form, (field for field in fields if field.spec.kind not in _NOT_SOUGHT))
    spans = find_values(list_specs(form, typed), reading.original, situation) if typed else []
    spans = [span for span in spans if not _passes(reading, span, situation)]
    things = [field for field in fields if field.spec.kind is Kind.YES_NO]
    included = list(read_inclusions(reading, things, situation))
    asks_text = any(field.spec.kind is Kind.TEXT and field.path in preferred_paths[0] for field in fields)
    taken = [*(_to_text_span(reading, span) for span in spans), *((item.start, item.end) for item in included)]
    others = [] if asks_text else [field for field in things if all(item.field is not field for item in included)]
    candidates = [
        *_assign_spans(reading, spans, typed, situation, preferred_paths),
        *included,
        *_read_named_things(reading, others, situation, taken),
    ]
    candidates = _drop_taken_back(reading, candidates, situation, preferred_paths)
    candidates.sort(key=lambda candidate: candidate.field.path)
    by_field = groupby(candidates, key=lambda candidate: candidate.field.path)
    values = [_choose_value(reading, list(listed), situation) for _, listed in by_field]
    return sorted(values, key=lambda value: value.start)


def _drop_taken_back(
    reading: Reading,
    candidates: list[Candidate],
    situation: ReadingSituation,
    preferred_paths: Sequence[Collection[str]],
) -> list[Candidate]:
    """The candidates without a day that is taken back for one of a preferred field: "yesterday. No, Monday" names one
    day, and that before it is for no other field.
    """
    wanted = {path for group in preferred_paths[:1] for path in group}
    days = [candidate for candidate in candidates if candidate.field.spec.kind in _IN_PAIRS]
    taken = [
        (candidate, next((day for day in days if day.field.path in wanted and day.start >= candidate.end), None))
        for candidate in days
        if candidate.field.path not in wanted
    ]
    dropped = [
        candidate
        for candidate, day in taken
        if day is not None
        and candidate.field.spec.kind is day.field.spec.kind
        and is_correction(reading.quote(candidate.end, day.start), situation)
    ]
    return [candidate for candidate in candidates if candidate not in dropped]


def _passes(reading: Reading, span: ValueSpan, situation: ReadingSituation) -> bool:
    """True for the "now" of "actually we're more like 95 now"."""
    text = unicodedata.normalize("NFC", reading.original)
    around = [text[: span.start], text[span.end :]]
    return is_passing_moment(text[span.start : span.end], situation) and not has_only_fillers(around, situation)


def list_specs(form: Form, fields: Sequence[Field]) -> list[FieldSpec]:
    """The specs of these fields, which know whether the form has two fields of their kind."""
    kinds = [field.spec.kind for field in form.leaves]
    return [
        replace(field.spec, is_paired=True) if field.spec.kind in _IN_PAIRS and kinds.count(field.spec.kind) > 1
        else field.spec
        for field in fields
    ]  # fmt: skip


def read_inclusions(reading: Reading, fields: Sequence[Field], situation: ReadingSituation) -> Iterator[Candidate]:
    """Yes and no by the name of the field: "with breakfast", "ohne Frühstück", "the breakfast we bring ourselves"."""
    for mention in find_mentions(reading, fields) if fields else ():
        if reading.is_question(mention.start):
            continue
        if keeps_own(mention.field.spec, reading.original, situation):
            yield Candidate(mention.field, *reading.clause(mention.start), False, VALUE)
            continue
        if inclusion := find_inclusion(reading.before(mention.start), situation):
            includes, size = inclusion
            yield Candidate(mention.field, mention.start - size, mention.end, includes, VALUE)
        elif size := find_addition(reading.text[mention.end :], situation):
            yield Candidate(mention.field, mention.start, mention.end + size, True, VALUE)


def _read_named_things(
    reading: Reading, fields: Sequence[Field], situation: ReadingSituation, values: Sequence[tuple[int, int]]
) -> Iterator[Candidate]:
    """Yes to a thing that a clause wishes for by its name, beside other values and small words: "we need it on Friday,
    with a double lesson", "am Donnerstag bräuchte ich eine Doppelstunde".
    """
    mentions = find_mentions(reading, fields) if fields else []
    taken = [*values, *((mention.start, mention.end) for mention in mentions)]
    for mention in mentions:
        begin, end = reading.clause(mention.start)
        if mention.cut or reading.is_question(mention.start):
            continue
        before = _list_words_beside(reading, begin, mention.start, taken)
        after = _list_words_beside(reading, mention.end, end, taken)
        behind_value = max((last for _, last in taken if begin <= last <= mention.start), default=begin)
        lead = [fold_text(word) for word in _WORD.findall(reading.quote(behind_value, mention.start))]
        if any(
            _wishes_only(
                mention.field,
                [*before, *after],
                lead,
                get_language(local.locale),
                is_beside_value=any(begin <= first and last <= end for first, last in values),
            )
            for local in list_situations(situation)
        ):
            yield Candidate(mention.field, mention.start, mention.end, True, VALUE)


def _list_words_beside(reading: Reading, start: int, end: int, values: Sequence[tuple[int, int]]) -> list[str]:
    """The words of a part of the message that belong to none of the values."""
    parts, position = [], start
    for first, last in sorted(values):
        if start <= first and last <= end:
            parts.append(reading.quote(position, max(position, first)))
            position = max(position, last)
    return [fold_text(word) for part in (*parts, reading.quote(position, end)) for word in _WORD.findall(part)]


def _wishes_only(
    field: Field, words: Sequence[str], lead: Sequence[str], language: Language, *, is_beside_value: bool
) -> bool:
    """True when the words around the name of a thing are small or the question's, and lead to nothing else.

    "Breakfast" and "the breakfast" alone are no wish, and neither is "do we need breakfast". `lead`: the words directly
    before the name.
    """
    own = {stem for word in field.spec.question for stem in stem_words(fold_text(word), language)}
    last = next((word for word in reversed(lead) if not language.is_in("things_articles", word)), "")
    if any(language.is_in(table, last) for table in ("possessives", "leads_of_other_things")):
        return False
    if words and language.is_in("question_verbs", words[0]):
        return False
    is_wish = is_beside_value or any(language.is_in("wishing_words", word) for word in words)
    return is_wish and all(
        language.is_in("wish_words", word) or own.issuperset(stem_words(word, language)) for word in words
    )


def _assign_spans(
    reading: Reading,
    spans: Sequence[ValueSpan],
    fields: Sequence[Field],
    situation: ReadingSituation,
    preferred_paths: Sequence[Collection[str]],
) -> Iterator[Candidate]:
    """A candidate for each span. A span of several fields belongs to the named, the preferred or the next one."""
    by_path = {field.path: field for field in fields}
    mentions = find_mentions(reading, fields) if any(span.field is None for span in spans) else []
    settled = {span.field for span in spans}
    # As many values as fields: "Friday … Sunday" in the order of the form.
    in_order = {
        paths: iter(paths)
        for paths, listed in groupby(sorted(tuple(span.readings) for span in spans if span.field is None))
        if len(list(listed)) == len(paths) and by_path[paths[0]].spec.kind is not Kind.CHOICE
    }
    last = 0
    for number, span in enumerate(spans):
        start, end = _to_text_span(reading, span)
        is_day = all(by_path[path].spec.kind is Kind.DATE for path in span.readings)
        is_choice = all(by_path[path].spec.kind is Kind.CHOICE for path in span.readings)
        if _is_general(reading, start, end, is_choice):
            continue
        path, paths = span.field, tuple(span.readings)
        if path is None:
            following = _to_text_span(reading, spans[number + 1])[0] if number + 1 < len(spans) else len(reading.text)
            clause = reading.clause(start)
            before = [name for name in mentions if max(last, clause[0]) <= name.start < start]
            after = [name for name in mentions if end <= name.start < min(following, clause[1])]
            named = [name.field.path for name in (*reversed(before), *after) if name.field.path in paths]
            if not named and len({name.field.path for name in mentions}) == 1:
                # "The return is wrong, it should be 4 June"
                named = [name.field.path for name in mentions if name.end <= start and name.field.path in paths]
            named = named or _find_by_direction(reading, start, [by_path[path] for path in paths])
            named = named or _find_by_own_words(
                reading,
                (max(last, clause[0]), start, end, min(following, clause[1])),
                [by_path[path] for path in paths],
                situation,
            )
            free = [path for path in paths if path not in settled]
            groups = ([path for path in free if path in group] for group in preferred_paths)
            wanted = next((group for group in groups if group), [])
            if named:
                path = named[0]
            elif paths in in_order:
                path = next(in_order[paths])
            elif len(wanted) == 1:
                path = wanted[0]
            elif (
                len(future := [path for path in free if not _is_of_past(by_path[path])]) == 1 and not wanted and is_day
            ):
                path = future[0]  # "On Thursday" is no birthday.
            elif not wanted and _are_two_days(free, paths, by_path):
                # "A van tomorrow" and "Lovely, on 1 September then": the first day of a stay comes first.
                path = None if _UNTIL.search(reading.before(start)) else free[0]
        last = end
        if path is not None and not _is_bounded(reading, by_path[path], start, end):
            settled.add(path)
            yield _make_candidate(reading, by_path[path], start, end, span.readings[path])


def _is_of_past(field: Field) -> bool:
    """True for a day that is over, such as a birthday."""
    return isinstance(field.spec.maximum, str) and field.spec.maximum.strip() == "today"


def _are_two_days(free: Sequence[str], paths: Sequence[str], by_path: Mapping[str, Field]) -> bool:
    """True when a span may be either of two days or moments that are both open."""
    kinds = {by_path[path].spec.kind for path in paths}
    return len(free) == len(paths) == 2 and kinds in ({Kind.DATE}, {Kind.DATE_TIME})


def _find_by_own_words(
    reading: Reading, clause: tuple[int, int, int, int], fields: Sequence[Field], situation: ReadingSituation
) -> list[str]:
    """The field with the most words of the clause that no other one has in its name or question: "bringing it back".

    `clause`: where the clause and the value in it begin, and where the value and the clause end.
    """
    begin, start, end, stop = clause
    language = get_language(situation.locale)
    stems = {
        stem_words(fold_text(word), language)
        for word in (*reading.words(begin, start), *reading.words(end, stop))
        if not language.is_in("fillers", fold_text(word))
    }
    own = [
        {stem_words(fold_text(word), language) for word in (*field.spec.words, *field.spec.question)}
        for field in fields
    ]
    counts = [len(words & stems - set().union(*own[:index], *own[index + 1 :])) for index, words in enumerate(own)]
    return [fields[counts.index(max(counts))].path] if max(counts) and counts.count(max(counts)) == 1 else []


def _find_by_direction(reading: Reading, start: int, fields: Sequence[Field]) -> list[str]:
    """The field that begins or ends something, behind "from" or "until"; none if it is not one of them."""
    before = reading.before(start)
    if len(fields) == 2 and all(field.spec.kind in _IN_PAIRS for field in fields):
        # Of two days, the first field of the form begins, whatever it is called: arrival, departure, collection.
        ends = (pattern.search(before) for pattern in (_FROM, _UNTIL))
        return [field.path for field, is_end in zip(fields, ends, strict=True) if is_end]
    for pattern, leads in ((_FROM, leads_from), (_UNTIL, leads_to)):
        paths = [field.path for field in fields if leads(field)]
        if pattern.search(before) and len(paths) == 1:
            return paths
    return []


def _is_bounded(reading: Reading, field: Field, start: int, end: int) -> bool:
    """True for an amount that is a limit or is denied, "at least 5 seats", unless the field is a limit itself."""
    if field.spec.kind not in _AMOUNTS or asks_for_limit(field.spec.words):
        return False
    return is_negated_or_hypothetical(reading, field, start, end)


def _is_general(reading: Reading, start: int, end: int, is_choice: bool) -> bool:
    """True for words too general to name a choice in passing, for greetings, and for a part of a longer word."""
    words = reading.words(start, end)
    if reading.text[end : end + 1].isalnum() and reading.text[end - 1 : end].isalnum():
        return True  # Not in "20.6.18 Uhr"
    greets = any(first < end and start < last for first, last in reading.greetings)
    return greets or (is_choice and all(word in VAGUE for word in words))


def _to_text_span(reading: Reading, span: ValueSpan) -> tuple[int, int]:
    """The position in the folded text. Spans count in the text in Unicode form NFC."""
    message = reading.original
    positions = [span.start, span.end]
    if not unicodedata.is_normalized("NFC", message):
        lengths = [len(unicodedata.normalize("NFC", message[:size])) for size in range(len(message) + 1)]
        positions = [next(size for size, length in enumerate(lengths) if length >= at) for at in positions]
    start, end = (reading.to_text_position(position) for position in positions)
    return start, end


def _make_candidate(reading: Reading, field: Field, start: int, end: int, value: ValueReading) -> Candidate:
    if value.has_value:
        return Candidate(field, start, end, value.value, VALUE)
    data = {**value.data, **({"candidates": list(value.candidates)} if value.candidates else {})}
    reason = value.reason.value if value.reason else AMBIGUOUS
    return Candidate(field, start, end, reading.quote(start, end), VALUE, reason, data=data)


def _choose_value(reading: Reading, candidates: list[Candidate], situation: ReadingSituation) -> Candidate:
    """The last of several values if it corrects the others: "Friday, no, Saturday"."""
    if moment := _join_halves(candidates, situation, reading):
        return moment
    last = candidates[-1]
    others = [candidate for candidate in candidates if candidate.value != last.value]
    gaps = [reading.quote(other.end, last.start) for other in others]
    if not others or all(is_correction(gap, situation) or concludes(gap, situation) for gap in gaps):
        return last
    valid = [candidate.value for candidate in candidates if candidate.problem is None]
    if len(valid) == 1:
        return next(candidate for candidate in candidates if candidate.problem is None)
    words = reading.quote(candidates[0].start, last.end)
    return replace(last, start=candidates[0].start, value=words, problem=AMBIGUOUS, data={"candidates": valid})


def _join_halves(candidates: Sequence[Candidate], situation: ReadingSituation, reading: Reading) -> Candidate | None:
    """The moment whose only day and only time stand apart: "on the 16th, but at 11 o'clock"."""
    days, times = (
        [candidate for candidate in candidates if candidate.problem == reason]
        for reason in (Reason.TIME_MISSING, Reason.DATE_MISSING)
    )
    if len(candidates) != 2 or len(days) != 1 or len(times) != 1 or not days[0].data.get("date"):
        return None
    (day,), (time,) = days, times
    if not reading.quote(*sorted((day.start, day.end, time.start, time.end))[1:3]).strip():
        return None  # The grammar would have read them together: "1 May at 9:30 am utc".
    local = replace(situation, known_part=_write_known_day(day.data), is_asked=True)
    value = read_value(time.field.spec, reading.quote(time.start, time.end), local)
    start, end = min(day.start, time.start), max(day.end, time.end)
    return _make_candidate(reading, time.field, start, end, value) if value.has_value or value.candidates else None


def _write_known_day(data: Mapping[str, Json]) -> str:
    """The known part of a moment that a refusal names: the day, and the hours that are meant on it."""
    return add_known_hours(data["date"], data["hours"]) if "hours" in data else str(data["date"])


def keep_filled_fields(
    reading: Reading,
    resolution: ResolvedCandidates,
    open_fields: Sequence[Field],
    situation: ReadingSituation,
    *,
    is_text_asked: bool = False,
) -> ResolvedCandidates:
    """The candidates without those that would change another field, although nothing names it and more is said.

    `is_text_asked`: an option that is the whole message is the text then.
    """
    paths = {field.path for field in open_fields}
    is_any = is_indifferent(reading.original, situation)

    def keep(candidates: Collection[Candidate]) -> tuple[Candidate, ...]:
        return tuple(
            item
            for item in candidates
            if item.by in _NAMING
            or item.field.path in paths
            or (
                not is_any
                and not (is_text_asked and item.field.spec.kind is Kind.CHOICE)
                and _is_whole_message(reading, item)
            )
        )

    return replace(resolution, chosen=keep(resolution.chosen), doubtful=keep(resolution.doubtful))


def _is_whole_message(reading: Reading, candidate: Candidate) -> bool:
    words = [*reading.words(0, candidate.begins), *reading.words(candidate.end, len(reading.text))]
    return FILLERS.issuperset(words)


def merge_sentence_values(
    reading: Reading, resolution: ResolvedCandidates, values: Sequence[Candidate]
) -> ResolvedCandidates:
    """The candidates of the other readers with these values. Words that a surer reader used are not read twice."""
    chosen, doubtful = list(resolution.chosen), list(resolution.doubtful)
    for value in values:
        path = value.field.path
        own = [candidate for candidate in chosen if candidate.field.path == path]
        if path in resolution.denied or (path in resolution.negated and value.field.spec.kind in _KNOWN_KINDS):
            continue
        if any(_is_better(candidate, value) for candidate in own):
            continue
        touched = [
            candidate
            for candidate in (*chosen, *doubtful)
            if candidate.field.path != path and candidate.start < value.end and value.start < candidate.end
        ]
        cut = {id(candidate): _cut_off(reading, candidate, value) for candidate in touched}
        if any(cut[id(candidate)] is candidate for candidate in touched):
            continue
        remaining = [cut.get(id(candidate), candidate) for candidate in chosen if candidate.field.path != path]
        chosen = [*filter(None, remaining), value]
        doubtful = [candidate for candidate in doubtful if candidate.field.path != path and id(candidate) not in cut]
    return replace(resolution, chosen=tuple(chosen), doubtful=tuple(doubtful))


def _is_better(candidate: Candidate, value: Candidate) -> bool:
    """True when what another reader found for the field stays."""
    if value.field.spec.kind in _KNOWN_KINDS:
        # A refusal with its reason says more than a value that the schema refuses.
        overlaps = value.start < candidate.end and candidate.start < value.end
        return not (value.problem == Reason.OUT_OF_BOUNDS and overlaps)
    is_later = candidate.start >= value.end
    is_same = candidate.value == value.value
    return candidate.problem is None and (candidate.by == X_EXTRACT or is_same or is_later or bool(value.problem))


def _cut_off(reading: Reading, candidate: Candidate, value: Candidate) -> Candidate | None:
    """What remains of another field's candidate beside this value: nothing of numbers, the words before it of a text.

    The candidate itself if the words are its own.
    """
    if candidate.by in (NUMBER, UNIT, ANSWER) or (candidate.by == FORMAT and candidate.field.format == "phone"):
        return None if value.problem is None else candidate
    before = reading.text[candidate.start : value.start]
    if candidate.by not in (LABEL, DIRECTION) or not isinstance(candidate.value, str):
        return candidate
    separator = _SEPARATED.search(before)
    if separator is None or not before[: separator.start()].strip():
        return candidate
    end = candidate.start + len(before[: separator.start()].rstrip(_EDGES))
    return replace(candidate, end=end, value=reading.quote(candidate.start, end))


def read_beside_values(
    reading: Reading, field: Field, situation: ReadingSituation, values: Sequence[Candidate]
) -> Candidate | None:
    """The answer for the asked field in the part of a message that holds no other value.

    "John Smith, tomorrow at 3" names the person. A text is only the first part. Null when more than one part answers.
    """
    is_text = field.spec.kind is Kind.TEXT
    parts = list(_list_remaining_parts(reading, values))
    if is_text:
        parts = [part for part in parts[:1] if part[0] < min(value.begins for value in values)]
    answers = [_read_part(reading, field, situation, start, end) for start, end in parts]
    taken = [answer for answer in answers if answer]
    return taken[0] if len(taken) == 1 else None


def _read_part(reading: Reading, field: Field, situation: ReadingSituation, start: int, end: int) -> Candidate | None:
    if field.spec.kind in (Kind.TEXT, Kind.NUMBER):
        end = _cut_dangling_words(reading, start, end)  # The 2 of "2 on Friday"
    value = read_value(field.spec, reading.quote(start, end), situation)
    if value.outcome is not Outcome.VALUE:
        return None
    words = str(value.value)
    language = get_language(situation.locale)
    if is_name_field(field.spec, language) and (any(map(str.isdigit, words)) or has_sentence_word(words, language)):
        return None  # "We need 2 beds collected from …"
    says_nothing = has_only_fillers([words], situation) or DESCRIBES.issuperset(words.split())
    if field.spec.kind is Kind.TEXT and (says_nothing or not is_plausible_text(words, field)):
        return None
    return Candidate(field, start, end, value.value, ANSWER)


def _cut_dangling_words(reading: Reading, start: int, end: int) -> int:
    """The end of a text before another value without its last small words: "from the station to"."""
    languages = [get_language(code) for code in list_languages()]
    while match := _LAST_WORD.search(reading.text, start, end):
        if not any(language.is_in("dangling", fold_text(match.group(1))) for language in languages):
            break
        end = match.start()
    return end


def read_introduced_names(
    reading: Reading, fields: Sequence[Field], situation: ReadingSituation, values: Sequence[Candidate]
) -> list[Candidate]:
    """The name in "my name is Paul Klein", for the only one of these fields that is a name.

    The name in "my son is called Tom" is for the only field that takes the name of somebody who belongs to the user.
    """
    texts = [field for field in fields if field.spec.kind is Kind.TEXT]
    for local in list_situations(situation) if texts else ():
        language = get_language(local.locale)
        others = [field for field in texts if takes_name_of_other(field.spec, language)]
        names = [field for field in texts if is_name_field(field.spec, language)]
        own = [field for field in names if field not in others] or names
        candidates: dict[str, Candidate] = {}
        for start, end in _list_remaining_parts(reading, values):
            quote, (first, _) = reading.quote(start, end), reading.span(start, end)
            behind = find_introduction_of_other(quote, language)
            if behind is None and not reading.is_shouting:
                related = find_related_person(quote, language)
                behind = related if related and _CAPITAL_WORDS.match(quote, related) else None
            if behind is not None and len(others) == 1:
                begin = reading.to_text_position(first + behind)
                introduction = quote[:behind]
                if _is_remark(reading.quote(begin, end)) or names_other_kind(others[0].spec, introduction, language):
                    continue
                name = _read_part(reading, others[0], local, begin, _find_end_of_name(reading, begin, end))
            elif (behind := find_introduction(quote, language)) is not None and len(own) == 1:
                name = _read_part(reading, own[0], local, reading.to_text_position(first + behind), end)
                name = name and replace(name, value=cut_behind_name(str(name.value), language))
            else:
                continue
            if name is not None:
                candidates.setdefault(name.field.path, name)
        if candidates:
            return list(candidates.values())
    return []


def _is_remark(text: str) -> bool:
    """True for "hard to spell" behind "her name is": more words than a small name has, and no capital first."""
    return len(text.split()) > _MOST_SMALL_NAMES and not _CAPITAL_WORDS.match(text)


def _find_end_of_name(reading: Reading, start: int, end: int) -> int:
    """The end of the words that are written like a name; the whole part where none is."""
    capital = _CAPITAL_WORDS.match(reading.quote(start, end))
    return start + capital.end() if capital and not reading.is_shouting else end


def read_listed_name(
    reading: Reading,
    fields: Sequence[Field],
    asked_paths: Collection[str],
    situation: ReadingSituation,
    values: Sequence[Candidate],
) -> Candidate | None:
    """The name between other values, for the only one of these fields that is a name: "Ann Bell, ann@example.org".

    It is a part of its own beside an e-mail address or a phone number, or the only other part beside two values. The
    only part is the answer where another text is asked for, and beside two values it may be any other required text:
    "King's Cross at 10 for 3 people".
    """
    language = get_language(situation.locale)
    texts = [field for field in fields if field.spec.kind is Kind.TEXT]
    names = [field for field in texts if is_name_field(field.spec, language) and field.path not in asked_paths]
    if len(names) != 1 or not values or "?" in reading.text:
        return None
    parts = list(_list_remaining_parts(reading, values))
    contacts = [value for value in values if value.field.spec.kind in (Kind.EMAIL, Kind.PHONE)]
    labels = {fold_text(word) for field in (*fields, *(value.field for value in values)) for word in field.spec.words}
    listed = [
        part
        for part in parts
        if _is_written_as_name(reading, *part, contacts, situation) and labels.isdisjoint(reading.words(*part))
    ]
    others = [reading.quote(*part) for part in parts if part not in listed and not _joins_values(reading, *part)]
    if len(listed) != 1:
        return None
    is_only_part = has_only_fillers(others, situation)
    if is_only_part and any(field.path in asked_paths for field in texts):
        return None
    is_among_values = len(values) > 1 and not any(field.required and field not in names for field in texts)
    if not any(_is_beside(reading, listed[0], contact) for contact in contacts) and not (
        is_only_part and is_among_values
    ):
        return None
    return _read_part(reading, names[0], situation, *listed[0])


def read_name_alone(reading: Reading, field: Field, situation: ReadingSituation) -> Candidate | None:
    """The name of a person that is the whole message, "Kevin Maurer", where another field is asked for."""
    end = len(reading.text.rstrip(_EDGES))
    start = len(reading.text) - len(reading.text.lstrip())
    if "?" in reading.text or not _is_written_as_name(reading, start, end, (), situation):
        return None
    words = [fold_text(word) for word in reading.quote(start, end).split()]
    for local in list_situations(situation):
        language = get_language(local.locale)
        is_described = any(
            language.is_in("no_name_beginnings", words[0].removesuffix(ending))
            for ending in map(fold_text, language.words["adjective_endings"])
        )
        if is_described or any(word in language.calendar_starts or word in language.number_words for word in words):
            return None
    return _read_part(reading, field, situation, start, end)


def _is_written_as_name(
    reading: Reading, start: int, end: int, contacts: Sequence[Candidate], situation: ReadingSituation
) -> bool:
    """True for two to four words with capitals, and for small words that an e-mail address repeats."""
    words = reading.quote(start, end).split()
    if not _FEWEST_NAMES <= len(words) <= _MOST_NAMES or not all(_NAME.fullmatch(word) for word in words):
        return False
    language = get_language(situation.locale)
    plain = [fold_text(word.rstrip(".")) for word in words]
    if has_sentence_word(" ".join(words), language) or any(
        language.is_in(table, word)
        for word in plain
        for table in ("fillers", "denials", "additions", "courtesy_after", "no_name_words")
    ):
        return False
    if all(word[0].isupper() for word in (words[0], words[-1])):
        return True
    addresses = "".join(str(contact.value).casefold() for contact in contacts if contact.field.spec.kind is Kind.EMAIL)
    return any(len(word) >= _SHORTEST_NAME and word in addresses for word in plain)


def _is_beside(reading: Reading, part: tuple[int, int], value: Candidate) -> bool:
    """True when only signs and small words stand between a part and a value."""
    first, last = (part[1], value.begins) if part[1] <= value.begins else (value.end, part[0])
    return first <= last and _joins_values(reading, first, last)


def _joins_values(reading: Reading, start: int, end: int) -> bool:
    """True for the "until" between two days: small words that join values."""
    return all(
        any(get_language(code).is_in("dangling", word) for code in list_languages())
        for word in reading.words(start, end)
    )


def _list_remaining_parts(reading: Reading, values: Sequence[Candidate]) -> Iterator[tuple[int, int]]:
    """The parts of the message between the values and the signs that separate them."""
    taken = sorted((value.begins, value.end) for value in values)
    taken += [match.span() for match in _JOINT.finditer(reading.text)]
    position = 0
    for start, end in [*sorted(taken), (len(reading.text), len(reading.text))]:
        first, last = position, max(position, start)
        while first < last and reading.text[first] in _EDGES:
            first += 1
        while first < last and reading.text[last - 1] in _EDGES:
            last -= 1
        if first < last:
            yield first, last
        position = max(position, end)
