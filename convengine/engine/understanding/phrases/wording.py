"""How texts are compared word for word: their keys and terms, without values and slips."""

from convengine.engine.understanding.phrases.terms import PhraseLanguage
from convengine.engine.understanding.understand import Understanding
from convengine.engine.understanding.words import Word, split_text


def has_run(keys: tuple[str, ...], run: tuple[str, ...]) -> bool:
    return any(keys[at : at + len(run)] == run for at in range(len(keys) - len(run) + 1))


def write_plainly(reading: Understanding, language: PhraseLanguage, start: int, end: int) -> str:
    """A part of a message without slips, and without values and the small words before them: "at 8 on Monday".

    Signs and blanks between its words stay: they say something, too.
    """
    dropped: set[int] = set()
    for span in reading.spans:
        first = span.start
        while first > start and reading.words[first - 1].key in language.small:
            first -= 1
        dropped |= set(range(first, span.end))
    positions = [at for at in range(start, end) if at not in dropped]
    if all(reading.words[at].is_sign or reading.words[at].key in language.small for at in positions):
        return ""
    written, end = "", 0
    for at in positions:
        word = reading.words[at]
        is_next = end == (reading.words[at - 1].end if at else 0)
        written += reading.text[end : word.start] if is_next else " "
        written += word.key if word.is_mended else reading.text[word.start : word.end]
        end = word.end
    return written.strip()


def list_keys(text: str) -> tuple[str, ...]:
    return tuple(map(spell_plainly, (word for word in split_text(text) if not word.is_sign)))


def list_terms(text: str, language: PhraseLanguage) -> frozenset[str]:
    return frozenset(word.term for word in language.read(text))


def spell_plainly(word: Word) -> str:
    return word.key.replace("'", "")
