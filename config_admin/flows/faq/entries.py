"""The questions and answers of a spreadsheet, and what is wrong with its lines."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from textwrap import shorten

from config_admin.releases.blobs import hash_of
from convengine.engine.text.compare import norm, shorten_line, storable
from convengine.engine.text.wording import did_you_mean
from convengine.engine.understanding.language import list_languages
from convengine.files.table_text import Line

#: Limits of a line: characters of a question and of an answer, and questions.
MAX_QUESTION, MAX_ANSWER, MAX_QUESTIONS = 500, 4000, 50
#: Limit of all questions together.
MAX_ALL_QUESTIONS = 2000
_MAX_NAME, _MAX_CODE = 200, 50
_QUESTIONS, _ANSWER, _NAME, _LANGUAGE = _COLUMNS = ("questions", "answer", "intent name", "language")
#: Heads of columns, as people write them.
_HEADS: Mapping[str, str] = {
    **dict.fromkeys(("question", "questions", "question(s)", "frage", "fragen", "phrase", "phrases"), _QUESTIONS),
    **dict.fromkeys(("answer", "answers", "antwort", "antworten"), _ANSWER),
    **dict.fromkeys(("intent name", "intent", "name"), _NAME),
    **dict.fromkeys(("language", "sprache"), _LANGUAGE),
}
_SEPARATOR = re.compile(r"[\n|]")
_LOCALE = re.compile(r"^[A-Za-z]{2,3}([-_][A-Za-z]{2})?$")


@dataclass(frozen=True)
class Entry:
    """A line with one answer, and the questions that lead to it."""

    line: int
    questions: tuple[str, ...]
    answer: str
    #: The name of the intent; blank to make it from the first question.
    name: str = ""
    #: The language without country, such as `de`; blank if the line does not say it.
    language: str = ""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a line, and what to do about it."""

    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}"


def read_entries(lines: Sequence[Line]) -> tuple[list[Entry], list[Problem]]:
    """The usable lines, and the problems of the others."""
    columns, problems = _read_heads(lines[0])
    entries: list[Entry] = []
    if problems:
        return entries, problems
    first_lines: dict[str, int] = {}
    for number, cells in lines[1 if columns else 0 :]:
        entry, wrong = _read_line(number, cells, columns or _COLUMNS)
        for question in entry.questions:
            if (first := first_lines.setdefault(fold_question(question), number)) != number:
                repeated = f"“{shorten_line(question, 60)}” is a question of line {first}, too."
                wrong.append(f"{repeated} Remove it from one of them.")
        problems += [Problem(number, text) for text in wrong]
        if not wrong:
            entries.append(entry)
    counts = accumulate(len(entry.questions) for entry in entries)
    beyond = [entry.line for entry, count in zip(entries, counts, strict=True) if count > MAX_ALL_QUESTIONS]
    text = f"From here on there are more than {MAX_ALL_QUESTIONS:,} questions. Split the spreadsheet."
    return entries, problems + [Problem(line, text) for line in beyond[:1]]


def _read_heads(line: Line) -> tuple[Sequence[str], list[Problem]]:
    """The columns that the first line names, and what is wrong with them.

    There are none if it does not name both questions and answer: it is the first entry then.
    """
    number, cells = line
    heads = [" ".join(cell.casefold().split()) for cell in cells]
    columns = [_HEADS.get(head, head) for head in heads]
    if _QUESTIONS not in columns or _ANSWER not in columns:
        return (), []
    unknown = [
        Problem(
            number,
            f"The column “{shorten_line(head, 40)}” is unknown. Use Questions, Answer, Intent name and Language."
            f"{did_you_mean(head, _COLUMNS)}",
        )
        for head in heads
        if head and head not in _HEADS
    ]
    repeated = [
        Problem(number, f"The column “{name}” is there twice. Remove one of them.")
        for name in _COLUMNS
        if columns.count(name) > 1
    ]
    return columns, unknown + repeated


def _read_line(number: int, cells: Sequence[str], columns: Sequence[str]) -> tuple[Entry, list[str]]:
    """The entry of a line, and what is wrong with it."""
    texts = [storable(cell).strip() for cell in cells]
    # Without the apostrophe that marks text in spreadsheets.
    texts = [text[1:] if text[:2] in ("'=", "'+", "'-", "'@", "''") else text for text in texts]
    named = dict(zip(columns, texts, strict=False))
    language = named.get(_LANGUAGE, "")
    entry = Entry(
        number,
        _split_questions(named.get(_QUESTIONS, "")),
        named.get(_ANSWER, ""),
        " ".join(named.get(_NAME, "").split()),
        read_language(language),
    )
    wrong = list(_check_entry(entry))
    if language and not entry.language:
        text = f"“{shorten_line(language, 40)}” is not a language."
        wrong.append(f"{text} Write a code such as en, or leave the cell empty.")
    if any(cell.strip() for cell in cells[len(columns) :]):
        wrong.append(
            f"There are {len(cells)} cells, but only {len(columns)} columns. Put several questions into one cell, "
            "separated by | or a line break."
        )
    return entry, wrong


def read_language(locale: str) -> str:
    """The language of a locale without country, such as `de`; blank for other text."""
    return re.split("[-_]", locale)[0].lower() if _LOCALE.match(locale) else ""


def _split_questions(cell: str) -> tuple[str, ...]:
    """The questions of a cell, each once."""
    parts = (" ".join(part.split()) for part in _SEPARATOR.split(cell))
    questions: dict[str, str] = {}
    for part in parts:
        if part:
            questions.setdefault(fold_question(part), part)
    return tuple(questions.values())


def fold_question(text: str) -> str:
    """A question for comparing: without case, marks at the end and needless spaces."""
    return norm(text).strip(" ?!.…¿¡")


def _check_entry(entry: Entry) -> Iterator[str]:
    """What is wrong with the question, the answer and the name of an entry."""
    if not entry.questions:
        yield "The question is missing. Write at least one into the first column, or remove the line."
    if not entry.answer:
        yield "The answer is missing. Write it into the second column, or remove the line."
    if len(entry.questions) > MAX_QUESTIONS:
        yield f"There are {len(entry.questions)} questions; one answer can have {MAX_QUESTIONS}. Remove some."
    for question in entry.questions:
        if len(question) > MAX_QUESTION:
            yield (
                f"The question “{shorten_line(question, 40)}” has more than {MAX_QUESTION} characters. Shorten it, or "
                "separate several questions by | or a line break."
            )
    if len(entry.answer) > MAX_ANSWER:
        yield f"The answer has {len(entry.answer):,} characters; at most {MAX_ANSWER:,} are possible. Shorten it."
    if len(entry.name) > _MAX_NAME:
        yield f"The intent name has more than {_MAX_NAME} characters. Shorten it."


def describe_language(entry: Entry) -> str:
    """A hint for a language without word tables; else blank."""
    if not entry.language or entry.language in list_languages():
        return ""
    names = " and ".join(list_languages())
    return (
        f"“{entry.language}” has no word tables ({names} have). Questions are found only by the same words, so enter "
        "more ways to ask."
    )


def make_code(name: str, language: str = "") -> str:
    """The code of an intent from the words of its name: `Öffnungszeiten (neu)` is OFFNUNGSZEITEN_NEU.

    A name without Latin letters and digits gives a hash.
    """
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    words = " ".join(re.findall(r"[A-Za-z0-9]+", plain)) or f"FAQ {hash_of(name.encode())[:8]}"
    code = "_".join([*shorten(words, _MAX_CODE, placeholder="").split(), *language.split()]).upper()
    return code if code[:1].isalpha() else f"FAQ_{code}"
