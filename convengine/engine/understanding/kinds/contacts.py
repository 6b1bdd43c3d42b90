"""Phone numbers, e-mail addresses, post codes and bank accounts."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.understanding.field import FieldSpec
from convengine.engine.understanding.grammar import Chart, GrammarMatch, GrammarPhrase
from convengine.engine.understanding.kinds.ibans import IBAN_LENGTHS, LONGEST_IBAN, check_iban
from convengine.engine.understanding.language import MANY_COUNTRIES, find_country, get_countries
from convengine.engine.understanding.span import RefusalReason, Resolved, Situation, Sort, Span, accept, refuse
from convengine.engine.understanding.words import Word

#: Signs inside a phone number.
_PHONE_SIGNS = frozenset("+()-/.")
_FEWEST_PHONE_DIGITS, _MOST_PHONE_DIGITS = 6, 17
#: No country has longer numbers, but for their code.
_MOST_NATIONAL_DIGITS = 12
#: So few digits without a blank or sign between are rather a number of something else, unless a phone is asked for.
_FEWEST_STRONG_DIGITS = 9
_FEWEST_ASKED_DIGITS, _FEWEST_SPOKEN_DIGITS = 3, 7
_MOST_POSTCODE_WORDS, _LONGEST_POSTCODE = 6, 12
_MOST_EMAIL_WORDS, _MOST_SPOKEN_WORDS = 40, 16
_SHORTEST_IBAN = 10
#: What does not belong to an address that it ends.
_EMAIL_ENDS = frozenset(".,:;!?")
_EMAIL_SIGNS = frozenset(".-_+@")


def find_own_country(spec: FieldSpec, situation: Situation) -> str:
    """The country of the field, else of the users, else of the locale; blank if none says one."""
    assumed = situation.country or find_country(situation.locale) or find_country(situation.fallback_locale)
    return spec.country or ("" if assumed == MANY_COUNTRIES else assumed)


class PhoneFinder:
    """Finds phone numbers (`Sort.PHONE`)."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """Runs of digits with blanks and signs between, and of digits in words."""
        spans: list[Span] = []
        at, run_ends = 0, _list_run_ends(chart.words)
        while at < len(chart.words):
            end, digits = _find_phone_end(chart.words, at, run_ends[at]), ""
            if end > at:
                text = chart.quote(at, end)
                digits = "".join(filter(str.isdecimal, text))
            elif chart.words[at].key in chart.grammar.words:
                end, text = at, ""  # "Oh seven seven double oh"
                while match := chart.match_longest("spoken_digit", end):
                    value, end = match.value, match.end
                    text += (
                        str(next(iter(value.slots.values()))) * 2 if isinstance(value, GrammarPhrase) else str(value)
                    )
                digits = text if len(text) >= _FEWEST_SPOKEN_DIGITS else ""
            if _FEWEST_ASKED_DIGITS <= len(digits) <= _MOST_PHONE_DIGITS:
                is_weak = len(digits) < _FEWEST_STRONG_DIGITS
                spans.append(Span(Sort.PHONE, at, end, GrammarPhrase("phone", {"text": text}), is_weak))
            at = max(end, at + 1)
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The number in the form of E.164; without a country as its digits. The locale's country is supplied.

        Returns None for an invalid number, unless its field was asked for or is named. Then one that may be of another
        country is kept as typed.
        """
        text = str(span.phrase.slots["text"])
        resolved = check_phone(text, find_own_country(spec, situation))
        is_written = text.lstrip("(").startswith(("+", "00"))
        if not resolved.is_value:
            is_long = sum(map(str.isdecimal, text)) > _MOST_NATIONAL_DIGITS
            is_strange = resolved.reason is RefusalReason.INVALID_PHONE or (
                resolved.reason is RefusalReason.TOO_LONG and not is_long
            )
            is_strange = is_strange and not (is_written or spec.country)
            return None if not is_meant else accept(text.strip(), "country") if is_strange else resolved
        is_sure = is_written or spec.country or not resolved.value.startswith("+")
        return resolved if is_sure else accept(resolved.value, "country")


def _list_run_ends(words: Sequence[Word]) -> list[int]:
    """For each word, the end of the digits in the run of numbers and signs that it is in; 0 outside of such a run."""
    ends = [0] * (len(words) + 1)
    for at in range(len(words) - 1, -1, -1):
        if words[at].is_number or words[at].key in _PHONE_SIGNS:
            ends[at] = ends[at + 1] or (at + 1 if words[at].is_number or words[at].key == ")" else 0)
    return ends


def _find_phone_end(words: Sequence[Word], start: int, last: int) -> int:
    """The end of the digits and signs of a number that begins at a word; `start` if none does.

    `last`: the end of the digits in its run.
    """
    first = words[start]
    if not (first.is_number or first.key in "+("):
        return start
    if start and first.is_glued and words[start - 1].key.isalnum():
        return start
    is_code = last < len(words) and words[last].is_glued and (words[last].key.isalnum() or words[last].key in "@:")
    return start if is_code else max(start, last)


def check_phone(text: str, country: str) -> Resolved:
    """The number as E.164, or why it is none; without a country and its code, the digits."""
    digits = "".join(filter(str.isdecimal, text))
    plain = text.strip().replace("(0)", "")
    plain = f"+{plain[2:]}" if plain.startswith("00") else plain
    if not country and not plain.startswith("+"):
        if len(digits) < _FEWEST_PHONE_DIGITS:
            return refuse(RefusalReason.TOO_SHORT)
        return refuse(RefusalReason.TOO_LONG) if len(digits) > 15 else accept(digits)
    if not plain.startswith("+") and len(digits) > 10:
        import phonenumbers

        has_code = digits.startswith(str(phonenumbers.country_code_for_region(country)))
        if has_code and (whole := _check_with_library(f"+{digits}", country)).is_value:
            return whole  # "49 171 2345678"
    return _check_with_library(plain, country)


@lru_cache(maxsize=1024)
def _check_with_library(text: str, country: str) -> Resolved:
    """The number as E.164, or why it is none. A number that is reserved for examples is valid, too."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, country or None)
    except phonenumbers.NumberParseException as problem:
        kinds = phonenumbers.NumberParseException
        is_short = problem.error_type in (kinds.TOO_SHORT_NSN, kinds.TOO_SHORT_AFTER_IDD, kinds.NOT_A_NUMBER)
        is_long = problem.error_type == kinds.TOO_LONG
        return refuse(
            RefusalReason.TOO_LONG if is_long else RefusalReason.TOO_SHORT if is_short else RefusalReason.INVALID_PHONE
        )
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    if phonenumbers.is_valid_number(number) or _is_example(written):
        return accept(written)
    results, reason = phonenumbers.ValidationResult, phonenumbers.is_possible_number_with_reason(number)
    if reason == results.TOO_LONG:
        return refuse(RefusalReason.TOO_LONG)
    size = len(str(number.national_number))
    is_short = reason in (results.TOO_SHORT, results.IS_POSSIBLE_LOCAL_ONLY) or size < 7
    is_short = is_short or (reason == results.INVALID_LENGTH and size < 9)
    return refuse(RefusalReason.TOO_SHORT if is_short else RefusalReason.INVALID_PHONE)


def _is_example(written: str) -> bool:
    """True for a number that a regulator reserves for examples, which demonstrations and tests use."""
    patterns = (country.get("example_phones") for country in get_countries().values())
    return any(compile_pattern(pattern, ignore_case=False).fits(written) for pattern in patterns if pattern)


class EmailFinder:
    """Finds e-mail addresses (`Sort.EMAIL`)."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """What is written in one around an @, and "ann at example dot org"."""
        written = [_find_email(chart, at) for at, word in enumerate(chart.words) if word.key == "@"]
        spoken = (_find_spoken_email(chart, at) for at in range(len(chart.words)))
        whole = [span for span in written if span and chart.words[span.end - 1].key != "@"]
        return whole or [span for span in spoken if span] or [span for span in written if span]

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        return check_email(str(span.phrase.slots["text"]))


def _find_email(chart: Chart, at: int) -> Span | None:
    """The address around an @, or its beginning before one that ends it.

    Returns None if nothing stands before the @ without a blank, or more than an address has.
    """
    words, start, end = chart.words, at, at + 1
    while start and at - start <= _MOST_EMAIL_WORDS and words[start].is_glued and _is_email_part(words[start - 1]):
        start -= 1
    if start == at or at - start > _MOST_EMAIL_WORDS:
        return None
    while end < len(words) and words[end].is_glued and _is_email_part(words[end]) and end - at < _MOST_EMAIL_WORDS:
        end += 1
    while end > at + 1 and words[end - 1].key in _EMAIL_ENDS:
        end -= 1
    return Span(Sort.EMAIL, start, end, GrammarPhrase("email", {"text": chart.quote(start, end)}))


def _is_email_part(word: Word) -> bool:
    return not word.is_sign or word.key in _EMAIL_SIGNS


def _find_spoken_email(chart: Chart, at: int) -> Span | None:
    """The address around the "at" of "ann dot bell at example dot org". It is weak: "look at example dot org".

    Returns None for another word, and without a dot behind it.
    """
    sign = chart.match_longest("at_sign", at)
    if sign is None:
        return None
    end, domain = _read_spoken_name(chart, sign.end)
    for start in range(max(0, at - _MOST_SPOKEN_WORDS), at) if "." in domain else ():
        name_end, name = _read_spoken_name(chart, start)
        if name_end == at and not chart.words[start].is_glued:
            return Span(Sort.EMAIL, start, end, GrammarPhrase("email", {"text": f"{name}@{domain}"}), is_weak=True)
    return None


def _read_spoken_name(chart: Chart, start: int) -> tuple[int, str]:
    """The end and the text of words with dots and other signs between: "mail dot example.org"."""
    words, at, text = chart.words, start, ""
    while at < min(len(words), start + _MOST_SPOKEN_WORDS) and not words[at].is_sign:
        text, at = text + chart.text[words[at].start : words[at].end], at + 1
        joint = _find_joint(chart, at)
        if joint is None or joint.end >= len(words) or words[joint.end].is_sign:
            break
        text, at = text + joint.value, joint.end
    return at, text


def _find_joint(chart: Chart, at: int) -> GrammarMatch | None:
    """What joins two words of an address: nothing or a sign without blanks, or the word for a sign.

    Returns None if they are not joined.
    """
    words = chart.words
    if at < len(words) and words[at].is_glued and not words[at].is_sign:
        return GrammarMatch(at, "")
    if at + 1 < len(words) and words[at].key in ".-_" and words[at].is_glued and words[at + 1].is_glued:
        return GrammarMatch(at + 1, words[at].key)
    spoken = (*chart.match("dot_sign", at), *chart.match("name_sign", at))
    return max(spoken, key=lambda match: match.end, default=None)


@lru_cache(maxsize=1024)
def check_email(text: str) -> Resolved:
    """The address, normalised, or why it is none."""
    from email_validator import EmailNotValidError, validate_email

    try:
        # `.test` is reserved for tests, which is where it is used.
        return accept(validate_email(text, check_deliverability=False, test_environment=True).normalized)
    except EmailNotValidError:
        return refuse(RefusalReason.INVALID_EMAIL)


class PostcodeFinder:
    """Finds post codes (`Sort.POSTCODE`)."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """Short runs of letters and digits that are a post code of some country."""
        spans: list[Span] = []
        # As typed: folded, the "AE" of "GU22 7AE" is one letter.
        typed = [chart.text[word.start : word.end].upper() for word in chart.words]
        pattern, at = compile_pattern(_get_any_postcode(), ignore_case=False), 0
        while at < len(chart.words):
            ends = [end for end in _list_code_ends(chart.words, at) if pattern.fits("".join(typed[at:end]))]
            if ends:
                phrase = GrammarPhrase("postcode", {"text": chart.quote(at, ends[-1])})
                spans.append(Span(Sort.POSTCODE, at, ends[-1], phrase, is_weak=True))
            at = ends[-1] if ends else at + 1
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The code as its country writes it; of an unknown country in capitals.

        Returns None for a code of another country, unless the field was asked for or is named: then it is refused.
        """
        resolved = check_postcode(str(span.phrase.slots["text"]), find_own_country(spec, situation))
        return resolved if resolved.is_value or is_meant else None


def _list_code_ends(words: Sequence[Word], start: int) -> Iterator[int]:
    """Where a code of letters, digits and hyphens may end that begins at a word, which nothing is glued to."""
    if words[start].is_sign or (start and words[start].is_glued and not words[start - 1].is_sign):
        return
    has_digit = False
    for end in range(start + 1, min(len(words), start + _MOST_POSTCODE_WORDS) + 1):
        word = words[end - 1]
        if word.end - words[start].start > _LONGEST_POSTCODE or (word.is_sign and word.key != "-"):
            return
        has_digit = has_digit or word.is_number
        if has_digit and not word.is_sign and (end == len(words) or not words[end].is_glued or words[end].is_sign):
            yield end


@lru_cache(maxsize=1)
def _get_any_postcode() -> str:
    """One pattern for the post codes of all countries, so that each part of a message is compared once."""
    countries = get_countries().values()
    spelled = (f"(?:{rules['prefix']}-?)?{rules['postcode']}" for rules in countries if "prefix" in rules)
    return "|".join((*spelled, *(str(rules["postcode"]) for rules in countries)))


def check_postcode(text: str, country: str) -> Resolved:
    """The post code as its country writes it, or why it is none; of an unknown country in capitals."""
    rules = get_countries().get(country)
    if rules is None:
        return accept(" ".join(text.upper().split()))
    compact, prefix = "".join(text.split()).upper(), str(rules.get("prefix", ""))
    rest = compact.removeprefix(prefix).removeprefix("-") if prefix else compact
    compact = rest if rest.isdecimal() else compact
    for spelled in (compact, compact.replace("-", "")):
        pattern = compile_pattern(str(rules["postcode"]), ignore_case=False)
        if pattern.fits(spelled) and (match := pattern.search(spelled)):
            return accept(str(rules.get("joint", " ")).join(group for group in match.groups() if group))
    return refuse(RefusalReason.INVALID_POSTCODE, country=country)


class IbanFinder:
    """Finds bank accounts (`Sort.IBAN`)."""

    def find(self, chart: Chart, specs: Sequence[FieldSpec]) -> Sequence[Span]:
        """Letters and digits in groups that begin with two letters and two digits."""
        spans: list[Span] = []
        at = 0
        while at < len(chart.words) - 1:
            end = _find_iban_end(chart.words, at)
            if end:
                text = "".join(chart.text[word.start : word.end] for word in chart.words[at:end]).upper()
                spans.append(Span(Sort.IBAN, at, end, GrammarPhrase("iban", {"text": text})))
            at = end or at + 1
        return spans

    def resolve(self, span: Span, spec: FieldSpec, situation: Situation, *, is_meant: bool) -> Resolved | None:
        """The account without blanks, or why it is none: its country, its length or its check digits."""
        return check_iban(str(span.phrase.slots["text"]))


def _find_iban_end(words: Sequence[Word], start: int) -> int:
    """The end of an account: with the length of its country, else behind its last digits. 0 for none."""
    first, second = words[start], words[start + 1]
    is_beginning = first.end - first.start == 2 and first.key.isalpha() and second.is_number and second.is_glued
    if not is_beginning or (first.is_glued and start and not words[start - 1].is_sign):
        return 0
    length = IBAN_LENGTHS.get(first.key.upper(), LONGEST_IBAN)
    size, end, last = 0, start, start
    while end < len(words) and not words[end].is_sign and size < length:
        size, end = size + words[end].end - words[end].start, end + 1
        if words[end - 1].is_number or size == length:
            last = end
    return last if words[last - 1].end - first.start >= _SHORTEST_IBAN else 0
