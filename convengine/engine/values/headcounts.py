"""People who are counted in parts: "2 adults and a child", "ich und meine zwei Kinder" (R114)."""

from collections.abc import Iterator
from functools import lru_cache

from convengine.engine.values.field_spec import FieldSpec, Kind
from convengine.engine.values.language import Language, PhraseSet
from convengine.engine.values.tokens import TokenText, fold_text

#: The unit of people, and that of children alone.
PERSON, CHILD = "person", "child"
#: Each person needs one of these, so a number of people answers "How many seats?".
PLACES = frozenset({"seat", "ticket"})
#: More people are no sum of a few words.
_MOST = 200


class HeadcountTables:
    """The words of one language for people."""

    def __init__(self, language: Language) -> None:
        words = language.numbers["headcounts"]
        self.language = language
        self.numbers = {**language.number_words, **{fold_text(word): 1 for word in language.numbers["articles"]}}
        self.members = PhraseSet(words["members"])
        self.selves = PhraseSet(words["selves"])
        self.relatives = PhraseSet(words["relatives"])
        self.pronouns = PhraseSet(words["pronouns"])
        self.limiters = PhraseSet(words["limiters"])
        self.pairs = PhraseSet(words["pairs"])
        self.owners = PhraseSet(words["owners"])
        self.joints = PhraseSet(words["joints"])
        self.sums = PhraseSet(words["sums"])
        self.adjectives = PhraseSet(words["adjectives"])
        self.ages = PhraseSet(words["ages"])
        self.subgroups = PhraseSet(words["subgroups"])
        #: Fields that count only some of the people.
        self.parts = frozenset(fold_text(word) for word in words["fields_of_parts"])


@lru_cache(maxsize=16)
def get_headcount_tables(language: Language) -> HeadcountTables:
    return HeadcountTables(language)


def counts_groups(units: frozenset[str]) -> bool:
    """True for the units of a field that counts people, or what each of them has one of."""
    return PERSON in units or not PLACES.isdisjoint(units)


def counts_people(spec: FieldSpec, units: frozenset[str], language: Language) -> bool:
    """True for a field that counts people of every kind, and not only adults or children."""
    own = {fold_text(word) for word in (*spec.words, *spec.question)}
    return (
        spec.kind is Kind.NUMBER
        and counts_groups(units)
        and CHILD not in units
        and get_headcount_tables(language).parts.isdisjoint(own)
    )


def find_headcounts(
    tokens: TokenText, language: Language, *, is_answer: bool = False
) -> Iterator[tuple[int, int, int]]:
    """Where a sum of at least two parts begins and ends in the tokens' text, and the number of people.

    `is_answer`: the text answers how many people there are, so that "her and me" are two.
    """
    tables, end = get_headcount_tables(language), 0
    for start in tokens.offsets:
        if start >= end and (match := _match_sum(tokens, start, tables, is_answer=is_answer)):
            end = match[0]
            yield start, *match


def count_only_part(tokens: TokenText, language: Language) -> int | None:
    """How many people an answer names as all who are counted: 1 of "just my son" and "nur er"; null for others."""
    tables = get_headcount_tables(language)
    for start, end in dict.fromkeys([(0, len(tokens.text)), language.strip_fillers(tokens)]):
        for first in {0: 0, start: 0}:
            size = tables.limiters.match_start(tokens.text, first)
            part = _match_part(tokens.text, first + size, tables, is_answer=True) if size else None
            if part and part[0] in (end, len(tokens.text)):
                return part[1]
    return None


def _match_sum(tokens: TokenText, start: int, tables: HeadcountTables, *, is_answer: bool) -> tuple[int, int] | None:
    """The end and the number of "me, my wife and 2 kids", "2 adults 1 child"; null for fewer than two parts."""
    text, end, total, parts, position = tokens.text, start, 0, 0, start
    has_self = False
    if bare := _match_bare_number(text, start, tables):
        position, total = bare
        parts = 1
    while part := _match_part(text, position, tables, is_behind_self=has_self, is_answer=is_answer):
        end, count = part
        is_self = tables.selves.match_start(text, position) > 0
        if not (is_self and has_self):  # "Me myself and I"
            total, parts = total + count, parts + 1
        has_self = has_self or is_self
        if end >= len(text):
            break
        joint = tables.joints.match_start(text, end)
        word = text[end:].split(" ", 1)[0]
        is_listed = _has_comma(tokens, end) or word.isdigit() or word in tables.language.number_words
        is_listed = is_listed or (is_answer and tables.owners.match_start(text, end) > 0)  # "Me my wife and my mum"
        if not joint and not is_listed:
            break
        position = end + joint
    if tables.subgroups.match_start(text, end) or (parts and _continues(tokens, end, tables)):
        return None
    if bare and end < len(text) and not _has_comma(tokens, end):
        return None  # "For two and a baby seat"
    return (end, total) if parts > 1 and total <= _MOST else None


def _match_bare_number(text: str, start: int, tables: HeadcountTables) -> tuple[int, int] | None:
    """Where the next part begins behind "two and" or "the two of us and", and the number."""
    word = text[start:].split(" ", 1)[0]
    number = int(word) if word.isdigit() and len(word) < 3 else tables.language.number_words.get(word)
    if number is None:
        return None
    end = start + len(word) + 1
    end += tables.language.after_persons.match_start(text, end)
    joint = tables.sums.match_start(text, end)
    is_part = joint and _match_part(text, end + joint, tables) is not None
    return (end + joint, number) if is_part else None


def _match_part(
    text: str, start: int, tables: HeadcountTables, *, is_behind_self: bool = False, is_answer: bool = False
) -> tuple[int, int] | None:
    """The end of "my two little kids", and how many they are."""
    if size := tables.selves.match_start(text, start):
        return start + size, 1
    owner = tables.owners.match_start(text, start)
    position = start + owner
    if size := tables.pairs.match_start(text, position):
        return position + size, 2
    if size := tables.relatives.match_start(text, position):
        return position + size, 1
    if is_answer and (size := tables.pronouns.match_start(text, start)):
        return start + size, 1
    word = text[position:].split(" ", 1)[0]
    count = int(word) if word.isdigit() and len(word) < 4 else tables.numbers.get(word)
    if count is None:
        return None
    position += len(word) + 1
    behind_number = position
    age = text[position:].split(" ", 1)[0]
    if age.isdigit() and (size := tables.ages.match_start(text, position + len(age) + 1)):
        position += len(age) + 1 + size  # "A 5 year old"
        return position + tables.members.match_start(text, position), count
    while True:
        if size := max(phrases.match_start(text, position) for phrases in (tables.members, tables.relatives)):
            return position + size, count
        if not (size := tables.adjectives.match_start(text, position)):
            break
        position += size
    # "Me plus two"
    return (behind_number, count) if is_behind_self and behind_number >= len(text) else None


def _has_comma(tokens: TokenText, offset: int) -> bool:
    index = tokens.offsets.index(offset)
    return tokens.tokens[index].start - tokens.tokens[index - 1].end > 1


def _continues(tokens: TokenText, end: int, tables: HeadcountTables) -> bool:
    """True when people are added who are not counted: "and our cousins"."""
    joint = tables.joints.match_start(tokens.text, end)
    return bool(joint) and tables.owners.match_start(tokens.text, end + joint) > 0
