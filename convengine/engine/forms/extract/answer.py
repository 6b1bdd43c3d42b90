"""Read the whole message as the answer to the only question asked (R10)."""

import re

from convengine.engine.forms.asking import is_phrase
from convengine.engine.forms.convert import VALUE_INVALID, VALUE_VIOLATES_SCHEMA, clean_value
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
    NO_PHRASES,
    PERSON,
    PROSE,
    SAYS_NOTHING,
    SENTENCE,
    TO_CORRECTION,
    UNITS,
    VAGUE,
    YES,
    YES_PHRASES,
)
from convengine.engine.forms.extract.negated_or_hypothetical import begins_with_negation, is_negated_or_hypothetical
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.typed_values import (
    CountedNumber,
    find_numbers,
    is_numeric,
    is_typed,
    list_units,
    read_counted,
    takes_money,
)
from convengine.engine.forms.form import Field
from convengine.engine.forms.spellings import find_choice, list_spellings
from convengine.engine.text.dates import Unclear
from convengine.engine.text.formats import FORMATS
from convengine.engine.text.words import FILLERS, fold, split_list, split_words
from convengine.engine.values import Kind, Outcome, ReadingSituation, read_value
from convengine.engine.values.reading import NOTHING

#: Longest text that is reported as a rejected value.
_ATTEMPT = 60
#: Characters that may end a message.
_CLOSING = " \n.,;:!)…–-"
#: Maximum number of words in a name, an id or an address.
_LONGEST = 8


def read_bare_answer(reading: Reading, field: Field, situation: ReadingSituation) -> Candidate | None:
    """The answer for the field that the last answer asked for, as people say it (R109, R114)."""
    start, end = _find_core(reading, field)
    if field.spec.kind is Kind.TEXT:
        # A sentence about the field itself is for the reader that knows denials: "my old address is …".
        words = split_words(reading.text)
        about_itself = any(label[-1] in words for label in field.labels)
        free = field.spec.long or not about_itself
        return _read_free_text(reading, field, situation, start, end) if free else read_whole_answer(reading, field)
    if field.spec.kind is Kind.PATTERN and not has_whole_pattern(field):
        return read_whole_answer(reading, field)
    texts = dict.fromkeys((reading.original.strip(), reading.quote(start, end)))
    for text in texts:
        value = read_value(field.spec, text, situation) if text else NOTHING
        if value.outcome is Outcome.VALUE:
            return Candidate(field, 0, len(reading.text), value.value, ANSWER)
        if value.reason and (is_phrase(text, "greetings", "thanks", "leave", "skip")):
            return None
        if value.reason and field.spec.kind is not Kind.PATTERN:
            data = {**value.data, **({"candidates": list(value.candidates)} if value.candidates else {})}
            return Candidate(field, 0, len(reading.text), text, ANSWER, value.reason.value, data=data)
    # The older reader knows fewer kinds, and more sentences around their values. What is wrong is judged above.
    older = read_whole_answer(reading, field) if is_typed(field) or field.declared.get("pattern") else None
    return None if older and older.problem and field.format in FORMATS else older


def has_whole_pattern(field: Field) -> bool:
    """True when the field's pattern describes the whole value, and not only something in it."""
    return field.spec.pattern.startswith("^") and field.spec.pattern.endswith("$")


def read_whole_answer(reading: Reading, field: Field) -> Candidate | None:
    """The answer for a field, with a problem if it is wrong; null if the message is not an answer."""
    if field.type in ("array", "object"):
        return None
    if is_numeric(field):
        return _read_number(reading, field)
    start, end = _find_core(reading, field)
    text = reading.text[start:end]
    if field.type == "boolean":
        return _read_yes_or_no(reading, field, start, end)
    if not text or reading.text.rstrip().endswith("?") or SAYS_NOTHING.fullmatch(text) or DENIES.match(text):
        return None
    words = clean_value(reading.quote(start, end)).lstrip("#")
    if choice := find_choice(words, field):
        return Candidate(field, start, end, choice.value, ANSWER)
    if list_spellings(field) and field.choices:
        plausible = is_plausible_text(words, field)
        return _build_candidate(field, start, end, words, VALUE_VIOLATES_SCHEMA) if plausible else None
    if field.format in FORMATS:
        return _read_formatted(reading, field, start, end)
    return None if _leads_to_other_subject(reading, field, start, end) else _read_named(field, start, end, words)


def _read_free_text(
    reading: Reading, field: Field, situation: ReadingSituation, start: int, end: int
) -> Candidate | None:
    """The text of the user; null for a question, a denial, thanks or a wish to leave, and for a sentence as a name."""
    whole = reading.original.strip()
    if is_phrase(whole, "skip", "thanks", "leave") or fold(whole) in NO:
        return None
    if field.spec.long:
        return Candidate(field, 0, len(reading.text), whole, ANSWER)
    text = reading.text[start:end]
    asks = reading.text.rstrip().endswith("?") or ASKS.match(reading.text)
    if not text or asks or KNOWS_NOTHING.match(text) or is_phrase(text, "greetings", "leave"):
        return None
    value = read_value(field.spec, reading.quote(start, end), situation)
    if value.outcome is Outcome.REFUSED and value.reason:
        return Candidate(field, start, end, reading.quote(start, end), ANSWER, value.reason.value, data=value.data)
    if value.outcome is not Outcome.VALUE:
        return None
    words = clean_value(str(value.value)).lstrip("#")
    if any(not NAMED.isdisjoint(label) for label in field.labels) and not is_plausible_text(words, field):
        return None
    folded_words = fold(words).split()
    if not folded_words or all(word in YES or word in NO for word in folded_words):
        return None
    return None if _leads_to_other_subject(reading, field, start, end) else Candidate(field, start, end, words, ANSWER)


def _read_named(field: Field, start: int, end: int, words: str) -> Candidate | None:
    return Candidate(field, start, end, words, ANSWER) if is_plausible_text(words, field) else None


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


def _compile_name(field: Field) -> re.Pattern[str]:
    labels = "|".join(r"[\s_-]*".join(map(re.escape, label)) for label in field.labels)
    return re.compile(rf"(?:(?:the|my|our)\s+)?(?:{labels})(?!\w)\s*(?:(?:is|[=:?]|would\s+be|should\s+be)\s*)?(?=\S)")


def _read_yes_or_no(reading: Reading, field: Field, start: int, end: int) -> Candidate | None:
    bare = COURTESY.sub("", reading.text.strip().rstrip(_CLOSING))
    if choice := find_choice(clean_value(reading.quote(start, end)), field):
        return Candidate(field, start, end, choice.value, ANSWER)
    bounds = (len(reading.text) - len(reading.text.lstrip()), len(reading.text.rstrip()))
    for value, words, phrases in ((True, YES, YES_PHRASES), (False, NO, NO_PHRASES)):
        remaining = re.split(r"[\s,.!]+", bare.strip())
        while remaining and remaining[0] in words:
            del remaining[0]
        if not remaining or phrases.fullmatch(" ".join(remaining)):
            return Candidate(field, *bounds, value, ANSWER)
    return None


def _read_number(reading: Reading, field: Field) -> Candidate | None:
    """The only number of the message, unless it counts something else."""
    start, end = _find_core(reading, field)
    mentions = [mention for mention in find_numbers(reading) if not mention.in_words or mention.start == start]
    only = [mention for mention in mentions if start <= mention.start] or mentions
    if len(only) == 1 and (only[0].unit is None or only[0].start == start):
        mention = only[0]
        value = read_counted(field, mention)
        if is_negated_or_hypothetical(reading, field, mention.start, mention.end) or reading.is_question(mention.start):
            return None
        if mention.in_words and SAYS_NOTHING.fullmatch(reading.text[start:end]):
            return None
        if value is not None and not frames_number(reading, field, mention):
            return None
        if value is None:
            return _build_candidate(field, mention.start, mention.end, reading.quote(mention.start, end), VALUE_INVALID)
        return Candidate(field, mention.start, value[1], value[0], ANSWER, value[2])
    return None


def _read_formatted(reading: Reading, field: Field, start: int, end: int) -> Candidate | None:
    known = FORMATS[field.format or ""]
    inside = [match for match in reading.formats[field.format or ""] if match.start() >= start]
    if field.format == "phone" and len(inside) == 1:
        start, end = inside[0].span()
    try:
        return Candidate(field, start, end, known.read(clean_value(reading.quote(start, end))), ANSWER)
    except Unclear as unclear:
        attempt = any(char.isdigit() or char == "@" for char in reading.text[start:end])
        return _build_candidate(field, start, end, reading.quote(start, end), str(unclear)) if attempt else None


def _build_candidate(field: Field, start: int, end: int, words: str, problem: str) -> Candidate | None:
    return Candidate(field, start, end, words, ANSWER, problem) if len(words) <= _ATTEMPT else None


#: Words of a clause that frames a number and says nothing else.
_FRAME = split_list(
    """a about absolutely actually again almost alright an and answer anyway approx approximately are around ask asking
    assume be been believe borrow but can cheers choose correct correction could definitely do enough er err
    exact exactly expect fine for get give go going good great guess happy hello hey hi hm hmm i i'd i'll id if
    ill is it it's its just k kindly lend let let's lets like little looking lot make makes max maybe me mean
    meant more much my need needed nice no nope now number of oh ok okay okey only oops or our pardon pay
    perfect perhaps pick please pls plz possible possibly precise prefer probably quite rather request right
    roughly say scratch second see should so some sorry sounds spend still suggest sure take thank thanks that
    that's the them then there thing think thinking this thoughts thx to total ty uh um us value very wait want
    wanted was we we'd we'll well will with work works would yea yeah yep yes you"""
)
#: These frame only together with a frame word: "can I have 5", "I'm thinking of 5", but not "I have 5", "I'm 5".
_PROGRESS = split_list("thinking looking asking")
_WISHES = split_list("can could may want need like i'd we'd i'll we'll please")
_BESIDE = {
    "have": _WISHES,
    "order": _WISHES,
    "book": _WISHES,
    "buy": _WISHES,
    "am": _PROGRESS,
    "i'm": _PROGRESS,
    "on": split_list("thoughts"),
}
#: What follows the number: its purpose or other information.
_BESIDES = re.compile(r"\s+(?:to|for|because|so|since|as|and|but)\b")
#: Names and currencies of sums of money.
_SUM = split_list(
    """amount sum money loan usd eur gbp inr chf dollar euro pound rupee rs buck quid grand cent yen franc krone krona
    zloty peso real lira yuan"""
)
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


def frames_number(reading: Reading, field: Field, counted: CountedNumber) -> bool:
    """True when the clause of a number only gives the answer; false for "call 112", "I am 42"."""
    first, last = reading.clause(counted.start)
    besides = _BESIDES.search(reading.text, counted.end, last)
    after = reading.words(counted.end, besides.start() if besides else last)
    if counted.unit and after and after[0] not in _FRAME:
        if not _may_count(field, counted.unit):
            return False
        del after[0]
    clause_words = [*reading.words(first, counted.start), *after]
    own = (field.words - FILLERS) | (_SUM if takes_money(field) else frozenset())
    return all(word in own or _is_frame(word, clause_words) for word in clause_words)


def _is_frame(word: str, words: list[str]) -> bool:
    return word in _FRAME or not _BESIDE.get(word, frozenset()).isdisjoint(words)


def _may_count(field: Field, unit: str) -> bool:
    """True when the field may count this unit. A sum counts money only; other fields count no foreign units of
    measure.
    """
    if takes_money(field):
        return unit in _SUM or unit in list_units(field)
    return unit not in UNITS or unit in list_units(field)


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
