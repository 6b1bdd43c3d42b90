"""Which field a form asks for next, and the default texts of its questions (R109, R110)."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from convengine.engine.forms.form import Field, Form
from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.rules.actions.refuse_value import NOT_ALLOWED
from convengine.engine.text.compare import match_text
from convengine.engine.text.words import fold, split_name, split_words
from convengine.engine.turn.enums import DialogueAct
from convengine.engine.turn.live_settings import Setting
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.rows import OutputSchema
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.values import Kind, say_value
from convengine.engine.values.choices import stem_words
from convengine.engine.values.language import get_language, list_languages
from convengine.engine.values.yes_or_no import gives_reason_for_no

Json = Any
ASK, ASK_AGAIN, INVALID, DONE = "x-ask", "x-ask-again", "x-invalid", "x-done"
_DEFAULT_LANGUAGE = "en"
#: Lists of phrases that leave a form.
_LEAVING = ("cancel", "cancel_this", "goodbye")
#: Kinds of values that are chosen, not owned: "Which day?"
#: Between two sentences, and between a statement and a question of the same sentence.
_SENTENCE_GAP = re.compile(r"(?<=[.!?;])\s+|\n+")
_OPENINGS = (
    r"(?:and|but|und|aber|ok|okay|btw|by the way|also|oh|hm+|well|wait|sorry|hey|hi|hello|just|"
    r"quick question|one question|übrigens|ach|moment|entschuldigung|hallo|noch eine frage|eine frage|"
    r"sagen sie|sag mal)"
)
#: What stands before a question in its sentence.
_OPENING = re.compile(rf"^\s*(?:{_OPENINGS}\b[\s,:–-]*)+", re.IGNORECASE)
#: Between a statement and a question of the same sentence.
_CLAUSE_GAP = re.compile(
    rf"(?:\s*[,:–]\s*|\s-\s|\s+(?=(?:and|but|or|so|und|aber|oder)\s))(?:(?:and|but|or|so|und|aber|oder)\s+)?"
    rf"(?:{_OPENINGS}\b[\s,:–-]*)*",
    re.IGNORECASE,
)
#: Fewest words of a question without its mark after a statement.
_SHORTEST_QUESTION = 3
#: A condition before a question has so many words or more.
_SHORTEST_CONDITION = 4
#: A message that adds something to an order has more words.
_FEWEST_ADDED = 3
#: A refusal and its reason.
_FEWEST_CLAUSES = 2
#: Longest text that is searched for questions.
_LONGEST_MESSAGE = 2000
#: Kinds of values that people may keep to themselves.
_OWNED = (Kind.TEXT, Kind.EMAIL, Kind.PHONE)
_CONTACTS = (Kind.EMAIL, Kind.PHONE)
_WHICH = (Kind.DATE, Kind.TIME, Kind.DATE_TIME, Kind.DURATION)


def find_open_fields(form: Form, context: Mapping[str, Json]) -> list[Field]:
    """The fields that the form still asks for, in its order: `x-order`, else the order of the properties.

    These are the required fields without a valid value, and the optional ones with a question of their own that were
    never answered: a null in the context is an answer.
    """
    status = form.status(context)
    open_paths = {*status.missing, *status.unanswered}
    fields = [field for field in form.leaves if _is_open(field, open_paths)]
    return sort_fields(form, fields)


def sort_fields(form: Form, fields: Iterable[Field]) -> list[Field]:
    """The fields in the order of the form."""
    order = {field.path: number for number, field in enumerate(form.fields)}
    ranks = {field.path: (_read_order(field, order[field.path]), order[field.path]) for field in form.fields}
    return sorted(fields, key=lambda field: ranks.get(field.path.split(".")[0], (len(order), 0)))


def _is_open(field: Field, open_paths: set[str]) -> bool:
    if field.path in open_paths:
        return True
    # A missing object is asked for by its required fields.
    parts = field.path.split(".")
    return field.required and any(".".join(parts[:size]) in open_paths for size in range(1, len(parts)))


def _read_order(field: Field, default: int) -> float:
    order = field.declared.get("x-order")
    return order if isinstance(order, (int, float)) and not isinstance(order, bool) else default


def find_language(locale: str) -> str:
    """The folder of a locale's language: `de` for de-DE; English where there is none."""
    language = locale.replace("_", "-").partition("-")[0].strip().lower()
    return language if language in _list_languages() else _DEFAULT_LANGUAGE


def find_form_locale(session: Session, turn: Turn, form: Form | None = None) -> str:
    """The locale of a form (`x-locale`), else of the conversation."""
    own = form.schema.get("x-locale") if form and isinstance(form.schema, Mapping) else None
    return own if isinstance(own, str) and own else turn.config(session, LOCALE)


def find_form_language(session: Session, turn: Turn, form: Form | None = None) -> str:
    """The language of default texts: of the form, else of the conversation, else of all forms if they have one."""
    locale = find_form_locale(session, turn, form)
    return find_language(locale) if locale else _find_common_language(turn.snapshot)


def _find_common_language(snapshot: Snapshot) -> str:
    """The language of all forms; English where they have several."""
    schemas = snapshot.table(OutputSchema)
    return schemas.memo.get("common_language", lambda: _read_common_language(snapshot))


def _read_common_language(snapshot: Snapshot) -> str:
    listed = (row.json_schema for row in snapshot.enabled_rows(OutputSchema))
    locales = (schema.get("x-locale") for schema in listed if isinstance(schema, Mapping))
    languages = {find_language(locale) for locale in locales if isinstance(locale, str) and locale}
    return languages.pop() if len(languages) == 1 else _DEFAULT_LANGUAGE


def read_text_setting(session: Session, turn: Turn, setting: Setting[str]) -> str:
    """The text of a setting; where it is the default, in the language of the conversation."""
    text = turn.config(session, setting)
    if text != setting.default:
        return text
    return str(get_texts(find_form_language(session, turn))["settings"].get(setting.name, text))


@cache
def _list_languages() -> frozenset[str]:
    folder = files("convengine.engine.values") / "languages"
    return frozenset(item.name for item in folder.iterdir() if (item / "questions.json").is_file())


def fold_spelling(text: str | None) -> str:
    """The folded text, with u for ü and ue, and ss for ß, as people type them."""
    return _DIGRAPH.sub(r"\1", fold(text).replace("ß", "ss"))


@cache
def list_phrases(*keys: str) -> frozenset[str]:
    """The folded phrases of these lists (`skip`, `thanks`, `leave`, `greetings`) in all languages."""
    return frozenset(
        fold_spelling(phrase) for language in _list_languages() for key in keys for phrase in get_texts(language)[key]
    )


@cache
def get_texts(language: str) -> Mapping[str, Any]:
    """The default texts of questions in a language."""
    file = files("convengine.engine.values") / "languages" / language / "questions.json"
    return json.loads(file.read_text("utf-8"))  # type: ignore[no-any-return]


def is_phrase(text: str | None, *keys: str) -> bool:
    """True when the whole text is a phrase of these lists, in any language."""
    return fold_spelling(match_text(text)).rstrip("!?") in list_phrases(*keys)


def skips_field(text: str | None, field: Field) -> bool:
    """True when the message leaves an optional field empty: "skip", "no that's fine", "no e-mail"."""
    if asks_to_wait(text):
        return False
    if says_nothing(text):
        return True
    behind = (text or "").rpartition("?")[2]
    if "?" in (text or "") and any(map(str.isalnum, behind)):
        return skips_field(behind, field)  # "What's a discount code? No"
    words = split_words(text)
    if field.spec.kind not in (Kind.YES_NO, Kind.CHOICE) and "?" not in (text or ""):
        plain = _strip_punctuation(text).split()
        own = frozenset(fold_spelling(word) for word in (*field.spec.words, *field.spec.question))
        if len(plain) > _LONGEST_SKIP:
            return False
        if field.spec.kind not in _CONTACTS:
            own |= _list_forms(plain, own)
        if _needs_nothing(plain, own):
            return True  # "Nein, auf der Torte soll nichts stehen"
        if field.spec.kind is Kind.TEXT and _denies_loosely(plain):
            return True
    sizes = [size for size in range(1, len(words)) if " ".join(words[:size]) in list_phrases("without")]
    if any(frozenset(words[size:]) <= {*field.spec.words, *field.spec.question} for size in sizes):
        return True
    if field.spec.kind in _CONTACTS and (_begins_with_no(text) or _refuses_with_reason(text, field)):
        return True
    if knows_no_value(text, field, may_add=field.spec.kind is not Kind.TEXT):
        return True
    if field.spec.kind is not Kind.TEXT and _puts_off(text, field):
        return True
    return field.spec.kind in _OWNED and "?" not in (text or "") and _refuses_field(text, field)


def _denies_loosely(words: Sequence[str]) -> bool:
    """True for "no allergies or anything" and "keine besonderen Probleme": a denial, and an end that means all such."""
    while words and _is_courtesy(words[-1:]):
        words = words[:-1]
    text, ends = " ".join(words), list_phrases("skip_ends")
    denials = _list_plain_phrases(("without",))
    begins = any(" ".join(words[:size]) in denials for size in range(1, len(words)))
    return begins and len(words) <= _LONGEST_DENIAL and any(text.endswith(f" {end}") for end in ends)


def _list_forms(words: Iterable[str], own: frozenset[str]) -> frozenset[str]:
    """Of these words, those that are words of the field in another form: "codes", "Sonderwünsche"."""
    languages = [get_language(code) for code in list_languages()]
    stems = {stem for name in own for language in languages for stem in stem_words(name, language)}
    return frozenset(
        word
        for word in words
        if any(len(name) >= _SHORTEST_END and word.endswith(name) for name in own)
        or any((own_stems := stem_words(word, language)) and stems.issuperset(own_stems) for language in languages)
    )


def counts_none(text: str | None, field: Field) -> bool:
    """True for "no eggs thanks" and "gar keine", where a field counts something.

    "None" alone leaves an optional field empty.
    """
    words = _strip_punctuation(text).split()
    if field.spec.kind is not Kind.NUMBER or "?" in (text or "") or not 0 < len(words) <= _LONGEST_WISH:
        return False
    own = frozenset(fold_spelling(word) for word in field.spec.words)
    if not own.isdisjoint(words) and (_denies_only(words, own) or _needs_nothing(words, own)):
        return True
    starts = (size for size in range(len(words)) if _is_courtesy(words[:size]))
    return field.required and any(
        " ".join(words[start:end]) in _list_plain_phrases(("count_none",)) and _is_courtesy(words[end:])
        for start in starts
        for end in range(start + 1, len(words) + 1)
    )


def _refuses_with_reason(text: str | None, field: Field) -> bool:
    """True for "no need for a number, we'll just turn up"."""
    clauses = [clause for clause in _CLAUSE_SIGN.split(text or "") if any(map(str.isalnum, clause))]
    if len(clauses) < _FEWEST_CLAUSES or any(char in "?@" or char.isdigit() for char in text or ""):
        return False
    if not (says_nothing(clauses[0]) or _refuses_field(clauses[0], field)):
        return False
    languages = [get_language(code) for code in list_languages()]
    reasons = [language.read_tokens(" ".join(clauses[1:])).tokens for language in languages]
    return not any(
        language.is_in("denials", token.text)
        for language, tokens in zip(languages, reasons, strict=True)
        for token in tokens
    )


def _begins_with_no(text: str | None) -> bool:
    """True for "nah we'll be there anyway", "no thanks, you've got my e-mail": a plain no with its reason."""
    plain = text or ""
    if "@" in plain or any(map(str.isdigit, plain)):
        return False
    return any(gives_reason_for_no(plain, get_language(code)) for code in list_languages())


def refers_back(text: str | None, field: Field) -> bool:
    """True for "same as before" and "dieselbe Adresse": words for an earlier value, which is not known any more."""
    words = _strip_punctuation(text).split()
    own = frozenset(fold_spelling(word) for word in field.spec.words) | _list_kind_names(field.spec.kind)
    if not 0 < len(words) <= _LONGEST_WISH:
        return False
    return any(
        not _list_folded(language, "same_words").isdisjoint(words)
        and (
            _list_folded(language, "same_words")
            | _list_folded(language, "back_words")
            | own
            | _list_courtesy_words(language)
        ).issuperset(words)
        for language in _list_languages()
    )


def knows_no_value(text: str | None, field: Field, *, may_add: bool = False) -> bool:
    """True for "I don't know my postcode" and "die weiß ich nicht": small words that say that no value is known.

    `may_add`: other clauses may say more: "I don't know it, I have just moved in".
    """
    if any(char == "?" or char.isdigit() for char in text or "") or asks_to_wait(text):
        return False
    own = frozenset(fold_spelling(word) for word in field.spec.words) | _list_kind_names(field.spec.kind)
    clauses = [words for clause in _CLAUSE_SIGN.split(text or "") if (words := _strip_punctuation(clause).split())]
    unknown = [any(_says_unknown(words, own, language) for language in _list_languages()) for words in clauses]
    says_more = any(not (says or _is_courtesy(words)) for says, words in zip(unknown, clauses, strict=True))
    return any(unknown) and (may_add or not says_more)


def _says_unknown(words: Sequence[str], own: frozenset[str], language: str) -> bool:
    if len(words) > _LONGEST_WISH:
        return False
    verbs, denials = _list_folded(language, "unknown_verbs"), _list_folded(language, "skip_denials")
    small = (
        _list_folded(language, "unknown_words") | _list_folded(language, "skip_words") | _list_courtesy_words(language)
    )
    plain = f" {' '.join(words)} "
    for phrase in _list_folded(language, "unknown"):
        if f" {phrase} " in plain:
            return (small | own).issuperset(plain.replace(f" {phrase} ", " ").split())
    says = not verbs.isdisjoint(words) and not denials.isdisjoint(words)
    return says and (verbs | denials | small | own).issuperset(words)


def asks_why(text: str | None, field: Field) -> bool:
    """True for "why do you need my number?" and "muss das sein?", which only ask what the field is for."""
    words = _strip_punctuation(text).split()
    own = frozenset(map(fold_spelling, (*field.spec.words, *field.spec.question))) | _list_kind_names(field.spec.kind)
    plain = f" {' '.join(words)} "
    for language in _list_languages() if 0 < len(words) <= _LONGEST_WISH else ():
        small = own | _list_folded(language, "why_words") | _list_courtesy_words(language)
        if any(
            f" {phrase} " in plain and small.issuperset(plain.replace(f" {phrase} ", " ").split())
            for phrase in _list_folded(language, "why")
        ):
            return True
    return False


def _puts_off(text: str | None, field: Field) -> bool:
    """True for "I'll have to find it first" and "reiche ich nach": small words that say that the value comes later."""
    words = _strip_punctuation(text).split()
    own = frozenset(fold_spelling(word) for word in field.spec.words) | _list_kind_names(field.spec.kind)
    if "?" in (text or "") or not 1 < len(words) <= _LONGEST_WISH:
        return False
    return any(
        not _list_folded(language, "later_verbs").isdisjoint(words)
        and {
            *_list_folded(language, "later_verbs"),
            *_list_folded(language, "later_words"),
            *own,
            *_list_courtesy_words(language),
        }.issuperset(words)
        for language in _list_languages()
    )


def _refuses_field(text: str | None, field: Field) -> bool:
    """True for "no e-mail please", "nein, keine Nummer" and "I'd rather not give you my number"."""
    words = _E_MAIL.sub("email", _strip_punctuation(text)).split()
    own = frozenset(fold_spelling(word) for word in field.spec.words) | _list_kind_names(field.spec.kind)
    for size in range(1, len(words)):
        if _is_courtesy(words[:size]) and _denies_only(words[size:], own):
            return True
    return _denies_only(words, own) or any(_refuses_to_give(words, own, code) for code in _list_languages())


def _denies_only(words: Sequence[str], own: frozenset[str]) -> bool:
    """True for "no e-mail", with or without courtesies behind it: a denial and the names of the field."""
    denials = _list_plain_phrases(("without",))
    return any(
        " ".join(words[:size]) in denials and own.issuperset(words[size:end]) and _is_courtesy(words[end:])
        for size in range(1, len(words))
        for end in range(size + 1, len(words) + 1)
    )


def _refuses_to_give(words: Sequence[str], own: frozenset[str], language: str) -> bool:
    verbs, denials = _list_folded(language, "give_verbs"), _list_folded(language, "skip_denials")
    if verbs.isdisjoint(words) or denials.isdisjoint(words):
        return False
    return (verbs | denials | _list_folded(language, "give_words") | _list_courtesy_words(language) | own).issuperset(
        words
    )


@cache
def _list_kind_names(kind: Kind) -> frozenset[str]:
    """What people call a field of a kind in any language: "mail", "Nummer"."""
    tables = (get_language(code).words["kind_names"] for code in list_languages())
    return frozenset(
        part for table in tables for name in table.get(kind, ()) for part in _strip_punctuation(name).split()
    )


def asks_for_person(text: str | None, *, must_speak: bool = False) -> bool:
    """True for "can I just speak to someone please": a person, and a word of speaking or nothing but courtesies.

    `must_speak`: only a word of speaking counts, as in a clause: "she bites, can I talk to somebody".
    """
    if talks_to_own_person(text):
        return False
    return _asks_for_person_in(text, must_speak=must_speak) or any(
        _asks_for_person_in(clause, must_speak=True) for clause in _CLAUSE_SIGN.split(text or "")
    )


def _asks_for_person_in(text: str | None, *, must_speak: bool) -> bool:
    words = _strip_punctuation(text).split()
    return 0 < len(words) <= _LONGEST_WISH and any(
        _wants_person(words, language, must_speak=must_speak) for language in _list_languages()
    )


def _wants_person(words: Sequence[str], language: str, *, must_speak: bool) -> bool:
    text = f" {' '.join(words)} "
    person = next((phrase for phrase in _list_folded(language, "persons") if f" {phrase} " in text), "")
    if not person:
        return False
    others = text.replace(f" {person} ", " ", 1).split()
    courtesies = _list_courtesy_words(language)
    speaks = not _list_folded(language, "speaking").isdisjoint(others)
    return speaks or _asks_for_human(text, language) or (not must_speak and courtesies.issuperset(others))


def _asks_for_human(text: str, language: str) -> bool:
    """True for "just give me a human please": a word that only a person is called, and small words of a wish."""
    phrases = sorted(_list_folded(language, "humans"), key=len, reverse=True)
    human = next((phrase for phrase in phrases if f" {phrase} " in text), "")
    others = text.replace(f" {human} ", " ", 1).split() if human else []
    return len(others) > 1 and (_list_folded(language, "human_wishes") | _list_courtesy_words(language)).issuperset(
        others
    )


def talks_to_own_person(text: str | None) -> bool:
    """True for "I'll have to talk to my boss first": somebody whom the user asks."""
    plain = f" {_strip_punctuation(text)} "
    return any(f" {phrase} " in plain for phrase in _list_plain_phrases(("own_talks",)))


def wants_to_speak(text: str | None) -> bool:
    """True when the message asks for a person, or has a word of speaking and it is to nobody of the user's own."""
    return (_mentions_speaking(text) and not talks_to_own_person(text)) or asks_for_person(text, must_speak=True)


def must_ask_own_person(text: str | None) -> bool:
    """True for "I have to talk to my boss", and not for "deliver it to my house"."""
    return _mentions_speaking(text) and talks_to_own_person(text)


def _mentions_speaking(text: str | None) -> bool:
    words = _strip_punctuation(text).split()
    return any(not _list_folded(language, "speaking").isdisjoint(words) for language in _list_languages())


def asks_to_wait(text: str | None) -> bool:
    """True when the whole message only asks for a moment: "hang on a sec", "lass mich kurz überlegen"."""
    return says_only(text, "wait")


def says_nothing(text: str | None) -> bool:
    """True when the whole message leaves something empty, with or without courtesies: "nah you're alright"."""
    if is_phrase(text, "skip") or (text or "").strip() in _DASHES:
        return True
    if "?" in (text or ""):
        return False
    return says_only(text, "skip") or _needs_nothing(_strip_punctuation(text).split())


def _needs_nothing(words: Sequence[str], own: frozenset[str] = frozenset()) -> bool:
    """True when small words of one language deny and name nothing: "no I don't need anything else".

    `own`: the words of the field, which name nothing either.
    """
    if not 0 < len(words) <= _LONGEST_WISH:
        return False
    return any(_needs_nothing_in(" ".join(words), language, own) for language in _list_languages())


def _needs_nothing_in(text: str, language: str, own: frozenset[str]) -> bool:
    denials = _list_folded(language, "skip_denials")
    if not any(f" {denial} " in f" {text} " for denial in denials):
        return False
    courtesies = _list_courtesy_words(language)
    words = {word for phrase in denials for word in phrase.split()} | _list_folded(language, "skip_words") | courtesies
    return (words | own).issuperset(text.split())


@cache
def _list_courtesy_words(language: str) -> frozenset[str]:
    return frozenset(word for phrase in _list_folded(language, "courtesies") for word in phrase.split())


@cache
def _list_folded(language: str, key: str) -> frozenset[str]:
    return frozenset(_strip_punctuation(phrase) for phrase in get_texts(language)[key])


def is_one_of(text: str | None, phrases: Iterable[str]) -> bool:
    """True when the whole text is one of the phrases, and no question."""
    plain = _strip_punctuation(text)
    return "?" not in (text or "") and any(plain == _strip_punctuation(phrase) for phrase in phrases)


def find_phrase_language(text: str | None, *keys: str, preferred: str = _DEFAULT_LANGUAGE) -> str | None:
    """The language in which the whole text is a phrase of these lists; of several, the preferred one."""
    plain = fold_spelling(match_text(text)).rstrip("!?")
    if plain not in list_phrases(*keys):
        return None
    languages = sorted(_list_languages(), key=lambda language: (language != preferred, language != _DEFAULT_LANGUAGE))
    return next(
        (
            language
            for language in languages
            if any(plain == fold_spelling(phrase) for key in keys for phrase in get_texts(language)[key])
        ),
        None,
    )


def wants_to_leave(text: str | None) -> bool:
    """True when the message says only that the user wants to stop: "oh, never mind then"."""
    return _says_leaving(_strip_punctuation(text).split())


def _says_leaving(words: Sequence[str], keys: tuple[str, ...] = _LEAVING) -> bool:
    """True for a wish to stop, also with particles inside: "wir lassen es doch lieber bleiben"."""
    plain = _drop_particles(words)
    return _says_only(words, _list_plain_phrases(keys)) or (
        len(plain) < len(words) and _says_only(plain, _list_short_phrases(keys))
    )


def _drop_particles(words: Iterable[str]) -> list[str]:
    particles = list_phrases("particles")
    return [word for word in words if word not in particles]


@cache
def _list_short_phrases(keys: tuple[str, ...]) -> frozenset[str]:
    """The phrases without their particles, if at least two words remain."""
    short = (_drop_particles(phrase.split()) for phrase in _list_plain_phrases(keys))
    return frozenset(" ".join(words) for words in short if len(words) > 1)


def has_leaving_clause(text: str | None) -> bool:
    """True when the first or the last clause says only that the user wants to stop: "too expensive, forget it"."""
    message = fold_spelling((text or "")[:_LONGEST_MESSAGE])
    if "?" in message:
        rest = message.rpartition("?")[2]  # "What is that for? Never mind."
        return wants_to_leave(rest) or has_leaving_clause(rest)
    clauses = [words for clause in _CLAUSE_SIGN.split(message) if (words := _strip_punctuation(clause).split())]
    first: list[str] = []
    for words in clauses[:-1]:
        first += words
        if _says_leaving(first):
            return True
    while len(clauses) > 1 and _is_courtesy(clauses[-1]):
        clauses.pop()  # "No longer needed, thanks"
    if len(clauses) > 1 and _says_leaving(clauses[-1], ("cancel", "cancel_this")):
        return True
    return bool(clauses) and _ends_with_leaving(clauses[-1])


def drops_subject(text: str | None, subject: str) -> bool:
    """True when a clause only says that the user no longer wants what the form is for: "we don't want the camp after
    all". `subject`: its name in words.
    """
    return _has_dropping_clause(text, subject, _drops_subject_in)


def orders_to_stop(text: str | None, subject: str) -> bool:
    """True when a clause only tells the other side to forget what the form is for: "forget the booking, I'll ask my
    doctor first".
    """
    return _has_dropping_clause(text, subject, _orders_to_stop_in)


def puts_off_subject(text: str | None) -> bool:
    """True when a clause only says that something can wait: "the trees can wait", "das kann erst mal warten"."""
    return _has_dropping_clause(text, "", _puts_off_subject_in)


def drop_leaving_clauses(text: str | None, subject: str) -> str:
    """The message without its clauses that stop what the form is for: "never mind the bikes, I need the warden"."""
    clauses = [clause for clause in _CLAUSE_SIGN.split((text or "")[:_LONGEST_MESSAGE]) if clause.strip()]
    leaves = (wants_to_leave, puts_off_subject, has_leaving_clause)
    other_clauses = [
        clause
        for clause in clauses
        if not (
            any(says(clause) for says in leaves) or drops_subject(clause, subject) or orders_to_stop(clause, subject)
        )
    ]
    return ", ".join(clause.strip() for clause in other_clauses)


def _has_dropping_clause(text: str | None, subject: str, drops: Callable[[str, frozenset[str], str], bool]) -> bool:
    message = fold_spelling((text or "")[:_LONGEST_MESSAGE])
    if "?" in message:
        return False
    names = frozenset(word for word in _strip_punctuation(subject).split() if len(word) > 2)
    clauses = [_strip_punctuation(clause) for clause in _CLAUSE_SIGN.split(message)]
    return any(drops(clause, names, language) for clause in clauses for language in _list_languages())


def _orders_to_stop_in(clause: str, names: frozenset[str], language: str) -> bool:
    things, orders = _list_folded(language, "drop_things") | names, _list_folded(language, "drop_orders")
    small = _list_folded(language, "drop_words") | _list_courtesy_words(language)
    words = clause.split()
    while words and _is_courtesy(words[-1:]):
        words.pop()
    text = " ".join(words)
    last = max(
        (phrase for phrase in _list_folded(language, "drop_orders_last") if text.endswith(f" {phrase}")),
        key=len,
        default="",
    )
    rest = text.removesuffix(last).split() if last else []
    if rest and not things.isdisjoint(rest) and (things | small).issuperset(rest):
        return True  # "Das zweite lassen wir doch"
    for start in range(len(words)):
        text = " ".join(words[start:])
        order = next((phrase for phrase in orders if text.startswith(f"{phrase} ")), None)
        if order and _is_courtesy(words[:start]):
            rest = text[len(order) :].split()
            return not things.isdisjoint(rest) and (things | small).issuperset(rest)
    return False


def _puts_off_subject_in(clause: str, names: frozenset[str], language: str) -> bool:
    words = clause.split()
    while words and _is_courtesy(words[-1:]):
        words.pop()
    while words and _is_courtesy(words[:1]) and words[0] not in _list_folded(language, "put_off_leads"):
        words.pop(0)
    text = " ".join(words)
    ends = (phrase for phrase in _list_folded(language, "put_off_ends") if text.endswith(f" {phrase}"))
    end = max(ends, key=len, default="")
    subject = text.removesuffix(end).split() if end else []
    return 0 < len(subject) <= _LONGEST_SUBJECT and subject[0] in _list_folded(language, "put_off_leads")


def _drops_subject_in(clause: str, names: frozenset[str], language: str) -> bool:
    words, verbs = clause.split(), _list_folded(language, "drop_verbs")
    denials, ends, things = (_list_folded(language, f"drop_{kind}") for kind in ("denials", "ends", "things"))
    if not 1 < len(words) <= _LONGEST_WISH or verbs.isdisjoint(words):
        return False
    if not all(
        any(f" {phrase} " in f" {clause} " for phrase in phrases) for phrases in (denials, ends | things | names)
    ):
        return False
    small = {word for phrase in (*denials, *ends) for word in phrase.split()} | _list_folded(language, "drop_words")
    courtesies = _list_courtesy_words(language)
    return (small | courtesies | verbs | things | names).issuperset(words)


def _ends_with_leaving(words: Sequence[str]) -> bool:
    """True for a clause that ends with a clear wish to stop: "too dear forget it", not "don't forget it"."""
    while words and _is_courtesy(words[-1:]):
        words = words[:-1]
    denials = list_phrases("skip_denials")
    sizes = (size for size in range(1, len(words)) if " ".join(words[-size:]) in _list_plain_phrases(("cancel_last",)))
    return any(denials.isdisjoint(words[:-size]) for size in sizes)


def says_only(text: str | None, *keys: str) -> bool:
    """True when the message is one or more phrases of these lists, with or without courtesies around them."""
    return _says_only(_strip_punctuation(text).split(), _list_plain_phrases(keys))


def _says_only(words: Sequence[str], phrases: frozenset[str]) -> bool:
    if len(words) > _LONGEST_WISH or _list_first_words(phrases).isdisjoint(words):
        return False
    # A courtesy may be more than one word, so each part of the text is tried.
    return any(
        " ".join(words[start:end]) in phrases
        and _is_courtesy(words[:start])
        and (_is_courtesy(words[end:]) or _says_only(words[end:], phrases))
        for start in range(len(words))
        for end in range(start + 1, len(words) + 1)
    )


@cache
def _list_plain_phrases(keys: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_strip_punctuation(phrase) for phrase in list_phrases(*keys))


@cache
def _list_first_words(phrases: frozenset[str]) -> frozenset[str]:
    return frozenset(phrase.partition(" ")[0] for phrase in phrases)


_DIGRAPH = re.compile(r"(?<![aeqou])([aou])e")
_CLAUSE_SIGN = re.compile(r"[,.;:!–—]+|\s-\s")
#: Signs that stand for "nothing" where something may be left empty.
_DASHES = frozenset({"-", "--", "–", "—", "/", "./."})
#: Longest message that leaves a field empty, in words.
_LONGEST_SKIP = 60
#: Longest "no" with what it denies, in words.
_LONGEST_DENIAL = 6
#: Shortest end of a joined word that stands for it.
_SHORTEST_END = 4
#: Longest wish to leave, in words.
_LONGEST_WISH = 12
#: Most words for what can wait: "the trees".
_LONGEST_SUBJECT = 3
_E_MAIL = re.compile(r"\be mail")
_PUNCTUATION = re.compile(r"[^\w']+")


def _strip_punctuation(text: str | None) -> str:
    return _PUNCTUATION.sub(" ", fold_spelling(text)).strip()


@cache
def _list_courtesies() -> tuple[str, ...]:
    """The courtesies, the longest first."""
    return tuple(sorted(map(_strip_punctuation, list_phrases("courtesies")), key=lambda text: (-len(text), text)))


def _is_courtesy(words: Sequence[str]) -> bool:
    text = " ".join(words)
    while text:
        courtesy = next((phrase for phrase in _list_courtesies() if f"{text} ".startswith(f"{phrase} ")), None)
        if courtesy is None:
            return False
        text = text[len(courtesy) :].strip()
    return True


def is_courtesy(text: str) -> bool:
    """True when the text is nothing but courtesies: "you know what"."""
    return _is_courtesy(_strip_punctuation(text).split())


def asks_for_another(text: str | None) -> bool:
    """True when the message asks for the same thing once more: "I'd like another one"."""
    plain = f" {_strip_punctuation(text)} "
    return any(f" {phrase} " in plain for phrase in list_phrases("another"))


def asks_for_next(text: str | None, subject: str) -> bool:
    """True for a sentence that asks for one more beside what is open: "and I need another taxi for the way back".

    `subject`: its name in words. "We need another seat" asks for no other taxi.
    """
    words = _strip_punctuation(text).split()
    if len(words) <= _FEWEST_ADDED or list_phrases("next_verbs").isdisjoint(words):
        return False
    plain, names = f" {' '.join(words)} ", [word for word in _strip_punctuation(subject).split() if len(word) > 2]
    if any(f" {phrase} " in plain for phrase in list_phrases("one_more")):
        return True
    rests = [plain.partition(f" {phrase} ")[2] for phrase in list_phrases("another") if f" {phrase} " in plain]
    return any(rest.startswith(name) for rest in rests for name in names)


def asks_for_more(text: str | None) -> bool:
    """True when the message adds something to what was said: "my mum's lawn too"."""
    words = _strip_punctuation(text).split()
    return len(words) > _FEWEST_ADDED and not list_phrases("added").isdisjoint(words)


def asks_to_undo(text: str | None) -> bool:
    """True when the message would cancel or change something: "cancel my appointment"."""
    beginnings = tuple(list_phrases("undo_words"))
    return any(fold_spelling(word).startswith(beginnings) for word in split_words(text))


def asks_for_options(text: str | None, field: Field) -> bool:
    """True when the message asks what there is to choose from: "who do you have?", "which artists are there?"."""
    if not field.spec.options or "?" not in (text or "") or not find_questions(text):
        return False
    for language in detect_languages(text):
        known = " ".join((write_title(field, ""), *get_texts(find_language(language.code))["choosing"]))
        terms = {word.term for word in read_telling_words(known, language)}
        if all(word.term in terms for word in read_telling_words(text, language)):
            return True
    return False


def is_question(session: Session) -> bool:
    """True when the message asks something."""
    return session.input_params.get("dialogue_act") == DialogueAct.QUESTION or bool(find_questions(session.user_text))


def tells_about_user(text: str | None) -> bool:
    """True for a statement that begins with the user, "we need the baby seat", and does not say that it asks."""
    words = _strip_punctuation(text).split()
    return words[:1] != [] and words[0] in list_phrases("user_words") and list_phrases("asking_words").isdisjoint(words)


def find_questions(text: str | None) -> str:
    """The part of a message that asks something: its sentences with a question mark, or with the first words of a
    question. In "A check-up, and do you have parking?" it is what follows "and".
    """
    message = text or ""
    return " ".join(message[part.start : part.end] for part in _find_question_parts(message))


def blank_questions(text: str | None) -> str:
    """The message with blanks instead of what it asks, so that its values keep their positions."""
    message = text or ""
    for part in _find_question_parts(message):
        message = message[: part.gap] + " " * (part.end - part.gap) + message[part.end :]
    return message


class _QuestionPart(NamedTuple):
    """A question: where it starts and ends, and where the gap to the statement before it starts."""

    gap: int
    start: int
    end: int


def _find_question_parts(message: str) -> list[_QuestionPart]:
    ends = [gap.span() for gap in _SENTENCE_GAP.finditer(message[:_LONGEST_MESSAGE])]
    starts = [0, *(end for _, end in ends)]
    stops = [*(start for start, _ in ends), min(len(message), _LONGEST_MESSAGE)]
    parts = (_find_question_part(message, start, stop) for start, stop in zip(starts, stops, strict=True))
    return [part for part in parts if part]


def _find_question_part(message: str, start: int, end: int) -> _QuestionPart | None:
    for gap in _CLAUSE_GAP.finditer(message, start, end):
        rest = message[gap.end() : end]
        ends = rest.endswith("?")
        if (ends and _begins_with(rest, "question_verbs")) or (
            _begins_question(rest) and (ends or len(rest.split()) >= _SHORTEST_QUESTION)
        ):
            return _QuestionPart(gap.start(), gap.end(), end)
    sentence = message[start:end].rstrip()
    plain = _OPENING.sub("", sentence)
    asks = sentence.endswith("?") or _begins_question(plain) or _asks_behind_condition(plain)
    return _QuestionPart(start, start, start + len(sentence)) if asks else None


def _asks_behind_condition(text: str) -> bool:
    """True for "if one of us is ill can we get a refund", and not for "if possible can you come at 5"."""
    words = fold_spelling(text).split()
    return _begins_with(text, "condition_starts") and any(
        _begins_question(" ".join(words[start:])) for start in range(_SHORTEST_CONDITION, len(words) - 1)
    )


def _begins_question(text: str) -> bool:
    return _begins_with(text, "questions")


def _begins_with(text: str, key: str) -> bool:
    return f"{fold_spelling(text)} ".replace("?", " ").startswith(_list_beginnings(key))


@cache
def _list_beginnings(key: str) -> tuple[str, ...]:
    return tuple(f"{phrase} " for phrase in list_phrases(key))


def is_small_talk(session: Session) -> bool:
    """True for a greeting or thanks."""
    greets = session.input_params.get("dialogue_act") == DialogueAct.GREETING
    return greets or is_phrase(session.user_text, "thanks", "greetings")


def write_question(field: Field, language: str) -> str:
    """The default question for a field, from its title, its type and its choices."""
    texts, title = get_texts(language), write_title(field, language)
    if field.type == "boolean":
        return _fill(texts["ask_yes_no"], title=title[:1].upper() + title[1:])
    options = [option.label for option in field.spec.options]
    if options:
        return _fill(texts["ask_choice"], title=title, options=join_texts(options, texts["or"]))
    return _fill(texts["ask_which" if field.spec.kind in _WHICH else "ask"], title=title)


def write_needed(field: Field, language: str, *, has_person: bool) -> str:
    """That the form cannot go on without the value of a field, to somebody who does not know it.

    `has_person`: somebody can be asked for.
    """
    texts = get_texts(language)
    needed = _fill(texts["needed"], title=write_title(field, ""))
    return f"{needed} {texts['needed_person']}" if has_person else needed


def write_why(field: Field, language: str, question: str) -> str:
    """What somebody hears who asks what a field is for: that it is needed, or may be left out."""
    return _fill(get_texts(language)["why_required" if field.required else "why_optional"], question=question)


def write_next(language: str, question: str) -> str:
    """That what is open comes first, to somebody who asks for one more."""
    return _fill(get_texts(language)["first_this"], question=question)


def write_question_for_all(fields: Sequence[Field], language: str) -> str:
    """The default question for several fields at once."""
    texts = get_texts(language)
    titles = join_texts([write_title(field, language) for field in fields], texts["and"])
    return _fill(texts["ask_all"], titles=titles)


def write_change_question(fields: Iterable[Field], language: str) -> str:
    """The question which of these fields to change, after a "no" to the confirmation."""
    texts = get_texts(language)
    titles = [write_title(field, language) for field in fields]
    return _fill(texts["ask_change"], titles=join_texts(titles, texts["or"]))


def list_filled_fields(form: Form, context: Mapping[str, Json]) -> list[Field]:
    """The fields with a value, in the order of the form."""
    return sort_fields(form, (field for field in form.fields if context.get(field.path) is not None))


def write_refusal(field: Field, value: str, reason: str, data: Mapping[str, Json], locale: str) -> str:
    """Why a value was refused, as a sentence."""
    if reason == NOT_ALLOWED:
        return str(data.get("text", ""))
    texts = get_texts(find_language(locale))
    if candidates := data.get("candidates"):
        listed = [say_value(field.spec, candidate, locale) for candidate in candidates]
        return _fill(texts["candidates"], candidates=join_texts(listed, texts["or"]))
    low, high = (_say_bound(field, data.get(key), locale) for key in ("min", "max"))
    key = "bounds" if low and high else "bounds_min" if low else "bounds_max" if high else ""
    bounds = _fill(texts[key], min=low, max=high) if key else ""
    template = texts["reasons"].get(reason) or texts["reasons"][""]
    return _fill(template, value=value, bounds=bounds)


def _say_bound(field: Field, bound: Json, locale: str) -> str:
    return "" if bound is None else say_value(field.spec, bound, locale)


def write_title(field: Field, language: str) -> str:
    """The name of a field inside a sentence of a language; as written for no language."""
    title = field.declared.get("title")
    text = (
        title.strip() if isinstance(title, str) and title.strip() else " ".join(split_name(field.path.split(".")[-1]))
    )
    if language and get_texts(language)["titles_in_lower_case"] and not text[:2].isupper():
        return text[:1].lower() + text[1:]
    return text


def join_texts(texts: Sequence[str], joint: str) -> str:
    """`a, b or c`."""
    return f"{', '.join(texts[:-1])} {joint} {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _fill(template: str, **values: str) -> str:
    return template.format_map(values)
