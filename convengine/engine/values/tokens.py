"""A text as tokens: folded words, numbers and signs, with their positions in the original."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['’‘ʼ][^\W\d_]+)*|[^\w\s]|_")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "ø": "o", "æ": "ae", "œ": "oe"})
_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'"})
_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-"})
#: Signs that never say anything.
_SILENT = frozenset("!?()[]{}\"'`´“”„‚‘’«»…*_;|~^\\")
_BETWEEN_DIGITS = frozenset(".,:/-")
#: Shorter words have no typing errors, and so many words are remembered with theirs.
_SHORTEST_TYPO, _MOST_CORRECTED = 5, 10_000


#: Readers of sentences see no more characters of a text: what is longer is no answer but a letter.
MOST_READ = 1000


@dataclass(frozen=True)
class Token:
    """One token. Two tokens of a split compound have the same position."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def fold_word(word: str) -> str:
    """A word in lower case, with ae for ä and without accents."""
    plain = unicodedata.normalize("NFKC", word).translate(_APOSTROPHES).casefold().translate(_UMLAUTS)
    if plain.isascii():
        return plain
    return "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))


def fold_text(text: str) -> str:
    """The tokens of a text, with single blanks between them."""
    return " ".join(token.text for token in tokenize(text))


def tokenize(text: str) -> list[Token]:
    """The tokens of a text. Signs stay only beside digits; commas and full stops of sentences go."""
    # Composed, because a letter with a separate accent would be two tokens. Positions are those of the composed text.
    matches = list(_TOKEN.finditer(text, 0, MOST_READ))
    tokens: list[Token] = []
    for index, match in enumerate(matches):
        word = match.group()
        if len(word) == 1 and unicodedata.decomposition(word).startswith("<fraction>"):
            # "2½" is "2 1/2".
            tokens += [
                Token(part, *match.span()) for part in re.split(r"(\u2044)", unicodedata.normalize("NFKC", word))
            ]
            tokens[-2] = Token("/", *match.span())
        elif word.isalnum() or len(word) > 1:
            tokens.append(Token(fold_word(word), *match.span()))
        elif sign := _read_sign(word.translate(_DASHES), matches, index):
            tokens.append(Token(sign, *match.span()))
    return tokens


def _read_sign(sign: str, matches: list[re.Match[str]], index: int) -> str:
    """The sign as a token, or blank if it says nothing."""
    if sign in _SILENT:
        return ""
    before = matches[index - 1] if index else None
    after = matches[index + 1] if index + 1 < len(matches) else None
    digit_before = before is not None and before.group().isdigit()
    digit_after = after is not None and after.group().isdigit()
    glued_before = before is not None and before.end() == matches[index].start()
    glued_after = after is not None and after.start() == matches[index].end()
    if sign == ".":
        return sign if digit_before and glued_before else ""
    if sign in ",:":
        return sign if digit_before and digit_after and glued_before and glued_after else ""
    if sign == "-":
        if digit_after and glued_after and not glued_before:
            return sign
        # "4.-11.7." is a range, not 4.11.7.
        return sign if digit_after and (digit_before or (before is not None and before.group() == ".")) else ""
    if unicodedata.category(sign) == "So":
        return ""
    return sign


def _is_typo(word: str, name: str) -> bool:
    """True for one letter too many, missing or wrong inside the name, and for two letters that changed places."""
    from rapidfuzz.distance import OSA

    if word[0] != name[0] or OSA.distance(word, name, score_cutoff=1) > 1:
        return False
    return word[-1] == name[-1] or sorted(word) == sorted(name)


class Spelling:
    """Replaces usual misspellings and abbreviations, one or several tokens at a time, and typing errors in names.

    `names`: long words, such as weekdays. `other_words`: words that are like one of them and mean something else.
    """

    def __init__(
        self, table: Mapping[str, str], names: Collection[str] = (), other_words: Collection[str] = ()
    ) -> None:
        self._names = sorted(names)
        self._known = frozenset((*names, *other_words))
        self._find_name = lru_cache(maxsize=_MOST_CORRECTED)(self._find_alike)
        self._table = {tuple(key.split(" ")): tuple(value.split(" ")) for key, value in table.items()}
        self._longest = max(map(len, self._table), default=0)
        self._starts = frozenset(key[0] for key in self._table)

    def correct(self, tokens: list[Token]) -> list[Token]:
        """The tokens as the tables spell them."""
        tokens = [self._correct_name(token) for token in tokens]
        if self._starts.isdisjoint(token.text for token in tokens):
            return tokens
        corrected: list[Token] = []
        index = 0
        while index < len(tokens):
            size, words = self._find(tokens, index)
            whole = tokens[index].start, tokens[index + size - 1].end
            for offset, word in enumerate(words):
                own = tokens[index + offset] if len(words) == size else None
                corrected.append(Token(word, own.start, own.end) if own else Token(word, *whole))
            index += size
        return corrected

    def _correct_name(self, token: Token) -> Token:
        """The token as the only name that it is one typing error away from: "sammstag", "wendesday"."""
        word = token.text
        if len(word) < _SHORTEST_TYPO or word in self._known or (word,) in self._table or not word.isalpha():
            return token
        name = self._find_name(word)
        return token if name is None else replace(token, text=name)

    def _find_alike(self, word: str) -> str | None:
        alike = [name for name in self._names if _is_typo(word, name)]
        return alike[0] if len(alike) == 1 else None

    def _find(self, tokens: list[Token], index: int) -> tuple[int, tuple[str, ...]]:
        if tokens[index].text in self._starts:
            for size in range(min(self._longest, len(tokens) - index), 0, -1):
                if words := self._table.get(tuple(token.text for token in tokens[index : index + size])):
                    return size, words
        return 1, (tokens[index].text,)


class TokenText:
    """Tokens as one text with a blank after each, so that patterns can be matched from any token on."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.text = "".join(f"{token.text} " for token in tokens)
        self.offsets: list[int] = []
        offset = 0
        for token in tokens:
            self.offsets.append(offset)
            offset += len(token.text) + 1

    def position(self, start: int, end: int) -> tuple[int, int]:
        """The position in the original text of a part of `text`."""
        first = self.offsets.index(start)
        last = self.offsets.index(end) if end < len(self.text) else len(self.tokens)
        return self.tokens[first].start, self.tokens[last - 1].end
