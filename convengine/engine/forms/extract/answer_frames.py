"""Words that may surround the requested value: "it is …", "I need …". Other sentences are no answers (R10)."""

import re

from convengine.engine.forms.extract.language import UNITS, VAGUE
from convengine.engine.forms.extract.reading import Reading
from convengine.engine.forms.extract.units import CountedNumber, list_units, takes_money
from convengine.engine.forms.form import Field
from convengine.engine.text.words import FILLERS, split_list

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


def frames_number(reading: Reading, field: Field, found: CountedNumber) -> bool:
    """True when the clause of a number only gives the answer; false for "call 112", "I am 42"."""
    first, last = reading.clause(found.start)
    besides = _BESIDES.search(reading.text, found.end, last)
    after = reading.words(found.end, besides.start() if besides else last)
    if found.unit and after and after[0] not in _FRAME:
        if not _may_count(field, found.unit):
            return False
        del after[0]
    said = [*reading.words(first, found.start), *after]
    own = (field.words - FILLERS) | (_SUM if takes_money(field) else frozenset())
    return all(word in own or _is_frame(word, said) for word in said)


def _is_frame(word: str, said: list[str]) -> bool:
    return word in _FRAME or not _BESIDE.get(word, frozenset()).isdisjoint(said)


def _may_count(field: Field, unit: str) -> bool:
    """True when the field may count this unit. A sum counts money only; other fields count no foreign units of
    measure.
    """
    if takes_money(field):
        return unit in _SUM or unit in list_units(field)
    return unit not in UNITS or unit in list_units(field)


def says_no_name(said: list[str], field: Field) -> bool:
    """True for folded words that name nothing: "anything", the field's own name, a sentence."""
    named = [word for word in said if word not in _ARTICLES]
    if any(all(word in label for word in named) for label in field.labels):
        return True
    if all(word in _NOTHING for word in said):
        return True
    return len(said) > 1 and not _TELLS.isdisjoint(said)


def verb_goes_on(reading: Reading, lead: str, start: int) -> bool:
    """True for "I am moving to …", "this is taking …": the verb continues after the lead-in."""
    words = reading.words(start, reading.clause(start)[1])
    copula = lead.rstrip().endswith(("is", "'s", "its", "am", "'m"))
    name = not reading.is_shouting and reading.quote(start, start + 1).isupper()
    return copula and len(words) > 1 and len(words[0]) > 4 and words[0].endswith("ing") and not name
