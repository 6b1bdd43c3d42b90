"""What stands around a value in a sentence: a denial, a limit, another subject, the end of a clause (R114)."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from convengine.engine.values.choices import stem_words
from convengine.engine.values.date_times import (
    Moment,
    MomentContext,
)
from convengine.engine.values.language import Language
from convengine.engine.values.numbers import (
    fold_digraphs,
    get_ordinal,
    get_place_words,
    get_tables,
)
from convengine.engine.values.reading import Outcome, Reading, ReadingSituation, Reason
from convengine.engine.values.tokens import TokenText

Json = Any
#: Refusals that are reported although nobody asked: the rest is no value of the sentence.
_REPORTED = frozenset(
    {Reason.INVALID_DATE, Reason.OUT_OF_BOUNDS, Reason.WEEKDAY_MISMATCH, Reason.TIME_MISSING, Reason.DATE_MISSING}
)
#: How many words a denial covers.
_DENIAL_REACH = 4
#: How many words a verb in the past covers.
_SUBJECT_REACH = 6
#: How many words before an occasion may say that something is for it: "for my little daughter's 18th birthday".
_PURPOSE_REACH = 6


@dataclass(frozen=True)
class FoundReading:
    """What the words between two offsets say for a field."""

    start: int
    end: int
    name: str
    reading: Reading
    #: Kinds that cannot be mistaken come first.
    priority: int


def ends_clause(tokens: TokenText, end: int) -> bool:
    """True when a sign stands between the phrase and the next word."""
    index = tokens.offsets.index(end)
    return tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def is_reported(
    reading: Reading, moment: Moment, tokens: TokenText, context: MomentContext, language: Language
) -> bool:
    """True for a reading that the caller should see. A past day in a report is not one: "it hurt yesterday"."""
    if reading.outcome is Outcome.REFUSED and reading.reason not in _REPORTED:
        return False
    if moment.date and moment.date.is_rough and context.date.past:
        return False
    days = moment.date.days if moment.date else ()
    days = days if isinstance(days, tuple) else ()
    if days and all(day < context.now.date() for day in days) and not context.date.past:
        return False
    is_now = days == (context.now.date(),) or (moment.time is not None and moment.time.times.moment == context.now)
    return not (is_now and asks_question(tokens, language))


def is_one_clause(tokens: TokenText, start: int, end: int) -> bool:
    """True for words without a sign between them, and with one behind them: not for "4 hours, 80 people"."""
    first, last = tokens.offsets.index(start), [*tokens.offsets, len(tokens.text)].index(end)
    listed = tokens.tokens[first:last]
    is_joined = all(after.start - before.end <= 1 for before, after in pairwise(listed))
    return is_joined and (last == len(tokens.tokens) or ends_clause(tokens, end))


def asks_question(tokens: TokenText, language: Language) -> bool:
    """True for "what day is it today", and not for "how about today" and "can I come today"."""
    is_offer = language.before.match_start(tokens.text, 0) > 0
    return not is_offer and language.is_in("question_words", tokens.tokens[0].text)


def is_other_subject(
    tokens: TokenText,
    start: int,
    language: Language,
    *,
    is_past: bool = False,
    is_plain: bool = False,
    situation: ReadingSituation | None = None,
) -> bool:
    """True when a word of the clause shows that the time belongs to another subject: "I was there on Monday".

    `is_past`: the day of something that is over is asked for. `is_plain`: "Which day?" is asked, so that the day of
    what something is for is meant: "for my daughter's 18th birthday on 14 March". So is that of what the form is for,
    by the terms of the `situation`: "catering please, birthday on 14 March".
    """
    index = tokens.offsets.index(start)
    for position in range(index - 1, max(-1, index - 1 - _SUBJECT_REACH), -1):
        token, following = tokens.tokens[position], tokens.tokens[position + 1]
        if following.start - token.end > 1:
            return False
        if is_past and language.is_in("past_of_subject", token.text):
            continue
        if language.is_in("other_subject", token.text) and not language.is_in("occasions", following.text):
            # "For a birthday on 14 November" says when it is.
            before = [token.text for token in tokens.tokens[max(0, position - _PURPOSE_REACH) : position]]
            is_occasion = before[-1:] != [] and before[-1] in get_tables(language).indefinite_articles
            is_purpose = is_plain and any(language.is_in("occasion_leads", word) for word in before)
            between = [token.text for token in tokens.tokens[position + 1 : index]]
            is_own = situation is not None and is_subject(token.text, situation, language)
            is_own = is_own and not any(language.is_in("dating_verbs", word) for word in between)
            return not (is_occasion or is_purpose or is_own)
    return False


def is_glued(text: str, tokens: TokenText, start: int) -> bool:
    """True inside an id, a decimal number, an address."""
    begin = tokens.tokens[tokens.offsets.index(start)].start
    return begin > 0 and text[begin - 1] in "-/.,:@#_+€$£%&=" and not text[begin - 2 : begin - 1].isspace()


def is_limited(
    tokens: TokenText,
    start: int,
    end: int,
    language: Language,
    *,
    is_paired: bool = False,
    is_start: bool = False,
    is_past: bool = False,
    own_words: frozenset[str] = frozenset(),
    is_deadline: bool = False,
) -> bool:
    """True when the words beside a value make it a limit, a denial or a range. A pair of fields may share a range."""
    text = tokens.text
    is_own = language.is_in("possessives", text[:start].rstrip().rpartition(" ")[2])
    denial = 0 if is_own else language.denials_after.match_start(text, end)
    if denial and end < len(text) and ends_clause(tokens, end) and language.is_in("facts_after", text[end:][:denial]):
        denial = 0  # "On 20 October, is a van" tells of the van.
    if denial or is_denied_before(tokens, start, language):
        return True
    for position in (start, start - language.articles.match_end(text, start)):
        limit = language.limits_before.match_end(text, position)
        if is_deadline and limit and language.is_in("deadline_leads", text[position - limit : position]):
            continue
        if limit and not own_words.isdisjoint(text[position - limit : position].split()):
            continue  # "By 20 May" where "Ready by" is asked for.
        if is_start and limit and language.is_in("start_leads", text[position - limit : position]):
            continue
        if is_past and limit and language.is_in("past_of_subject", text[position - limit : position]):
            continue
        if (
            limit
            and _begins_clause(tokens, position)
            and language.is_in("limits_in_clause", text[position - limit : position])
        ):
            continue
        if limit and not (is_paired and language.is_in("range_words", text[position - limit : position])):
            return True
    return not is_paired and _is_range(text, start, end, language) and not _leads_to_day(text, end, language)


def _begins_clause(tokens: TokenText, start: int) -> bool:
    """True for words behind a sign."""
    index = tokens.offsets.index(start) if start in tokens.offsets else 0
    return index > 0 and tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _leads_to_day(text: str, end: int, language: Language) -> bool:
    """True for the time of "16 July 9am to 18 July", which begins no range of times."""
    words = text[end:].split(" ")[1:3]
    days = (language.slots["weekday"].values or {}, language.slots["month"].values or {})
    return any(word in table for word in words for table in days)


def is_denied_before(tokens: TokenText, start: int, language: Language) -> bool:
    """True when one of the last words of the same clause denies: "I can't come on Friday"."""
    index = tokens.offsets.index(start)
    if language.retractions.match_end(tokens.text, start - language.articles.match_end(tokens.text, start)):
        return False  # "Friday, no wait, Saturday"
    for position in range(index - 1, max(-1, index - 1 - _DENIAL_REACH), -1):
        token, following = tokens.tokens[position], tokens.tokens[position + 1]
        if following.start - token.end > 1 or language.is_in("denial_stops", token.text):
            return False
        if language.is_in("denials", token.text):
            return True
    return False


def _is_range(text: str, start: int, end: int, language: Language) -> bool:
    after = text[end:].split(" ")[:2]
    before = text[:start].split(" ")[-3:-1]
    return (len(after) == 2 and after[0] in language.ranges and starts_value(after[1], language)) or (
        len(before) == 2 and before[1] in language.ranges and starts_value(before[0], language, is_end=True)
    )


def starts_value(word: str, language: Language, *, is_end: bool = False) -> bool:
    if word.isdigit() or word in language.number_words or word in (language.slots["weekday"].values or {}):
        return True
    if is_end and (word in (language.slots["month"].values or {}) or word in ("am", "pm", "uhr", "o'clock")):
        return True
    return word in (language.slots["relative_day"].values or {})


def is_place(tokens: TokenText, start: int, end: int, language: Language) -> bool:
    """True for an ordinal behind words that no day has: "in the 6th"."""
    begin = start + language.articles.match_start(tokens.text, start)
    match = get_ordinal(language).match(tokens.text, begin)
    return match is not None and match.end() == end and get_place_words(language).match_end(tokens.text, begin) > 0


def is_subject(noun: str, situation: ReadingSituation, language: Language) -> bool:
    """True for a noun of the form's title or options."""
    terms = {*stem_words(noun, language), *stem_words(fold_digraphs(noun), language)}
    return len(noun) > 2 and noun.isalpha() and not terms.isdisjoint(situation.subject_terms)


def stands_alone(tokens: TokenText, end: int, language: Language) -> bool:
    """True when the number that ends here counts nothing that follows: "for two tonight", "I'm 42 and …"."""
    if end >= len(tokens.text) or ends_clause(tokens, end):
        return True
    following = tokens.text[end:].split(" ", 1)[0]
    if following.isdigit():
        return False
    begins = following in language.calendar_starts or language.before_time.match_start(tokens.text, end) > 0
    return begins or language.is_in("denial_stops", following)
