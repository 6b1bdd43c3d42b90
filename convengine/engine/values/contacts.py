"""Phone numbers, e-mail addresses, post codes and bank accounts (R114)."""

import re
from functools import lru_cache
from itertools import islice
from typing import Any

from convengine.engine.values.field_spec import FieldSpec
from convengine.engine.values.language import Language, get_countries, get_country, get_language
from convengine.engine.values.reading import NOTHING, Reading, ReadingSituation, Reason, accept, refuse
from convengine.engine.values.tokens import TokenText, fold_word

Json = Any
#: Longest answer that is read.
MAX_LENGTH = 120
#: Checking an address takes a tenth of a millisecond.
_MAX_EMAILS = 10
_PHONE = re.compile(r"\+?[\d\s().\-/–]+")
#: Letters that are typed for digits: "O7700 9OO123".
_MISTYPED = re.compile(r"(?<=[\d\s(+])[oO](?=[\d\s])|^[oO](?=\d)|(?<=\d)[oOlI](?=[\d\s]|$)|(?<=\s)[lI](?=\d)")
_MISTYPED_PHONE = re.compile(r"(?=(?:\D*\d){6})[\d\soOlI().+/-]+")
_FEWEST_SPOKEN = 7
#: With so many digits, a number that begins with the calling code of its country has it.
_LONG_PHONE = 11
_PHONE_INSIDE = re.compile(r"(?<![\w@.,:/-])(?:\+|\(|\d)[\d\s().\-/–]{3,22}\d(?![\w@]|[.,:/-]\d)")
_IBAN_INSIDE = re.compile(r"(?<![\w@])[A-Za-z]{2}\d{2}(?:[\s.-]?[A-Za-z0-9]){6,36}(?![\w@])")
_EMAIL = re.compile(r"[^\s@,;<>()\[\]]+@[^\s@,;<>()\[\]]+")
_EMAIL_SIGNS = ".,:;!?\"'“”„"
_POSTCODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9\s-]{1,10}[A-Za-z0-9]")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{1,40}")

#: The length of a bank account in each country of the IBAN registry.
IBAN_LENGTHS = {
    country: int(length)
    for length, countries in {
        15: "NO", 16: "BE", 18: "DK FO FI GL NL SD FK", 19: "MK SI", 20: "AT BA EE KZ XK LT LU MN",
        21: "CR HR LV LI CH", 22: "BH BG GE DE IE ME RS GB VA", 23: "TL GI IQ IL AE OM SO",
        24: "AD CZ MD PK RO SA SK ES SE TN VG DZ", 25: "LY PT ST", 26: "IS TR", 27: "BI DJ FR GR IT MC SM MR",
        28: "AL AZ BY CY DO SV GT HU LB NI PL HN",
        29: "BR EG PS QA UA", 30: "JO KW MU", 31: "MT SC", 32: "LC", 33: "RU",
    }.items()
    for country in countries.split()
}  # fmt: skip


def find_country(spec: FieldSpec, situation: ReadingSituation) -> str:
    """The country of the field, else that of the locale; blank if neither says one."""
    return spec.country or get_country(situation.locale) or get_country(situation.fallback_locale)


# --- phone ------------------------------------------------------------------------------------------------------


def read_phone(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a phone number."""
    if len(text) > MAX_LENGTH:
        return NOTHING
    country = find_country(spec, situation)
    text = _MISTYPED.sub(_write_digit, text) if _MISTYPED_PHONE.fullmatch(text.strip()) else text
    if _PHONE.fullmatch(text.strip()):
        return check_phone(text.strip(), country)
    if spoken := _write_spoken_digits(tokens, language):
        return check_phone(spoken, country)
    matches = _PHONE_INSIDE.finditer(text)
    return _choose_only(
        [check_phone(match.group(), country) for match in matches if not is_denied(text, match.start(), language)]
    )


def _write_digit(match: re.Match[str]) -> str:
    return "0" if match.group() in "oO" else "1"


def _write_spoken_digits(tokens: TokenText, language: Language) -> str:
    """The digits of "oh seven seven double oh …"; blank for any other answer."""
    start, end = language.strip_fillers(tokens)
    table, repeats = language.words["spoken"]["digits"], language.words["spoken"]["repeats"]
    digits = {fold_word(word): digit for word, digit in table.items()}
    written, times = "", 1
    for word in tokens.text[start:end].split():
        if word in repeats:
            times = repeats[word]
        elif word in digits or word.isdigit():
            written, times = written + digits.get(word, word) * times, 1
        else:
            return ""
    return written if len(written) >= _FEWEST_SPOKEN else ""


def check_phone(text: str, country: str) -> Reading:
    """The number in the form of E.164; without a country as its digits."""
    digits = re.sub(r"\D", "", text)
    if len(digits) < 3:
        return NOTHING
    if not country and not text.strip().startswith(("+", "00")):
        if len(digits) < 6:
            return refuse(Reason.TOO_SHORT)
        return refuse(Reason.TOO_LONG) if len(digits) > 15 else accept(digits)
    plain = text.strip().replace("(0)", "")
    plain = f"+{plain[2:]}" if plain.startswith("00") else plain
    if len(digits) >= _LONG_PHONE and not plain.startswith("+") and digits.startswith(_find_calling_code(country)):
        whole = _check_with_library(f"+{digits}", country)
        if whole.has_value:
            return whole  # "49 171 2345678"
    return _check_with_library(plain, country)


@lru_cache(maxsize=64)
def _find_calling_code(country: str) -> str:
    import phonenumbers

    return str(phonenumbers.country_code_for_region(country))


@lru_cache(maxsize=1024)
def _check_with_library(text: str, country: str) -> Reading:
    import phonenumbers

    try:
        number = phonenumbers.parse(text, country or None)
    except phonenumbers.NumberParseException as problem:
        too_long = problem.error_type == phonenumbers.NumberParseException.TOO_LONG
        short = problem.error_type in (
            phonenumbers.NumberParseException.TOO_SHORT_NSN, phonenumbers.NumberParseException.TOO_SHORT_AFTER_IDD,
        )  # fmt: skip
        return refuse(Reason.TOO_LONG if too_long else Reason.TOO_SHORT if short else Reason.INVALID_PHONE)
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    if phonenumbers.is_valid_number(number) or _is_example(written):
        return accept(written)
    reason = phonenumbers.is_possible_number_with_reason(number)
    national = len(str(number.national_number))
    if reason == phonenumbers.ValidationResult.TOO_LONG:
        return refuse(Reason.TOO_LONG)
    is_short = reason in (
        phonenumbers.ValidationResult.TOO_SHORT, phonenumbers.ValidationResult.IS_POSSIBLE_LOCAL_ONLY,
    ) or (reason == phonenumbers.ValidationResult.INVALID_LENGTH and national < 9) or national < 7  # fmt: skip
    return refuse(Reason.TOO_SHORT if is_short else Reason.INVALID_PHONE)


def _is_example(written: str) -> bool:
    """True for a number that a regulator reserves for examples, which are used in demonstrations and tests."""
    patterns = (country.get("example_phones") for country in get_countries().values())
    return any(re.fullmatch(pattern, written) for pattern in patterns if pattern)


# --- e-mail -----------------------------------------------------------------------------------------------------


def read_email(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read an answer for an e-mail address: the only address in it."""
    if len(text) > 4 * MAX_LENGTH:
        return NOTHING
    text = _write_spoken_email(text, tokens, language) or text
    if "@" not in text:
        return NOTHING
    matches = list(dict.fromkeys(text[start:end] for start, end in find_emails(text)))
    if not matches:
        return refuse(Reason.INVALID_EMAIL)
    readings = [check_email(match) for match in matches]
    values = dict.fromkeys(reading.value for reading in readings if reading.has_value)
    if len(values) > 1:
        return NOTHING
    return accept(next(iter(values))) if values else readings[0]


def _write_spoken_email(text: str, tokens: TokenText, language: Language) -> str:
    """The address of "ann dot bell at example dot org", "ann(at)example.org"; blank for any other answer."""
    answer = _strip_original(text, tokens, language).removeprefix("mailto:")
    before = _compile_spoken(language.name, "before_email")
    while lead := before.match(answer):
        answer = answer[lead.end() :]
    pattern = _compile_spoken(language.name, "email")
    match = pattern.fullmatch(answer.strip(_EMAIL_SIGNS + " "))
    if match is None or fold_word(match["local"]) in language.words["spoken"]["no_local"]:
        return ""
    signs = {"dot": ".", "underscore": "_", "hyphen": "-"}
    local, domain = match["local"], match["domain"]
    for name, sign in signs.items():
        spoken = _join_words(language.words["spoken"][name])
        local, domain = (
            re.sub(rf"\s*[(\[]\s*{spoken}\s*[)\]]\s*|\s+{spoken}\s+", sign, part, flags=re.IGNORECASE)
            for part in (local, domain)
        )
    return f"{local}@{domain}"


def _join_words(words: list[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


@lru_cache(maxsize=16)
def _compile_spoken(code: str, name: str) -> re.Pattern[str]:
    """The pattern of a spoken address, or of the words before one."""
    language = get_language(code)
    if name == "before_email":
        words = [*language.words["before"], *language.words["before_text"], *language.words[name]]
        return re.compile(rf"\s*{_join_words(words)}[\s:,]+(?=\S)", re.IGNORECASE)
    spoken = {key: _join_words(language.words["spoken"][key]) for key in ("at", "dot", "underscore", "hyphen")}
    between = {key: rf"(?:\s+{words}\s+|\s*[(\[]\s*{words}\s*[)\]]\s*)" for key, words in spoken.items()}
    joint = rf"(?:{between['dot']}|{between['underscore']}|{between['hyphen']})"
    domain_joint = rf"(?:{between['dot']}|{between['hyphen']}|\.)"
    at = rf"(?:{between['at']}|\s*@\s*)"
    return re.compile(
        rf"(?P<local>[\w.+-]+(?:{joint}[\w.+-]+)*){at}(?P<domain>[\w-]+(?:{domain_joint}[\w-]+)+)", re.IGNORECASE
    )


def find_emails(text: str) -> list[tuple[int, int]]:
    """The spans of a text that contain an @, without surrounding punctuation."""
    spans = []
    for match in islice(_EMAIL.finditer(text), _MAX_EMAILS):
        core = match.group().strip(_EMAIL_SIGNS)
        start = match.start() + match.group().index(core)
        spans.append((start, start + len(core)))
    return spans


@lru_cache(maxsize=1024)
def check_email(text: str) -> Reading:
    """The address, normalised."""
    from email_validator import EmailNotValidError, validate_email

    try:
        # `.test` is reserved for tests, which is where it is used.
        return accept(validate_email(text, check_deliverability=False, test_environment=True).normalized)
    except EmailNotValidError:
        return refuse(Reason.INVALID_EMAIL)


# --- post code --------------------------------------------------------------------------------------------------


def read_postcode(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a post code."""
    answer = _strip_original(text, tokens, language)
    country = find_country(spec, situation)
    if len(text) > MAX_LENGTH or not any(char.isdigit() for char in answer):
        return NOTHING
    if inside := find_postcodes(text, country):
        return _choose_only([reading for start, _, reading in inside if not is_denied(text, start, language)])
    return check_postcode(answer, country) if _POSTCODE.fullmatch(answer) else NOTHING


def check_postcode(text: str, country: str) -> Reading:
    """The post code as its country writes it; of an unknown country in capitals."""
    rules = get_countries().get(country)
    compact = re.sub(r"[\s]", "", text).upper()
    if rules is None:
        return accept(" ".join(text.upper().split()))
    if prefix := rules.get("prefix"):
        compact = re.sub(rf"^{prefix}-?(?=\d)", "", compact)
    match = re.fullmatch(rules["postcode"], compact) or re.fullmatch(rules["postcode"], compact.replace("-", ""))
    if match is None:
        return refuse(Reason.INVALID_POSTCODE, country=country)
    return accept(rules.get("joint", " ").join(group for group in match.groups() if group))


# --- bank account -----------------------------------------------------------------------------------------------


def read_iban(
    spec: FieldSpec, text: str, tokens: TokenText, situation: ReadingSituation, language: Language
) -> Reading:
    """Read a whole answer for a bank account."""
    if len(text) > MAX_LENGTH:
        return NOTHING
    return _choose_only([reading for start, _, reading in find_ibans(text) if not is_denied(text, start, language)])


def check_iban(compact: str) -> Reading:
    """The account without blanks, if its length and its check digits are right."""
    length = IBAN_LENGTHS.get(compact[:2])
    if length is None:
        return refuse(Reason.INVALID_IBAN, country=compact[:2])
    if len(compact) != length:
        return refuse(Reason.TOO_SHORT if len(compact) < length else Reason.TOO_LONG, length=length)
    digits = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    return accept(compact) if int(digits) % 97 == 1 else refuse(Reason.WRONG_CHECK_DIGITS)


def find_ibans(text: str) -> list[tuple[int, int, Reading]]:
    """The accounts in a text, wrong ones included."""
    ibans = []
    for match in _IBAN_INSIDE.finditer(text):
        compact = re.sub(r"[\s.-]", "", match.group()).upper()
        length = IBAN_LENGTHS.get(compact[:2])
        if length is not None and len(compact) > length and check_iban(compact[:length]).has_value:
            compact = compact[:length]  # What follows the account is another word.
        ibans.append((match.start(), match.end(), check_iban(compact)))
    return ibans


def find_phones(text: str, country: str) -> list[tuple[int, int, Reading]]:
    """The valid phone numbers in a text."""
    phones = [
        (match.start(), match.end(), check_phone(match.group(), country)) for match in _PHONE_INSIDE.finditer(text)
    ]
    return [item for item in phones if item[2].has_value]


def find_postcodes(text: str, country: str) -> list[tuple[int, int, Reading]]:
    """The valid post codes of a country in a text."""
    rules = get_countries().get(country)
    if rules is None:
        return []
    # One blank or hyphen may stand between any two groups.
    prefix = rf"(?:{rules['prefix']}[ -]?)?" if "prefix" in rules else ""
    pattern = re.compile(rf"(?<![\w@.-]){prefix}{rules['postcode'].replace(')(', ')[ -]?(')}(?![\w@-])", re.IGNORECASE)
    postcodes = [
        (match.start(), match.end(), check_postcode(match.group(), country)) for match in pattern.finditer(text)
    ]
    return [item for item in postcodes if item[2].has_value]


def _choose_only(readings: list[Reading]) -> Reading:
    """The only value; else the only refusal; nothing for several values."""
    values = dict.fromkeys(reading.value for reading in readings if reading.has_value)
    if values:
        return accept(next(iter(values))) if len(values) == 1 else NOTHING
    return readings[0] if len(readings) == 1 else NOTHING


def is_denied(text: str, start: int, language: Language) -> bool:
    """True when the word directly before denies: "not 020 7946 0018", but "no, 020 7946 0018"."""
    before = text[:start].rstrip(" ")
    return before[-1:].isalpha() and language.is_in("denials", fold_word(before.split(" ")[-1]))


def _strip_original(text: str, tokens: TokenText, language: Language) -> str:
    """The text as written, without the fillers around it and the words before a number."""
    start, end = language.strip_fillers(tokens)
    if not tokens.tokens or start >= end:
        return text.strip()
    first, last = tokens.position(start, end)
    return text[first:last].strip()
