"""Yes or no, as the value of a field and as the answer to a question (R114, R120)."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from convengine.engine.values.choices import stem_words
from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, PhraseSet, get_language
from convengine.engine.values.own_things import has_own
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, accept
from convengine.engine.values.tokens import Token, TokenText, fold_text

#: Longest text that is a yes or a no, in characters of its tokens.
MAX_LENGTH = 200
#: Longest message that may begin with a yes or no and say more, in words.
_MAX_WORDS = 12
#: How many words before a phrase may deny it.
_DENIAL_REACH = 3
#: A no in fewer words may correct the last answer.
_FEWEST_DECLINING = 2
#: The fewest words of a yes with its reason; "yes please without" gives none.
_SHORTEST_REASON = 3
#: Longest answer behind "just", in words.
_MAX_LIMITED = 5
#: Longest answer with its yes or no somewhere in it, in words.
_LONGEST_ANSWER = 16
#: Longest answer that says a question as a statement, in words.
_MAX_STATED = 7
#: Shortest end of a joined word that stands for it.
_MIN_END = 4
_CLAUSE = re.compile(r"\s*[,.;!–]\s*(?=\S)|\s-\s")
_SIGN = re.compile(r"[,.;:!–-]")
_STRETCHED = re.compile(r"([^\W\d_])\1{2,}", re.IGNORECASE)


def read_yes_or_no(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read yes or no: one phrase of the tables, several that agree, or one that begins the asked field's answer."""
    if situation.is_asked and (size := _get_phrases(language, "friendly_noes").match_start(tokens.text, 0)):
        rest = text[tokens.position(0, size)[1] :]
        following = language.read_tokens(rest)
        if any(says(spec, rest, following, language) for says in (_asserts_thing, _states_question)):
            return accept(True)
        if _get_phrases(language, "plain_answers").match_start(following.text, 0):
            return read_yes_or_no(spec, rest, following, situation, language)
    if situation.is_asked and (other_text := _cut_friendly_no(text, tokens, language)) is not None:
        return read_yes_or_no(spec, other_text, language.read_tokens(other_text), situation, language)
    value = _read(text, tokens, language, is_field=True)
    if situation.is_asked and _begins_with_no(tokens, language) and _asserts_thing(spec, text, tokens, language):
        return accept(True)
    if situation.is_asked and has_own(spec, text, language):
        return accept(False)
    if value is None and situation.is_asked and len(tokens.tokens) > 1:
        # "Nein, lieber vor Ort" is a no; "nein, lieber Dienstag" corrects a day.
        names_day = any(_names_day(token.text, language) for token in tokens.tokens)
        plain = tokens if names_day else _drop_phrases(tokens, _get_word_list(language, "soft_changes"))
        value = _read_start(text, plain, language)
    if value is None and situation.is_asked:
        value = _read_around(text, tokens, language)
    if value is None and situation.is_asked:
        value = _read_behind_question(text, language)
    if value is None and situation.is_asked and _declines_in_first_clause(spec, text, tokens, language):
        value = False
    if value is None and situation.is_asked:
        value = _read_opposite(spec, text, language)
    if value is None and situation.is_asked and _denies_thing(spec, text, tokens, language):
        value = False
    if value is None and situation.is_asked and begins_with_plain_no(text, tokens, language):
        value = False
    if value is None and situation.is_asked and _has_none(spec, text, tokens, language):
        value = False
    if value is None and situation.is_asked and _has_thing(spec, text, tokens, language):
        value = True
    if value is None and situation.is_asked:
        value = _read_inclusion(spec, text, tokens, language)
    if value is None and situation.is_asked and _states_question(spec, text, tokens, language):
        value = True
    if value is None and situation.is_asked:
        value = _read_own_words(spec, text, language)
    if value is None and situation.is_asked and _limits(spec, text, tokens, language):
        value = False
    if (
        value is None
        and situation.is_asked
        and (_gives_reason_for_yes(text, tokens, language) or _adds_remark(text, tokens, language))
    ):
        value = True
    if value is None and situation.is_asked:
        value = _read_only_answer(text, tokens, language)
    if value is None and situation.is_asked and _agrees_in_first_clause(text, language):
        value = True
    if situation.is_asked and value is not None and _is_undecided(tokens, language):
        value = None
    if value and (_doubts(tokens, language) or _ends_with_no(text, language) or _depends(spec, tokens, language)):
        value = None
    if value and situation.is_asked and _denies_wish(tokens, language):
        value = None
    if situation.is_asked and value is not None and _names_opposite(value, spec, text, tokens, language):
        value = None
    if situation.is_asked and value and any(has_own(spec, clause, language) for clause in _CLAUSE.split(text)):
        value = None  # "Yes, I have my own"
    return NOTHING if value is None else accept(value)


def _doubts(tokens: TokenText, language: Language) -> bool:
    """True for "I am not sure": what somebody doubts is no yes. A doubtful no stays a no, which does nothing."""
    doubts = _get_phrases(language, "doubts")
    return any(doubts.match_start(tokens.text, offset) for offset in tokens.offsets)


def _depends(spec: FieldSpec, tokens: TokenText, language: Language) -> bool:
    """True for "yes if it rains" and "yes, let me check": a yes on a condition, or one that waits for something.

    "Yes, if possible" is a plain yes, and so is a condition that the question itself names.
    """
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    plain = _drop_phrases(tokens, _get_phrases(language, "polite_conditions"))
    conditions, delays = _get_phrases(language, "conditions"), _get_phrases(language, "waits")
    if any(token.text not in own and conditions.match_start(plain.text, offset) for token, offset in _pair(plain)):
        return True
    yeses = _get_phrases(language, "first_yes").phrases
    last = max((offset for token, offset in _pair(plain) if token.text in yeses), default=0)
    return any(delays.match_start(plain.text, offset) for offset in plain.offsets if offset > last)


def _pair(tokens: TokenText) -> Iterator[tuple[Token, int]]:
    return zip(tokens.tokens, tokens.offsets, strict=True)


def _cut_friendly_no(text: str, tokens: TokenText, language: Language) -> str | None:
    """The rest of "yes no problem", which denies nothing; null without such words behind others."""
    phrases = _get_phrases(language, "friendly_noes")
    for offset in tokens.offsets[1:]:
        if size := phrases.match_start(tokens.text, offset):
            start, end = tokens.position(offset, offset + size)
            return f"{text[:start]}{text[end:]}"
    return None


def is_undecided(text: str, situation: ReadingSituation) -> bool:
    """True for "yes and no", which is neither."""
    languages = (get_language(locale) for locale in (situation.locale, situation.fallback_locale))
    return any(_is_undecided(language.read_tokens(text), language) for language in languages)


def _is_undecided(tokens: TokenText, language: Language) -> bool:
    """True for "yes and no": a doubt that has both answers in it."""
    plain = _get_phrases(language, "plain_answers").phrases
    noes = plain & _get_phrases(language, "first_no").phrases
    doubts = _get_phrases(language, "doubts")
    sizes = ((offset, doubts.match_start(tokens.text, offset)) for offset in tokens.offsets)
    words = (tokens.text[offset : offset + size].split() for offset, size in sizes if size)
    return any(not noes.isdisjoint(phrase) and not (plain - noes).isdisjoint(phrase) for phrase in words)


def _read_only_answer(text: str, tokens: TokenText, language: Language) -> bool | None:
    """The only plain yes or no of an answer, at either end of a clause: "sadly yes, an upright", "no sorry i work".

    The rest names no day and no number, and neither doubts it nor takes it back.
    """
    plain = _get_phrases(language, "plain_answers").phrases
    yeses, noes = (plain & _get_phrases(language, name).phrases for name in ("first_yes", "first_no"))
    reports = {fold_text(word) for word in language.words["yes_no"]["told_answers"]}
    clauses = [[token.text for token in language.read_tokens(clause).tokens] for clause in _CLAUSE.split(text)]
    words = [token.text for token in _drop_phrases(tokens, _get_phrases(language, "harmless")).tokens]
    answers = [word for word in words if word in yeses | noes]
    if (
        "?" in text
        or not 1 < len(tokens.tokens) <= _LONGEST_ANSWER
        or len(answers) != 1
        or not reports.isdisjoint(words)
    ):
        return None
    value = answers[0] in yeses
    articles = {fold_text(word) for word in language.numbers["articles"]}
    leads = any(clause[:1] == answers and (value or _goes_on(clause[1:], language)) for clause in clauses)
    ends = any(clause[-1:] == answers for clause in clauses)
    is_named = any(before in articles and word == answers[0] for before, word in pairwise(words))  # "That's a no"
    if not (leads or ends or is_named) or (is_named and language.is_in("question_verbs", words[0])):
        return None  # "Is that a no from you"
    others = [word for word in words if word not in answers]
    if _doubts(tokens, language) or any(
        word[0].isdigit()
        or _names_day(word, language)
        or language.is_in("alternatives", word)
        or (value and language.is_in("denials", word))
        or (language.is_in("changes", word) and not _is_soft(word, language))
        for word in others
    ):
        return None
    return value


def _agrees_in_first_clause(text: str, language: Language) -> bool:
    """True for "I can, my wife is at home then": a yes in more than one word, and then words that take nothing back."""
    first, *others = _CLAUSE.split(text)
    clause, words = language.read_tokens(first), [token.text for token in language.read_tokens(" ".join(others)).tokens]
    if not words or "?" in text or len(words) > _MAX_WORDS or len(clause.tokens) < _FEWEST_DECLINING:
        return False
    tables = ("changes", "denials", "alternatives")
    return _read(first, clause, language, is_field=True) is True and not any(
        word[0].isdigit() or _names_day(word, language) or any(language.is_in(table, word) for table in tables)
        for word in words
    )


def _goes_on(words: list[str], language: Language) -> bool:
    """True for words behind a no that begin a courtesy or a clause, so that it is not the no of "no rush"."""
    tables = ("interjections", "clause_starts")
    return not words or any(language.is_in(table, words[0]) for table in tables)


def _is_soft(word: str, language: Language) -> bool:
    """True for a word that may change something, and beside a yes or no hardly does: "but", "sorry"."""
    return any(language.is_in(table, word) for table in ("soft_changes", "interjections"))


def _begins_with_no(tokens: TokenText, language: Language) -> bool:
    return _count_leading_no(tokens, language) > 0


def _count_leading_no(tokens: TokenText, language: Language) -> int:
    """How many words at the beginning only say no: 2 in "oh no, we do need one"; 0 if none of them does."""
    plain = _get_phrases(language, "plain_answers").phrases & _get_phrases(language, "first_no").phrases
    count, says_no = 0, False
    for token in tokens.tokens:
        if token.text not in plain and not language.is_in("interjections", token.text):
            break
        count, says_no = count + 1, says_no or token.text in plain
    return count if says_no else 0


def _asserts_thing(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "no, we do need one" in answer to "Do you need a ramp?": what follows the no wishes for the same thing.

    It names the thing, or repeats the verb, or wants "one"; it denies nothing and says nothing else.
    """
    table = language.words["yes_no"]
    verbs, questions, small, subjects, things = (
        {fold_text(word) for word in table[name]}
        for name in ("wish_verbs", "wish_questions", "statement_words", "subjects", "indefinite_things")
    )
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    words = [token.text for token in tokens.tokens[_count_leading_no(tokens, language) :]]
    purposes = [index for index, word in enumerate(words) if language.is_in("purposes", word)]
    words = words[: purposes[0]] if purposes and purposes[0] else words
    wished = verbs.intersection(words)
    if "?" in text or not 2 < len(words) <= _MAX_WORDS or subjects.isdisjoint(words) or not wished:
        return False
    if own.isdisjoint(verbs | questions) or any(language.is_in("alternatives", word) for word in own):
        return False
    if any(language.is_in("denials", word) for word in (*words, *own)):
        return False
    content = [word for word in words if word not in small | subjects | things | verbs]
    own_stems = {stem for word in own for stem in stem_words(word, language)}
    if content:
        return all(own_stems.issuperset(stem_words(word, language)) for word in content)
    return not wished.isdisjoint(own) or not things.isdisjoint(words)


def _ends_with_no(text: str, language: Language) -> bool:
    """True for "ok, we don't need it": the last clause is a no."""
    last = _CLAUSE.split(text)[-1]
    if last != text and _read(last, language.read_tokens(last), language, is_field=True) is False:
        return True
    # "Passt schon ohne", but not "ja, ich bin taub ohne"
    tokens = language.read_tokens(text)
    ends_without = any(language.is_in("exclusions", token.text) for token in tokens.tokens[-1:])
    return ends_without and not (
        _gives_reason_for_yes(text, tokens, language) and len(tokens.tokens) > _SHORTEST_REASON
    )


def begins_with_plain_answer(text: str, locale: str) -> bool:
    """True for "yes please" and "nope", and not for "please" or "ok", which may be a courtesy."""
    language = get_language(locale)
    return _get_phrases(language, "plain_answers").match_start(language.read_tokens(text).text, 0) > 0


def begins_with_plain_no(text: str, tokens: TokenText, language: Language) -> bool:
    """True for "no just you is fine": a plain no with a reason, which says yes to something else."""
    words = [token.text for token in tokens.tokens]
    plain, answers = _get_phrases(language, "plain_answers"), _get_phrases(language, "no_answers", "friendly_noes")
    noes, yeses = (plain.phrases & _get_phrases(language, name).phrases for name in ("first_no", "first_yes"))
    if "?" in text or not 1 < len(words) <= _MAX_WORDS or words[0] not in noes:
        return False
    if answers.match_start(tokens.text, 0) or not yeses.isdisjoint(words):
        return False
    return not any(
        word[0].isdigit()
        or _names_day(word, language)
        or (language.is_in("changes", word) and not language.is_in("soft_changes", word))
        for word in words
    )


def _gives_reason_for_yes(text: str, tokens: TokenText, language: Language) -> bool:
    """True for "yes I have no other": a plain yes, and a clause that says why. A "no" of its own takes it back."""
    words = [token.text for token in tokens.tokens]
    plain = _get_phrases(language, "plain_answers").phrases
    yeses, noes = (plain & _get_phrases(language, name).phrases for name in ("first_yes", "first_no"))
    if "?" in text or not _SHORTEST_REASON <= len(words) <= _MAX_WORDS or words[0] not in yeses:
        return False
    begins = language.is_in("reason_starts", words[1]) or _begins_a_clause(text, tokens, tokens.offsets[1], language)
    inner = [index for index, word in enumerate(words) if word in noes]
    gaps = [_SIGN.search(text[before.end : after.start]) for before, after in pairwise(tokens.tokens)]
    has_no = any(not 1 < index < len(words) - 1 or gaps[index - 1] or gaps[index] for index in inner)
    return (
        begins
        and not has_no
        and not any(
            word[0].isdigit()
            or _names_day(word, language)
            or language.is_in("alternatives", word)
            or (language.is_in("changes", word) and not language.is_in("changes_in_reasons", word))
            for word in words[1:]
        )
    )


def _adds_remark(text: str, tokens: TokenText, language: Language) -> bool:
    """True for "ja aber das ist schon 2 Wochen alt": a plain yes, and then how old or large the thing is."""
    words = [token.text for token in tokens.tokens]
    yeses = _get_phrases(language, "plain_answers").phrases & _get_phrases(language, "first_yes").phrases
    lead = _get_phrases(language, "remark_leads").match_start(tokens.text, len(words[0]) + 1) if words else 0
    if "?" in text or len(words) > _MAX_WORDS or not lead or words[0] not in yeses:
        return False
    rest = tokens.text[len(words[0]) + 1 + lead :].split()
    return not any(
        _names_day(word, language)
        or any(language.is_in(table, word) for table in ("denials", "changes", "alternatives", "reservations"))
        or (word[0].isdigit() and following not in (language.slots["any_unit"].values or {}))
        for word, following in zip(rest, [*rest[1:], ""], strict=True)
    )


def _denies_wish(tokens: TokenText, language: Language) -> bool:
    """True for "yes, I don't need it" and "yes, we can do without": what follows the yes says no."""
    denied = _get_phrases(language, "denied_wishes")
    return any(denied.match_start(tokens.text, offset) for offset in tokens.offsets)


def gives_reason_for_no(text: str, language: Language) -> bool:
    """True for "nah we'll be there anyway": a plain no, and a clause of its own that denies nothing else."""
    tokens = language.read_tokens(text)
    if not begins_with_plain_no(text, tokens, language):
        return False
    rest = [token.text for token in tokens.tokens[1:]]
    denies = any(language.is_in("denials", word) for word in rest)
    return not denies and _begins_a_clause(text, tokens, tokens.offsets[1], language)


def _has_none(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "gibts bei Briefkästen keine" where the question is whether somebody has it."""
    have = {fold_text(word) for word in language.words["yes_no"]["have_words"]}
    if "?" in text or len(tokens.tokens) > _MAX_WORDS or have.isdisjoint(map(fold_text, (*spec.words, *spec.question))):
        return False
    ends = _get_phrases(language, "have_no_ends")
    if not _get_phrases(language, "have_no").match_start(tokens.text, 0):
        return False
    return not ends.phrases or ends.match_end(tokens.text, len(tokens.text)) > 0


def _has_thing(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "die Karte hab ich dabei" where the question is whether somebody has it."""
    have = {fold_text(word) for word in language.words["yes_no"]["have_words"]}
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    words = {token.text for token in tokens.tokens}
    if "?" in text or have.isdisjoint(own) or have.isdisjoint(words) or len(tokens.tokens) > _MAX_WORDS:
        return False
    if language.questions.match_start(tokens.text, 0):
        return False  # "Have you"
    small = {fold_text(word) for word in language.words["yes_no"]["thing_words"]}
    denial = {fold_text(word) for word in language.words["yes_no"]["thing_denials"]}
    return denial.isdisjoint(words) and have | small | own >= _drop_ends(words, own, language)


def _read_around(text: str, tokens: TokenText, language: Language) -> bool | None:
    """The yes or no in a clause of its own at the beginning or the end: "yes 1 racket please", "he needs one, yes"."""
    if not 1 < len(tokens.tokens) <= _MAX_WORDS or text.rstrip().endswith("?"):
        return None
    words = [token.text for token in tokens.tokens]
    denies = any(language.is_in("denials", word) and not language.is_in("leading_no", word) for word in words)
    parts = _CLAUSE.split(text)
    if len(parts) > 1 and _confirms_in_first_clause(parts[0], words, language):
        return True
    end = _drop_phrases(language.read_tokens(parts[-1]), _get_word_list(language, "conclusions"))
    last = _read(parts[-1], end, language, is_field=True) if len(parts) > 1 else None
    if last is not None and not (last and denies):
        opposite = (
            _get_phrases(language, "plain_answers").phrases
            & _get_phrases(language, "first_no" if last else "first_yes").phrases
        )
        is_plain = end.text.strip() in _get_phrases(language, "plain_answers").phrases
        # "No nuts please, yes": what concludes decides.
        return last if is_plain or opposite.isdisjoint(words) else None
    is_last_yes = (
        words[-1] in _get_phrases(language, "plain_answers").phrases & _get_phrases(language, "first_yes").phrases
    )
    if is_last_yes and not denies and not any(language.is_in("changes", word) for word in words):
        return True  # "Take it all away yeah"
    if _ends_with_plain_no(words, language):
        return False
    # A "no" before a number may correct the last answer.
    first = _get_phrases(language, "plain_answers").match_start(tokens.text, 0)
    is_yes = bool(first) and _get_phrases(language, "first_yes").match_start(tokens.text, 0) > 0
    changes = any(language.is_in("changes", word) for word in words)
    counts = any(
        word[0].isdigit() and not language.is_in("before_time_in_sentence", before)  # Not for "yes at 3".
        for before, word in pairwise(words)
    )
    return True if is_yes and not denies and not changes and counts else None


def _read_behind_question(text: str, language: Language) -> bool | None:
    """The yes or no that is all of the text behind a question: "why a high chair? no"."""
    rest = text.rpartition("?")[2]
    return _read(rest, language.read_tokens(rest), language, is_field=True) if "?" in text else None


def _ends_with_plain_no(words: list[str], language: Language) -> bool:
    """True for "er hat noch keine nein": a plain no at the end repeats what is denied before it."""
    table = language.words["yes_no"]
    denial = {fold_text(word) for word in table["thing_denials"]}
    plain = _get_phrases(language, "plain_answers").phrases
    noes, yeses = (plain & _get_phrases(language, name).phrases for name in ("first_no", "first_yes"))
    is_denied = not denial.isdisjoint(words[:-1])
    is_denied = is_denied or any(
        language.is_in("conclusions", word) for word in words[-2:-1]
    )  # "We bring our own so no"
    is_told = not {fold_text(word) for word in table["told_answers"]}.isdisjoint(words)
    return words[-1] in noes and is_denied and not is_told and yeses.isdisjoint(words)


def _confirms_in_first_clause(clause: str, words: list[str], language: Language) -> bool:
    """True for "ja, vierter Stock ohne Aufzug": a plain yes as a clause of its own, and nothing that takes it back."""
    plain = _get_phrases(language, "plain_answers").phrases & _get_phrases(language, "first_yes").phrases
    opposite = _get_phrases(language, "plain_answers").phrases & _get_phrases(language, "first_no").phrases
    if language.read_tokens(clause).text.strip() not in plain or not opposite.isdisjoint(words):
        return False
    return not any(language.is_in("changes", word) for word in words)


def _declines_in_first_clause(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "no rush, normal is fine": a no in more than one word, and then words that take nothing back.

    They name neither what was asked nor a day or a number, and do not deny either.
    """
    first, *others = _CLAUSE.split(text)
    words = [token.text for token in tokens.tokens]
    plain = _get_phrases(language, "plain_answers").phrases
    clause = language.read_tokens(first)
    rest = words[len(clause.tokens) :]
    if not others or "?" in text or len(words) > _MAX_WORDS or not plain.isdisjoint(rest):
        return False
    if len(clause.tokens) < _FEWEST_DECLINING or _read(first, clause, language, is_field=True) is not False:
        return False
    own = {stem for word in spec.words for stem in stem_words(fold_text(word), language)}
    names_own = any(not own.isdisjoint(stem_words(word, language)) for word in rest)
    return not names_own and not any(
        word[0].isdigit()
        or _names_day(word, language)
        or any(language.is_in(table, word) for table in ("changes", "denials"))
        for word in rest
    )


def _read_opposite(spec: FieldSpec, text: str, language: Language) -> bool | None:
    """No for the opposite of what the field asks, "just outside" where the inside is meant; yes for the same.

    The first clause answers: "on the street unfortunately, there is no drive".
    """
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    clause = _CLAUSE.split(text)[0]
    tokens = _drop_phrases(language.read_tokens(clause), _get_phrases(language, "hedges"))
    words = [token.text for token in tokens.tokens]
    stems = {stem for word in own for stem in stem_words(word, language)}
    small = ("fillers", "soft_changes", "before", "after", "beside_opposites")
    content = [word for word in words if not any(language.is_in(table, word) for table in small)]
    if "?" in text or len(words) > _MAX_WORDS or any(language.is_in("denials", word) for word in words):
        return None
    for pair in language.words["opposites"]:
        first, second = (frozenset(fold_text(word) for word in side) for side in pair)
        for wanted, other in ((first, second), (second, first)):
            if wanted.isdisjoint(own) or not other.isdisjoint(own):
                continue
            named = [
                word for word in content if word in wanted | other or not stems.issuperset(stem_words(word, language))
            ]
            if named and (other.issuperset(named) or wanted.issuperset(named)):
                return wanted.issuperset(named)
    return None


def _names_opposite(value: bool, spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "yes, it's used" in answer to "Is it new?": a plain yes or no, and then the opposite of it."""
    if not tokens.tokens or tokens.tokens[0].text not in _get_phrases(language, "plain_answers").phrases:
        return False
    rest = text[tokens.tokens[0].end :].lstrip(" ,.;:!–-")
    return _read_opposite(spec, rest, language) is (not value)


def _denies_thing(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for one denial beside the words of the field and small ones: "good, we need no projector"."""
    words = [token.text for token in tokens.tokens]
    if "?" in text or not 1 < len(words) <= _MAX_WORDS:
        return False
    denial = {fold_text(word) for word in language.words["yes_no"]["thing_denials"]}
    small = {fold_text(word) for word in language.words["yes_no"]["thing_words"]}
    own = {fold_text(word) for word in (*spec.words, *spec.question)} - denial
    is_denied = sum(word in denial for word in words) == 1
    return is_denied and denial | small | own >= _drop_ends({*words}, own, language)


def _drop_ends(words: set[str], own: set[str], language: Language) -> set[str]:
    """The words without ends of joined words of the field: "Karte" where a "Sicherungskarte" is meant."""
    if not language.words.get("joins_words"):
        return words
    return {
        word
        for word in words
        if len(word) < _MIN_END or not any(whole != word and whole.endswith(word) for whole in own)
    }


def _read_inclusion(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool | None:
    """Yes for "with setup please", no for "without setup", in answer to "Shall we deliver and do the setup?"."""
    own = [fold_text(word) for word in (*spec.words, *spec.question)]
    if "?" in text or any(language.is_in("denials", word) for word in own):
        return None
    stems = {stem for word in own for stem in stem_words(word, language)}
    for name, value in (("exclusions", False), ("inclusions", True)):
        size = _get_word_list(language, name).match_start(tokens.text, 0)
        words = tokens.text[size:].split()
        content = [
            word for word in words if not any(language.is_in(table, word) for table in ("fillers", "before", "after"))
        ]
        if size and content and all(stems.issuperset(stem_words(word, language)) for word in content):
            return value
    return None


def _states_question(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "ich warte dann" in answer to "Möchten Sie warten?": the question's own words as a statement.

    It says who does so, or has two of the question's telling words; it denies nothing and says nothing else.
    """
    own = {fold_text(word) for word in spec.question}
    words = [token.text for token in tokens.tokens]
    if "?" in text or not 1 < len(words) <= _MAX_STATED or language.questions.match_start(tokens.text, 0):
        return False
    if any(language.is_in("alternatives", word) or language.is_in("denials", word) for word in (*own, *words)):
        return False
    small = {fold_text(word) for word in language.words["yes_no"]["statement_words"]}
    subjects = {fold_text(word) for word in language.words["yes_no"]["subjects"]}
    stems = {stem for word in own for stem in stem_words(word, language)}
    small = {word for word in small if not stems.issuperset(stem_words(word, language))} | subjects
    content = [word for word in words if not (language.is_in("fillers", word) or word in small)]
    if not content or not all(stems.issuperset(stem_words(word, language)) for word in content):
        return False
    return not subjects.isdisjoint(words) or len(content) > 1


def read_own_words(spec: FieldSpec, text: str, situation: ReadingSituation) -> bool | None:
    """What a text says about a field with the field's own word, beside other fields: "please don't store them"."""
    languages = (get_language(locale) for locale in (situation.locale, situation.fallback_locale))
    values = (_read_own_words(spec, text, language) for language in languages)
    return next((value for value in values if value is not None), None)


def _read_own_words(spec: FieldSpec, text: str, language: Language) -> bool | None:
    """Yes for the only clause with the field's own word, "a bit nervous", and no where it is denied: "not nervous no".

    The other clauses tell why: "the old ones can go, so don't store them".
    """
    tokens = language.read_tokens(text)
    if "?" in text or len(tokens.tokens) > _MAX_WORDS or _doubts(tokens, language):
        return None
    parts = [clause for clause in _CLAUSE.split(text) if any(map(str.isalnum, clause))]
    clauses = [_read_own_clause(spec, clause, language) for clause in parts]
    values = {value for value in clauses if value is not None}
    names = {fold_text(word) for word in spec.words}
    is_other = any(
        value is None and not names.isdisjoint(token.text for token in language.read_tokens(clause).tokens)
        for value, clause in zip(clauses, parts, strict=True)
    )
    if len(values) != 1 or is_other:
        return None
    value = values.pop()
    words = [token.text for token in tokens.tokens]
    if value and any(language.is_in("denials", word) for word in words):
        return None  # "No rush, but express would be good"
    if any(language.is_in("changes", word) and not language.is_in("soft_changes", word) for word in words):
        return None  # "Moment, warte"
    plain = _get_phrases(language, "plain_answers").phrases
    opposite = plain & _get_phrases(language, "first_no" if value else "first_yes").phrases
    return value if opposite.isdisjoint(words) else None


def _read_own_clause(spec: FieldSpec, clause: str, language: Language) -> bool | None:
    """Yes or no for a clause of the field's title and small words, with one denial or none."""
    table = language.words["yes_no"]
    tokens = language.read_tokens(clause)
    question = [fold_text(word) for word in spec.question]
    if language.questions.match_start(tokens.text, 0) or any(language.is_in("alternatives", word) for word in question):
        return None
    small, denials, degrees, partial = (
        {fold_text(word) for name in names for word in table[name]}
        for names in (
            ("thing_words", "statement_words", "subjects"), ("thing_denials",), ("degrees",), ("partial_words",),
        )
    )  # fmt: skip
    named, own = (
        {stem for word in words for stem in stem_words(fold_text(word), language)}
        for words in (spec.words, (*spec.words, *spec.question))
    )

    def is_named_by(word: str) -> bool:
        return named.issuperset(stem_words(word, language))

    def is_own(word: str) -> bool:
        return not language.is_in("denials", word) and own.issuperset(stem_words(word, language))

    plain = _get_phrases(language, "plain_answers").phrases
    words, count, is_named = _join_own_verb([token.text for token in tokens.tokens], spec, language), 0, False
    is_denied_behind = len(words) > 1 and words[-1] in plain & _get_phrases(language, "first_no").phrases
    for word in words:
        prefix = next((item for item in table["denying_prefixes"] if word.startswith(item)), "")
        is_opposite = bool(prefix) and word not in question and is_named_by(word.removeprefix(prefix))
        if word in denials or is_opposite:
            count, is_named = count + 1, is_named or is_opposite
        elif word in plain or word in degrees:
            continue
        elif word not in partial and is_named_by(word):
            is_named = True
        elif word in partial or not (word in small or language.is_in("fillers", word) or is_own(word)):
            return None
    if not is_named or count > 1 + is_denied_behind:
        return None
    return count == 0 and not is_denied_behind


def _join_own_verb(words: list[str], spec: FieldSpec, language: Language) -> list[str]:
    """The words with a verb of the field in one: "lagern sie die ein" for "einlagern"."""
    own = {fold_text(word) for word in spec.words}
    if language.words.get("joins_words"):
        for index, word in enumerate(words[:-1]):
            if words[-1] + word in own:
                return [*words[:index], words[-1] + word, *words[index + 1 : -1]]
    return words


def _limits(spec: FieldSpec, text: str, tokens: TokenText, language: Language) -> bool:
    """True for "just the front" where the question is about both sides."""
    question = language.read_tokens(" ".join((*spec.words, *spec.question))).text
    offsets = [0, *(index + 1 for index, char in enumerate(question) if char == " ")]
    size = _get_phrases(language, "limiters").match_start(tokens.text, 0)
    rest = tokens.text[size:].split()
    if not size or "?" in text or not 0 < len(rest) <= _MAX_LIMITED:
        return False
    if any(language.is_in(table, word) for word in rest for table in ("denials", "conjunctions", "reservations")):
        return False
    asks_both = any(_get_phrases(language, "both_words").match_start(question, offset) for offset in offsets)
    own = {stem for word in (*spec.words, *spec.question) for stem in stem_words(fold_text(word), language)}
    content = [word for word in rest if not language.is_in("fillers", word) and not language.is_in("after", word)]
    names_own = any(stem in own for word in content for stem in stem_words(word, language))
    is_one = language.number_words.get(rest[0]) == 1 or rest[0] == "1"
    return asks_both and (is_one or (bool(content) and not names_own and not any(map(str.isdigit, content))))


def _names_day(word: str, language: Language) -> bool:
    return any(word in (language.slots[slot].values or {}) for slot in ("weekday", "month", "relative_day"))


def says_yes_or_no(text: str, locale: str) -> bool | None:
    """Yes or no when the whole text says so in the language of a locale; null for other texts."""
    language = get_language(locale)
    return _read(text, language.read_tokens(text), language)


def adds_wish(text: str, locale: str) -> bool:
    """True for "and then I need another one" behind a yes, false for "I need a voucher first" and "… instead"."""
    language = get_language(locale)
    tokens = language.read_tokens(text)
    words = [token.text for token in tokens.tokens]
    if not words or "?" in text:
        return False
    is_added = language.is_in("wish_leads", words[0]) or any(language.is_in("additions", word) for word in words)
    takes_back = any(
        language.is_in("delays", word)
        or (language.is_in("changes", word) and not language.is_in("changes_in_reasons", word))
        for word in words
    )
    unsure = _get_phrases(language, "doubts", "conditions", "waits", "retreats")
    return is_added and not (takes_back or any(unsure.match_start(tokens.text, offset) for offset in tokens.offsets))


def agrees_behind_no(text: str, locale: str) -> bool:
    """True for "no, that's fine" and "no, all correct": a no, and then nothing but a yes."""
    return _covers_behind_no(text, get_language(locale), "yes", "all_right", "leaves_as_is")


def confirms_behind_no(text: str, locale: str) -> bool:
    """True for "no, all correct": a no, and then only that the values are right."""
    return _covers_behind_no(text, get_language(locale), "all_right")


def finds_fault(text: str, locale: str) -> bool:
    """True for "no, something's wrong" and "not quite": the whole text says that the values are not right."""
    language = get_language(locale)
    tokens = language.read_tokens(text)
    if not tokens.tokens or len(tokens.text) > MAX_LENGTH:
        return False
    if _wishes_change(tokens, language):
        return True
    plain = _drop_phrases(tokens, _get_phrases(language, "hedges")).text  # "Da ist leider ein Fehler"
    phrases = _get_phrases(language, "no", "faults")
    return _covers(plain, 0, len(plain), phrases, _get_phrases(language, "after"))


def _wishes_change(tokens: TokenText, language: Language) -> bool:
    """True for "I need to change a couple of things": a wish to change something that it does not name."""
    tables = ("change_wishes", "change_nouns", "changed_things", "change_wish_words")
    verbs, nouns, things, small = (
        {token.text for token in tokens.tokens} & _get_phrases(language, name).phrases for name in tables
    )
    denies = any(language.is_in("denials", token.text) for token in tokens.tokens)  # "No change"
    is_wish = bool((nouns and not denies) or (verbs and things))
    return (
        is_wish
        and len(tokens.tokens) > 1
        and all(any(token.text in table for table in (verbs, nouns, things, small)) for token in tokens.tokens)
    )


def _covers_behind_no(text: str, language: Language, *names: str) -> bool:
    tokens = language.read_tokens(text)
    count = _count_leading_no(tokens, language)
    if not count or len(tokens.text) > MAX_LENGTH or text.rstrip().endswith("?"):
        return False
    phrases, after = _get_phrases(language, *names), _get_phrases(language, "after", "farewells")
    # "No changes needed" is such a phrase from its first word on.
    starts = tokens.offsets[: count + 1]
    return any(_covers(tokens.text, start, len(tokens.text), phrases, after) for start in starts)


def read_opening(text: str, locale: str) -> bool | None:
    """The yes or no that begins a short text, if the rest only adds to it: "yes lovely", "no that's all"; else null."""
    language = get_language(locale)
    tokens = language.read_tokens(_STRETCHED.sub(r"\1", text))  # "Jaaa"
    tokens = _drop_phrases(tokens, _get_phrases(language, "harmless", "farewells"))
    if text.strip()[:1] in _get_phrases(language, "no").phrases and _contradicts(False, tokens, language):
        return None  # A thumb down, and "yes"
    words = [token.text for token in tokens.tokens]
    if any(language.is_in("reservations", word) or word in language.number_words for word in words):
        return None
    value = _read_start(text, tokens, language)
    if value and (any(language.is_in("denials", word) for word in words) or _takes_yes_back(tokens, language)):
        return None
    return value


def orders_action(text: str, question: str, locale: str) -> bool:
    """True for "ja, tragen Sie das bitte ein" in answer to "Soll ich die Stunde eintragen?".

    A yes, and then an order in words of the question and small ones. It names nothing else, denies nothing and counts
    nothing: "yes, book 3 people" may change the 2 of the question. A question whether to cancel takes no such order.
    """
    language = get_language(locale)
    tokens, own = language.read_tokens(text), [token.text for token in language.read_tokens(question).tokens]
    if "?" in text or any(language.is_in("alternatives", word) for word in own):
        return False
    yes, after = (_get_phrases(language, *names) for names in (("yes", "first_yes"), ("after", "farewells")))
    start, end, says_yes = 0, len(tokens.text), False
    while size := yes.match_start(tokens.text, start) or after.match_start(tokens.text, start):
        says_yes = says_yes or yes.match_start(tokens.text, start) > 0
        start += size
    while size := after.match_end(tokens.text, end):
        end -= size
    rest = _join_verb(tokens.text[start:end].split(), language)
    small, subjects = (
        {fold_text(word) for word in language.words["yes_no"][name]} for name in ("order_words", "subjects")
    )
    if not says_yes or not rest or not (subjects - small).isdisjoint(rest):
        return False  # "Ok, can I book"
    if _takes_yes_back(tokens, language) or any(word[0].isdigit() or word in language.number_words for word in rest):
        return False
    asks_to_drop = any(language.is_in("changes", word) and word not in small for word in own)
    if asks_to_drop or _takes_yes_back(language.read_tokens(question), language):
        return False  # "Yes, make the booking" to "Shall I cancel the booking?"
    stems = {stem for word in (*own, *small) for stem in stem_words(word, language)}
    return not any(language.is_in("denials", word) for word in rest) and all(
        stems.issuperset(stem_words(word, language)) for word in rest
    )


def _join_verb(words: list[str], language: Language) -> list[str]:
    """The words with the verb of "tragen Sie das ein" in one: "eintragen"."""
    if len(words) < 2 or not language.is_in("verb_particles", words[-1]):
        return words
    return [f"{words[-1]}{words[0]}", *words[1:-1]]


def _takes_yes_back(tokens: TokenText, language: Language) -> bool:
    """True for "yes, go back" and "ok, do you have parking": words that ask for something else than the yes."""
    retreats = _get_phrases(language, "retreats")
    return any(retreats.match_start(tokens.text, offset) for offset in tokens.offsets)


def names_day(text: str, locale: str) -> bool:
    """True when a word of the text is a weekday, a month, or a day such as "tomorrow"."""
    language = get_language(locale)
    return any(_names_day(token.text, language) for token in language.read_tokens(text).tokens)


def _drop_phrases(tokens: TokenText, phrases: PhraseSet) -> TokenText:
    """The tokens without these phrases."""
    remaining, end = [], 0
    for token, offset in zip(tokens.tokens, tokens.offsets, strict=True):
        if offset >= end and (size := phrases.match_start(tokens.text, offset)):
            end = offset + size
        if offset >= end:
            remaining.append(token)
    return TokenText(remaining)


def _read_start(text: str, tokens: TokenText, language: Language) -> bool | None:
    """Yes or no when a short text begins with it and names nothing else: "no, I pay myself"."""
    words = [token.text for token in tokens.tokens]
    if not 0 < len(words) <= _MAX_WORDS or text.rstrip().endswith("?"):
        return None
    if any(word[0].isdigit() or language.is_in("changes", word) for word in words):
        return None
    start, after = 0, _get_phrases(language, "after", "farewells")
    firsts = {value: _get_phrases(language, "first_yes" if value else "first_no") for value in (True, False)}
    while not any(phrases.match_start(tokens.text, start) for phrases in firsts.values()):
        if not (courtesy := after.match_start(tokens.text, start)):
            return None
        start += courtesy
    size = {value: phrases.match_start(tokens.text, start) for value, phrases in firsts.items()}
    value = bool(size[True])
    if value == bool(size[False]) or any(word in firsts[not value].phrases for word in words):
        return None
    if _get_phrases(language, "no_answers", "friendly_noes").match_start(tokens.text, start):
        return None
    is_plain = words[tokens.offsets.index(start)] in _get_phrases(language, "plain_answers").phrases
    return value if is_plain or _begins_a_clause(text, tokens, start + size[value], language) else None


def _begins_a_clause(text: str, tokens: TokenText, offset: int, language: Language) -> bool:
    """True when what follows `offset` is a clause of its own, or agrees, so that "ok Bob" is no "ok"."""
    if offset >= len(tokens.text):
        return True
    following = tokens.tokens[tokens.offsets.index(offset)]
    before = tokens.tokens[tokens.offsets.index(offset) - 1]
    if _SIGN.search(text[before.end : following.start]) or language.is_in("clause_starts", following.text):
        return True
    return any(_get_phrases(language, name).match_start(tokens.text, offset) for name in ("yes", "after", "farewells"))


def find_inclusion(text_before: str, situation: ReadingSituation) -> tuple[bool, int] | None:
    """Whether the words before the name of a thing include it, and the length of these words: "… with", "… ohne"."""
    for locale in (situation.locale, situation.fallback_locale):
        language = get_language(locale)
        tokens = language.read_tokens(text_before)
        sizes = {
            value: _get_word_list(language, name).match_end(tokens.text, len(tokens.text)) if tokens.tokens else 0
            for value, name in ((True, "inclusions"), (False, "exclusions"))
        }
        value = sizes[True] > sizes[False]
        if size := sizes[value]:
            start, end = tokens.position(len(tokens.text) - size, len(tokens.text))
            if text_before[end:].strip():
                continue  # "No, with Kitchen & Co."
            conditions = _get_phrases(language, "conditions")
            if any(conditions.match_start(tokens.text, offset) for offset in tokens.offsets):
                return None  # "If I need a helmet"
            before = tokens.text[: len(tokens.text) - size].split(" ")[:-1]
            no_words = _count_leading_no(tokens, language)
            if before[no_words : no_words + 1] and before[no_words] in language.words["yes_no"]["subjects"]:
                before = before[no_words:]  # "No, we do need the ramp"
            if any(language.is_in("denials", word) for word in before[-_DENIAL_REACH:]) or (
                before and language.is_in("question_verbs", before[-1])
            ):
                return None
            return value, len(text_before) - start
    return None


def find_addition(text_behind: str, situation: ReadingSituation) -> int:
    """The length of the words behind the name of a thing that add it, "… too", "… as well"; 0 for none."""
    for locale in (situation.locale, situation.fallback_locale):
        language = get_language(locale)
        tokens = language.read_tokens(text_behind)
        size = _get_word_list(language, "additions").match_start(tokens.text, 0) if tokens.tokens else 0
        if size and not text_behind[: tokens.tokens[0].start].strip():
            return tokens.position(0, size)[1]
    return 0


def _read(text: str, tokens: TokenText, language: Language, *, is_field: bool = False) -> bool | None:
    """Yes or no when the whole text says so. `is_field`: in answer to a field, vaguer than a confirmation may be."""
    yes = _get_phrases(language, "yes", "field_yes") if is_field else _get_phrases(language, "yes")
    values = {True: yes, False: _get_phrases(language, "no", "field_no") if is_field else _get_phrases(language, "no")}
    plain = unicodedata.normalize("NFC", text.strip())
    for value, phrases in values.items():
        if plain and not plain[0].isalnum() and plain[0] in phrases.phrases:
            return None if _contradicts(value, tokens, language) else value
    if not tokens.tokens or len(tokens.text) > MAX_LENGTH or text.rstrip().endswith("?"):
        return None
    if tokens.text.strip() in values[False].phrases:
        return False  # "We are fine" is no "we are" and "fine".
    start, end = 0, len(tokens.text)
    after = _get_phrases(language, "after", "farewells", *(["hedges"] if is_field else []))
    for value, phrases in values.items():
        if _covers(tokens.text, start, end, phrases, after):
            return value
    short = _STRETCHED.sub(r"\1", text)  # "nooo"
    return _read(short, language.read_tokens(short), language, is_field=is_field) if short != text else None


def _contradicts(value: bool, tokens: TokenText, language: Language) -> bool:
    """True when a word says the opposite of the sign that begins the text."""
    opposite = _get_phrases(language, "first_no" if value else "first_yes").phrases
    return any(token.text in opposite for token in tokens.tokens)


def _covers(text: str, start: int, end: int, phrases: PhraseSet, after: PhraseSet) -> bool:
    """True when the text is made of the phrases, and of courtesies around them."""
    while not (size := phrases.match_start(text, start)):
        courtesy = after.match_start(text, start)
        if not courtesy:
            return False
        start += courtesy
    while size and start + size <= end:
        start += size
        size = phrases.match_start(text, start) or after.match_start(text, start)
    return start == end


@lru_cache(maxsize=16)
def _get_word_list(language: Language, name: str) -> PhraseSet:
    return PhraseSet(language.words[name])


@lru_cache(maxsize=64)
def _get_phrases(language: Language, *names: str) -> PhraseSet:
    return PhraseSet(phrase for name in names for phrase in language.words["yes_no"][name])
