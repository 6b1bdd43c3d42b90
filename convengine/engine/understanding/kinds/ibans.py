"""Bank accounts: their lengths and check digits."""

from convengine.engine.understanding.span import RefusalReason, Resolved, accept, refuse

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
LONGEST_IBAN = 34


def check_iban(compact: str) -> Resolved:
    """The account without blanks, or why it is none: its country, its length or its check digits."""
    length = IBAN_LENGTHS.get(compact[:2])
    if length is None or not (compact.isascii() and compact.isalnum()):
        return refuse(RefusalReason.INVALID_IBAN, country=compact[:2])
    if len(compact) != length:
        return refuse(RefusalReason.TOO_SHORT if len(compact) < length else RefusalReason.TOO_LONG, length=length)
    digits = "".join(str(int(char, 36)) for char in compact[4:] + compact[:4])
    return accept(compact) if int(digits) % 97 == 1 else refuse(RefusalReason.WRONG_CHECK_DIGITS)
