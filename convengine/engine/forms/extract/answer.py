"""Read the whole message as the answer to the only question asked (R10)."""

import re
from dataclasses import replace
from functools import cache
from itertools import islice

from convengine.engine.forms.asking import (
    asks_to_wait,
    counts_none,
    is_courtesy,
    is_phrase,
    knows_no_value,
    refers_back,
    says_nothing,
    says_only,
)
from convengine.engine.forms.convert import clean_value
from convengine.engine.forms.extract.candidate import ANSWER, Candidate
from convengine.engine.forms.extract.directions import leads_from, leads_to
from convengine.engine.forms.extract.language import (
    ASKS,
    COMMANDS,
    CORRECTS,
    COURTESY,
    DENIES,
    DESCRIBES,
    KNOWS_NOTHING,
    LEAD_IN,
    NAMED,
    NO,
    PERSON,
    PROSE,
    SAYS_NOTHING,
    SENTENCE,
    TO_CORRECTION,
    VAGUE,
    YES,
)
from convengine.engine.forms.extract.negated_or_hypothetical import begins_with_negation, is_negated_or_hypothetical
from convengine.engine.forms.extract.place_names import asks_for_place
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import identifies, takes_money
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import find_choice
from convengine.engine.rules.patterns import PatternError, compile_pattern
from convengine.engine.text.words import fold, split_list, split_words
from convengine.engine.values import (
    Kind,
    Outcome,
    ReadingSituation,
    cut_to_conclusion,
    denies,
    find_contrasts,
    find_core,
    find_retraction,
    has_number,
    has_only_fillers,
    is_correction,
    read_opening,
    read_value,
    says_yes_or_no,
    strip_tail,
    takes_back,
)
from convengine.engine.values import Reading as ValueReading
from convengine.engine.values.date_times import read_time_limit
from convengine.engine.values.find_moments import cut_start_lead
from convengine.engine.values.language import Language, PhraseSet, get_language, list_languages
from convengine.engine.values.lone_numbers import find_lone_number
from convengine.engine.values.names import (
    cut_behind_name,
    find_introduction_of_other,
    find_only_name,
    is_name_field,
    is_wording_field,
    names_other_kind,
)
from convengine.engine.values.numbers import (
    find_named_number,
    find_only_count,
    find_only_ordinal,
    is_allowed,
    takes_year,
)
from convengine.engine.values.plain import cut_description, measure_assent
from convengine.engine.values.reading import NOTHING, Reason
from convengine.engine.values.time_ranges import cut_time_range
from convengine.engine.values.tokens import fold_text
from convengine.engine.values.unmeant_options import speaks_to_somebody
from convengine.engine.values.yes_or_no import is_undecided

#: Longest text that is reported as a rejected value.
_ATTEMPT = 60
#: What somebody types who answers with a number or a code: "4839", "AB-12".
_NUMBER = re.compile(r"#?[A-Za-z]{0,4}[ -]?\d[\w./-]*")
#: Shorter texts may say nothing: "hm", "not sure".
_SENTENCE_WORDS = 3
#: Small words without a sign behind them, which may begin a note.
_SPOKEN_LEAD = re.compile(r"\s*(?:(?:well|so|just|please|from|in|at|on|to|use|take|make)\s+)+")
#: The words in quotation marks of "write „Alles Gute!“ on it".
_QUOTED = re.compile(r"\"(.+?)\"|“(.+?)”|„(.+?)[“”]|«(.+?)»|»(.+?)«|(?<!\w)['‘](.+)['’](?!\w)")
#: A text of so many words is a sentence.
_LONG_NOTE = 5
#: Characters that may end a message.
_CLOSING = " \n.,;:!)…–-"
#: Between the clauses of an answer, and how many an answer may have.
_CLAUSE = re.compile(r"[,;!–]+(?!\d)|(?<!\d)\.(?=\s)|\s-\s|\n+|\s[:;]-?[)(D]")
_MOST_CLAUSES = 4
#: Kinds of values that are whole clauses: "first thing, 9".
_SAID_IN_CLAUSES = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION, Kind.NUMBER, Kind.MONEY)
#: Kinds whose values people deny beside the one that is meant: "not 9, 10", "not today, tomorrow".
_CONTRASTED = (Kind.NUMBER, Kind.DATE, Kind.TIME, Kind.DATE_TIME)
_OWN_NAME_END = re.compile(r"[,:.]\s")
#: Lists of words that may stand beside the name of the field.
_BEFORE_OWN_NAME = ("interjections", "things_articles", "fillers")
#: How many words behind thanks are a full name.
_FEWEST_FULL_NAME = 2
#: Digits of a number that names no place.
_LONGEST_COUNT = 2
#: Maximum number of words in a name, an id or an address.
_LONGEST = 8


def read_answer(reading: Reading, field: Field, situation: ReadingSituation) -> Candidate | None:
    """The whole message as the answer for the field that was asked for, as people say it (R109, R114)."""
    if field.type in ("array", "object"):
        return None
    start, end = _find_core(reading, field)
    if field.spec.kind is Kind.TEXT or (field.spec.kind is Kind.PATTERN and not has_whole_pattern(field)):
        answer = _read_free_text(reading, field, situation, start, end)
        return _find_only_match(reading, field) if answer is None and field.spec.kind is Kind.PATTERN else answer
    # "No budget" is no amount of zero.
    if not takes_money(field) and counts_none(reading.original, field) and is_allowed(field.spec, 0):
        return Candidate(field, 0, len(reading.text), 0, ANSWER)
    if (meant := _read_meant(reading, field, situation)) is not None:
        return Candidate(field, 0, len(reading.text), meant, ANSWER)
    if is_amount(field) and is_negated_or_hypothetical(reading, field, start, end):
        return None
    if field.spec.kind is Kind.YES_NO and is_undecided(reading.original, situation):
        return None
    if takes_money(field) and PERSON.fullmatch(reading.text, 0, start):
        return None
    core = reading.quote(start, end)
    if (
        field.spec.kind in (Kind.NUMBER, Kind.TIME)
        and not takes_year(field.spec)
        and _is_year(reading, core, situation)
    ):
        return None  # "In 2027"
    plain = _cut_correction(core, situation)
    behind_from = cut_start_lead(field.spec, core, situation)
    texts = dict.fromkeys(
        (
            reading.original.strip(),
            core,
            core.lstrip("#"),
            _cut_purpose(core, field),
            plain,
            behind_from,
            cut_time_range(core, get_language(situation.locale)) if field.spec.kind is Kind.TIME else "",
        )
    )
    readings = [(text, read_value(field.spec, text, situation)) for text in texts if text]
    for _, value in readings:
        if value.outcome is Outcome.VALUE:
            return Candidate(field, 0, len(reading.text), value.value, ANSWER)
    if field.spec.kind is Kind.PATTERN and (part := _find_only_match(reading, field)) is not None:
        return part
    if (value := _read_clause(reading.original, field, situation)).has_value:
        return Candidate(field, 0, len(reading.text), value.value, ANSWER)
    if not any(value.reason for _, value in readings):
        limit = read_time_limit(field.spec, reading.original, situation)
        readings = [(reading.original.strip(), limit)]
    text, value = next(((text, value) for text, value in readings if value.reason), ("", NOTHING))
    is_attempt = value.reason and len(text) <= _ATTEMPT
    if field.spec.kind is Kind.PATTERN and not _NUMBER.fullmatch(core):
        return None
    if not is_attempt or says_nothing(text) or is_phrase(text, "greetings", "thanks", "leave"):
        return None
    if knows_no_value(text, field):
        return None
    data = {**value.data, **({"candidates": list(value.candidates)} if value.candidates else {})}
    return Candidate(field, 0, len(reading.text), text, ANSWER, str(value.reason), data=data)


def _is_year(reading: Reading, core: str, situation: ReadingSituation) -> bool:
    """True when the digits that remain of an answer are a year behind their lead-in."""
    tokens = get_language(situation.locale).read_tokens(reading.original)
    years = [
        token.text
        for token, offset in zip(tokens.tokens, tokens.offsets, strict=True)
        if get_language(situation.locale).names_year(tokens.text, offset)
    ]
    return core in years


def _read_clause(text: str, field: Field, situation: ReadingSituation) -> ValueReading:
    """The value of the only clause that is one, "9 then, if it has to be", if no other clause has a number."""
    clauses = [clause for clause in _CLAUSE.split(text) if any(map(str.isalnum, clause))]
    if field.spec.kind not in _SAID_IN_CLAUSES or "?" in text or not 1 < len(clauses) <= _MOST_CLAUSES:
        return NOTHING
    values = [read_value(field.spec, clause, situation) for clause in clauses]
    read = [index for index, value in enumerate(values) if value.reason or value.has_value]
    others = [clause for index, clause in enumerate(clauses) if index not in read]
    if any(takes_back(clause, situation) for clause in others) or read[:1] != read:
        return NOTHING
    # "At five, I finish work at four"
    is_reason = read == [0] and all(_begins_sentence(clause, situation) for clause in others)
    if not is_reason and any(has_number(clause, situation) for clause in others):
        return NOTHING
    return values[read[0]] if read else NOTHING


def _begins_sentence(clause: str, situation: ReadingSituation) -> bool:
    """True for a clause with its own subject."""
    language = get_language(situation.locale)
    return language.is_in("clause_starts", language.read_tokens(clause).tokens[0].text)


def _find_only_match(reading: Reading, field: Field) -> Candidate | None:
    """The only part of a longer answer that has the form of the field: "only HH? then HH-TX 77"."""
    try:
        pattern = compile_pattern(field.spec.pattern.removeprefix("^").removesuffix("$"), ignore_case=False)
    except PatternError:
        return None  # The editor reports it on save.
    for text in dict.fromkeys((reading.original, reading.original.upper())):
        spans = {match.span() for match in pattern.occurrences(text) if _is_code(text, *match.span())}
        if len({text[start:end] for start, end in spans}) == 1 and len(text) == len(reading.original):
            start, end = (reading.to_text_position(position) for position in min(spans))
            is_meant = not (reading.is_question(start) or reading.is_denied(start, end))
            return Candidate(field, start, end, text[slice(*min(spans))], ANSWER) if is_meant else None
    return None


def _is_code(text: str, start: int, end: int) -> bool:
    """True for a part with a digit that is no piece of a longer word."""
    is_whole = not (text[start - 1 : start].isalnum() or text[end : end + 1].isalnum())
    return is_whole and any(map(str.isdigit, text[start:end]))


def _read_meant(reading: Reading, field: Field, situation: ReadingSituation) -> object:
    """The second of two values in "78, ach nein 87"; null where only one of them is a value."""
    if field.spec.kind in (Kind.YES_NO, Kind.CHOICE):
        return None
    contrasts = find_contrasts(reading.original, situation) if field.spec.kind in _CONTRASTED else iter(())
    retraction = find_retraction(reading.original, situation)
    for old, new in (*islice(contrasts, 1), *([retraction] if retraction else [])):  # "4, not 5"
        values = [_read_value_or_ordinal(field, part, situation) for part in _cut_pair(field, old, new, situation)]
        if values[0].outcome is not Outcome.NOTHING:
            return values[1].value
    return None


def _cut_pair(field: Field, old: str, new: str, situation: ReadingSituation) -> tuple[str, str]:
    """The two numbers of "10... no 4, she lives alone" and "3, no wait, my sister comes too so 4"."""
    if field.spec.kind is not Kind.NUMBER:
        return old, new
    meant, *others = _CLAUSE.split(new)
    is_told = others and not any(has_number(other, situation) or denies(other, situation) for other in others)
    return old.rstrip(" ,.…"), cut_to_conclusion(meant if is_told else new, situation)


def _read_value_or_ordinal(field: Field, text: str, situation: ReadingSituation) -> ValueReading:
    value = read_value(field.spec, text, situation)
    if value.has_value or field.spec.kind is not Kind.NUMBER:
        return value
    return find_only_ordinal(field.spec, text, situation)  # "The 1st floor", and then "3rd"


def _cut_correction(text: str, situation: ReadingSituation) -> str:
    """The value of "oh, 80 I meant"; blank without words of a correction, and for a denial."""
    if not is_correction(text, situation) or denies(text, situation):
        return ""
    return find_core(text, situation)


def read_count(reading: Reading, field: Field, situation: ReadingSituation) -> Candidate | None:
    """The only number of the message with what it counts: "one cockapoo", "2, a lab and a poodle", "dunno, 4?"."""
    if field.spec.kind is not Kind.NUMBER or takes_money(field) or ASKS.match(reading.text):
        return None
    asks = reading.text.rstrip().endswith("?")
    finders = (find_lone_number,) if asks else (find_only_count, find_only_ordinal, find_named_number, find_lone_number)
    values = [find(field.spec, reading.original, situation) for find in finders]
    for value in values:
        if value.has_value:
            return Candidate(field, 0, len(reading.text), value.value, ANSWER)
    for value in values:
        if value.reason is Reason.OUT_OF_BOUNDS:
            words = reading.original.strip()
            return Candidate(field, 0, len(reading.text), words, ANSWER, value.reason.value, data=value.data)
    return None


def is_amount(field: Field) -> bool:
    return field.spec.kind in (Kind.NUMBER, Kind.MONEY)


def _cut_purpose(text: str, field: Field) -> str:
    """The amount of "5000 for a new car"; blank for other fields."""
    match = re.search(rf"\s+{_compile_words('purposes')}", text, re.IGNORECASE)
    return text[: match.start()] if match and is_amount(field) else ""


@cache
def _compile_words(table: str) -> str:
    """A pattern of the words of a table in all languages, as a whole word."""
    words = {phrase for code in list_languages() for phrase in get_language(code).words[table]}
    return rf"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})\b"


def has_whole_pattern(field: Field) -> bool:
    """True when the field's pattern describes the whole value, and not only something in it."""
    return field.spec.pattern.startswith("^") and field.spec.pattern.endswith("$")


def _read_free_text(
    reading: Reading, field: Field, situation: ReadingSituation, start: int, end: int
) -> Candidate | None:
    """The text of the user; null for a question, a denial, thanks or a wish to leave, and for a sentence as a name."""
    whole = reading.original.strip()
    if says_nothing(whole) or is_phrase(whole, "leave") or fold(whole) in NO:
        return None
    if says_only(whole, "thanks") or asks_to_wait(whole):
        return None
    locales = (situation.locale, situation.fallback_locale)
    if not field.spec.long and any(says_yes_or_no(whole, locale) is not None for locale in locales):
        return None
    if field.spec.long:
        return Candidate(field, 0, len(reading.text), whole, ANSWER)
    if field.required and refers_back(whole, field):
        return None
    if knows_no_value(whole, field):
        return None
    is_count = (whole.isdigit() and len(whole) <= _LONGEST_COUNT) or (
        fold_text(whole) in get_language(situation.locale).number_words
    )
    if is_count and asks_for_place(field, situation.locale):
        return None  # "3" is no place.
    if any(read_opening(whole, locale) is not None for locale in locales) and has_only_fillers([whole], situation):
        return None  # "Yes now it's right"
    is_wording = is_wording_field(field.spec, get_language(situation.locale))
    if is_wording and (quoted := _QUOTED.search(reading.original)):
        words = next(part for part in quoted.groups() if part).strip()
        return Candidate(field, 0, len(reading.text), words, ANSWER)
    if not is_wording:
        language = get_language(situation.locale)
        whole_assent = reading.to_text_position(measure_assent(reading.original, language))  # "Sure thing, Love Dad"
        start = max(start + measure_assent(reading.quote(start, end), language), whole_assent)
        start += _measure_own_name(reading.quote(start, end), field, language)
    text = reading.text[start:end]
    asks = reading.text.rstrip().endswith("?") or ASKS.match(reading.text)
    if not text or asks or KNOWS_NOTHING.match(text) or is_phrase(text, "greetings", "leave"):
        return None
    # A sentence about the field itself may deny it: "my old address is …".
    about_itself = any(label[-1] in split_words(reading.text) for label in field.labels)
    is_short = about_itself or len(text.split()) < _SENTENCE_WORDS
    if is_short and not (is_wording and " " in text) and SAYS_NOTHING.fullmatch(text):
        return None
    if about_itself and DENIES.match(text):
        return None
    if is_wording:
        words = _read_wording(whole, situation)
        is_said = any(map(str.isalnum, words)) and not {*split_words(words)} <= {*YES, *NO}
        return Candidate(field, 0, len(reading.text), words, ANSWER) if is_said else None
    spoken = reading.quote(start, end)
    if is_name_field(field.spec, get_language(situation.locale)):
        if not any(char.isalpha() for char in spoken) or (" " in whole and is_courtesy(whole)):
            return None
        if speaks_to_somebody(whole, situation) or _introduces_other_kind(whole, field, situation):
            return None
        language = get_language(situation.locale)
        if name := find_only_name(whole, language):
            return Candidate(field, 0, len(reading.text), name, ANSWER)
        spoken = cut_behind_name(_drop_repeated_name(_drop_thanks(spoken, language)), language)
    spoken = strip_tail(spoken, situation)
    value = read_value(replace(field.spec, kind=Kind.TEXT), spoken, situation)
    if value.outcome is Outcome.REFUSED and value.reason:
        return Candidate(field, start, end, reading.quote(start, end), ANSWER, value.reason.value, data=value.data)
    if value.outcome is not Outcome.VALUE:
        return None
    words = clean_value(str(value.value)).lstrip("#")
    is_name = any(not NAMED.isdisjoint(label) for label in field.labels)
    if (is_name or about_itself or identifies(field)) and not is_plausible_text(words, field):
        return None
    folded_words = fold(words).split()
    is_note = not (is_name or about_itself or identifies(field))
    if is_note and (described := cut_description(whole, get_language(situation.locale))):
        return Candidate(field, 0, len(reading.text), described, ANSWER)
    if is_note and _SPOKEN_LEAD.fullmatch(reading.text, 0, start):
        return Candidate(field, 0, end, reading.quote(0, end).strip(), ANSWER)  # "Well done Sam"
    if is_note and (len(folded_words) >= _LONG_NOTE or (not field.required and len(folded_words) > 1)):
        # A note stays as typed: "a projector please", "I'm a bit nervous about drops".
        end = len(reading.text.rstrip(_CLOSING))
        if re.match(rf"\s*{_compile_words('sentence_starts')}", reading.text):
            return Candidate(field, 0, end, reading.quote(0, end).strip(), ANSWER)
        words = reading.quote(start + max(0, reading.quote(start, end).find(words)), end)
    if not folded_words or all(word in YES or word in NO for word in folded_words):
        return None
    if _leads_to_other_subject(reading, field, start, end):
        return None
    return Candidate(field, start, end, words, ANSWER)


def _measure_own_name(text: str, field: Field, language: Language) -> int:
    """How many characters of "achso der Name, Bernd Wolk" only name the field that is asked for."""
    first, _, rest = re.split(r"([,:.])\s+", text, maxsplit=1) if _OWN_NAME_END.search(text) else (text, "", "")
    words = [token.text for token in language.read_tokens(first).tokens]
    named = [word for word in words if word in field.spec.words]
    others = [word for word in words if word not in named]
    is_small = all(any(language.is_in(table, word) for table in _BEFORE_OWN_NAME) for word in others)
    return len(text) - len(rest) if rest and named and is_small else 0


def _drop_thanks(words: str, language: Language) -> str:
    """The name of "Thanks Peter May"; "Thanks Peter" thanks somebody."""
    tokens = language.read_tokens(words)
    size = PhraseSet(language.words["addressing"]).match_start(tokens.text, 0)
    if not size or tokens.text[size:].count(" ") < _FEWEST_FULL_NAME:
        return words
    rest = words[tokens.tokens[tokens.offsets.index(size)].start :]
    return rest if all(word[:1].isupper() for word in rest.split()) else words


def _introduces_other_kind(text: str, field: Field, situation: ReadingSituation) -> bool:
    """True for "my dog is called Rex" where a child's name is asked for."""
    language = get_language(situation.locale)
    behind = find_introduction_of_other(text, language)
    return behind is not None and names_other_kind(field.spec, text[:behind], language)


def _read_wording(text: str, situation: ReadingSituation) -> str:
    """The words of "it should say Well done, Sam!", with their exclamation mark."""
    language = get_language(situation.locale)
    before, after = (_compile_phrases(table, language.name) for table in ("before_wording", "after_wording"))
    while lead := before.match(text):
        text = text[lead.end() :]
    return (after.sub("", text) or text).rstrip(" \n.,;:")


@cache
def _compile_phrases(table: str, code: str) -> re.Pattern[str]:
    phrases = sorted(get_language(code).words[table], key=len, reverse=True)
    alternatives = rf"(?:{'|'.join(map(re.escape, phrases))})"
    pattern = (
        rf"[\s,.;:–-]+{alternatives}[\s.!]*$" if table.startswith("after") else rf"\s*{alternatives}\b[\s,:–-]+(?=\S)"
    )
    return re.compile(pattern, re.IGNORECASE)


def _drop_repeated_name(words: str) -> str:
    """The full name of "Tom, Tom Baker", "Tom. Tom Baker" and of "Koch mein Name, Inge Koch"."""
    parts = re.split(r"[,.]\s+", words)
    first_words, last = fold(" ".join(parts[:-1])).split(), parts[-1]
    return last.strip() if first_words and first_words[0] in fold(last).split() else words


def _leads_to_other_subject(reading: Reading, field: Field, start: int, end: int) -> bool:
    """True when the words before the answer point to something else: "I'm tired", or "to Lyon" for a source field."""
    words, last = reading.words(start, end), reading.text[:start].split()[-1:]
    if PERSON.fullmatch(reading.text, 0, start) and DESCRIBES.issuperset(words):
        return True
    if last in (["to"], ["into"]):
        return leads_from(field) or not {"a", "an", "my", "our"}.isdisjoint(words[:1])
    return last == ["from"] and leads_to(field)


def is_plausible_text(words: str, field: Field) -> bool:
    """False for sentences and commands if a name, an id or a place is expected."""
    tokens = fold(words).split()
    if all(word in YES or word in NO for word in tokens):
        return False
    if any(word in PROSE for label in field.labels for word in label):
        return True
    if (
        len(tokens) > _LONGEST
        or says_no_name([word.strip(",.;:!") for word in tokens], field)
        or tokens[0] in COMMANDS
        or ASKS.match(" ".join(tokens))
        or begins_with_negation(" ".join(tokens), field)
    ):
        return False
    return not any(word.strip(",.;:!") in SENTENCE for word in tokens)


def _find_core(reading: Reading, field: Field) -> tuple[int, int]:
    """The part that answers: after the last correction, without lead-in, field name and thanks."""
    text = reading.text
    start, end = len(text) - len(text.lstrip()), len(text.rstrip(_CLOSING))
    for correction in TO_CORRECTION.finditer(text, start, end):
        if CORRECTS.search(correction.group()) and (correction.start() > start or correction.end() < end):
            start = correction.end()
    while courtesy := COURTESY.search(text, start, end):
        end = len(text[: courtesy.start()].rstrip(_CLOSING))
    if (lead := LEAD_IN.match(text, start, end)) and lead.end() < end and find_choice(text[start:end], field) is None:
        start = start if verb_goes_on(reading, lead.group(), lead.end()) else lead.end()
    if name := _compile_name(field).match(text, start, end):
        start = name.end()
    return start, end


def cut_own_name(text: str, field: Field) -> str:
    """The text without the name of the field before it: "the 21st" of "the day should be the 21st"."""
    reading = Reading(text)
    name = _compile_name(field).match(reading.text)
    return reading.quote(name.end(), len(reading.text)) if name else text


def _compile_name(field: Field) -> re.Pattern[str]:
    # A typed value is meant for the field when the message names the last word of its name, too.
    names = [*field.labels, *(label[-1:] for label in field.labels if is_amount(field))]
    labels = "|".join(r"[\s_-]*".join(map(re.escape, name)) for name in names)
    is_so = r"(?:is|'s(?=\s)|[=:?]|would\s+be|should\s+be)"
    return re.compile(rf"(?:(?:the|my|our)\s+)?(?:{labels})(?!\w)\s*(?:{is_so}\s*)?(?=\S)")


#: Words instead of a value.
_NOTHING = (VAGUE - split_list("new first last")) | split_list(
    """whatever anything something everything nothing anywhere somewhere everywhere nowhere anyone someone anybody
    somebody whichever wherever whoever either neither"""
)
#: Verbs and pronouns of sentences about something else: "it depends", "ask me later", "this takes forever".
_TELLS = split_list(
    """it this that me him them depend depends ask asking hurry later too very really forever sounds seems takes took
    taking keeps works happened happens sucks already yet soon"""
)
_ARTICLES = split_list("the a an my our your")


def says_no_name(words: list[str], field: Field) -> bool:
    """True for folded words that name nothing: "anything", the field's own name, a sentence."""
    named = [word for word in words if word not in _ARTICLES]
    if any(all(word in label for word in named) for label in field.labels):
        return True
    if all(word in _NOTHING for word in words):
        return True
    return len(words) > 1 and not _TELLS.isdisjoint(words)


def verb_goes_on(reading: Reading, lead: str, start: int) -> bool:
    """True for "I am moving to …", "this is taking …": the verb continues after the lead-in."""
    words = reading.words(start, reading.clause(start)[1])
    copula = lead.rstrip().endswith(("is", "'s", "its", "am", "'m"))
    name = not reading.is_shouting and reading.quote(start, start + 1).isupper()
    return copula and len(words) > 1 and len(words[0]) > 4 and words[0].endswith("ing") and not name
