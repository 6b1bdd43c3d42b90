"""The spreadsheet of questions and answers: its cells, its entries, and what is wrong with its lines."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from textwrap import shorten

from config_admin.releases.blobs import hash_of
from config_admin.transfer.document import FileRefused
from config_admin.transfer.workbooks import read_sheets, write_sheets
from convengine.engine.text.compare import norm, shorten_line, storable
from convengine.engine.text.wording import did_you_mean
from convengine.engine.understanding.language import list_languages
from convengine.files import Unreadable
from convengine.files.apart import read_apart
from convengine.files.table_text import Line, decode, read_table

#: Limits of a spreadsheet: bytes of a file, characters of a pasted text, and lines.
MAX_BYTES, MAX_CHARS, MAX_LINES = 2 * 1024 * 1024, 1_000_000, 500
_WORKBOOKS = (".xlsx", ".xlsm", ".xls")
_TAB = "\t"
_DELIMITERS = (";", ",")
_TEMPLATE = (
    ("Questions", "Answer", "Intent name", "Language"),
    ("What are your opening hours?|When are you open?", "We are open from 9 to 5, Monday to Friday.", "", "en"),
    ("Where can I park?\nIs there a car park?", "You can park behind the house, free of charge.", "Parking", "en"),
)


def read_file(name: str, data: bytes) -> list[Line]:
    """The lines of a file: CSV, text with tabs, or the first sheet of a workbook that is not empty.

    Raises FileRefused.
    """
    if len(data) > MAX_BYTES:
        raise FileRefused(name, f"is larger than {MAX_BYTES // 1024 // 1024} MB. Split it into several files.")
    try:
        if Path(name).suffix.lower() not in _WORKBOOKS:
            return read_text(decode(data))
        sheets = read_apart(data, read_sheets, name, data, MAX_LINES + 2)
    except Unreadable as error:
        raise FileRefused(name, error.problem) from None
    return _check_lines(next((lines for _, lines in sheets if lines), []))


def read_text(text: str) -> list[Line]:
    """The lines of a pasted text: cells between tabs as spreadsheets copy them, or CSV. Raises FileRefused."""
    if len(text) > MAX_CHARS:
        raise FileRefused("The text", f"has more than {MAX_CHARS:,} characters. Split it into several parts.")
    if not text.strip():
        raise FileRefused("The text", "is empty. Paste the cells of a spreadsheet, or choose a file.")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    delimiters = (_TAB,) if _TAB in text else _DELIMITERS
    try:
        lines = [cells for _, cells in read_table(text, delimiters)]
    except Unreadable:
        if delimiters != (_TAB,):
            raise FileRefused(
                "The text", "has a quote that is never closed. Remove it, or upload the spreadsheet as .xlsx."
            ) from None
        # A cell that only begins with a quote: spreadsheets quote cells with a tab or a line break.
        lines = [line.split(_TAB) for line in text.split("\n")]
    return _check_lines([(n, cells) for n, cells in enumerate(lines, 1) if any(cell.strip() for cell in cells)])


def _check_lines(lines: list[Line]) -> list[Line]:
    """The lines as they are. Raises FileRefused if there are none or too many."""
    if not lines:
        raise FileRefused("The file", "has no lines. Put questions into the first column and answers into the second.")
    # One line may be the heads of the columns.
    if len(lines) > MAX_LINES + 1:
        raise FileRefused(f"Line {lines[MAX_LINES + 1][0]}", f"is beyond the first {MAX_LINES}. Split the spreadsheet.")
    return lines


def write_text(lines: Sequence[Line]) -> str:
    """The lines as a spreadsheet copies them; each keeps its number."""
    cells = dict(lines)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=_TAB, lineterminator="\n")
    writer.writerows(cells.get(number, ()) for number in range(1, max(cells, default=0) + 1))
    return text.getvalue()


def write_template(name: str) -> bytes:
    """An example to fill in, by the ending of its name: .xlsx or .csv."""
    if name.endswith(".xlsx"):
        return write_sheets({"FAQ": _TEMPLATE})
    text = io.StringIO()
    csv.writer(text).writerows(_TEMPLATE)
    return text.getvalue().encode("utf-8-sig")


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
class FaqEntry:
    line: int
    questions: tuple[str, ...]
    answer: str
    #: The name of the intent; blank to make it from the first question.
    name: str = ""
    #: The language without country, such as `de`; blank if the line does not say it.
    language: str = ""


@dataclass(frozen=True)
class FaqProblem:
    line: int
    text: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.text}"


def read_entries(lines: Sequence[Line]) -> tuple[list[FaqEntry], list[FaqProblem]]:
    columns, problems = _read_heads(lines[0])
    entries: list[FaqEntry] = []
    if problems:
        return entries, problems
    first_lines: dict[str, int] = {}
    for number, cells in lines[1 if columns else 0 :]:
        entry, wrong = _read_line(number, cells, columns or _COLUMNS)
        for question in entry.questions:
            if (first := first_lines.setdefault(fold_question(question), number)) != number:
                repeated = f"“{shorten_line(question, 60)}” is a question of line {first}, too."
                wrong.append(f"{repeated} Remove it from one of them.")
        problems += [FaqProblem(number, text) for text in wrong]
        if not wrong:
            entries.append(entry)
    counts = accumulate(len(entry.questions) for entry in entries)
    beyond = [entry.line for entry, count in zip(entries, counts, strict=True) if count > MAX_ALL_QUESTIONS]
    text = f"From here on there are more than {MAX_ALL_QUESTIONS:,} questions. Split the spreadsheet."
    return entries, problems + [FaqProblem(line, text) for line in beyond[:1]]


def _read_heads(line: Line) -> tuple[Sequence[str], list[FaqProblem]]:
    """The columns that the first line names, and what is wrong with them.

    A first line that does not name both questions and answer is the first entry, and names no columns.
    """
    number, cells = line
    heads = [" ".join(cell.casefold().split()) for cell in cells]
    columns = [_HEADS.get(head, head) for head in heads]
    if _QUESTIONS not in columns or _ANSWER not in columns:
        return (), []
    unknown = [
        FaqProblem(
            number,
            f"The column “{shorten_line(head, 40)}” is unknown. Use Questions, Answer, Intent name and Language."
            f"{did_you_mean(head, _COLUMNS)}",
        )
        for head in heads
        if head and head not in _HEADS
    ]
    repeated = [
        FaqProblem(number, f"The column “{name}” is there twice. Remove one of them.")
        for name in _COLUMNS
        if columns.count(name) > 1
    ]
    return columns, unknown + repeated


def _read_line(number: int, cells: Sequence[str], columns: Sequence[str]) -> tuple[FaqEntry, list[str]]:
    texts = [storable(cell).strip() for cell in cells]
    # Without the apostrophe that marks text in spreadsheets.
    texts = [text[1:] if text[:2] in ("'=", "'+", "'-", "'@", "''") else text for text in texts]
    named = dict(zip(columns, texts, strict=False))
    language = named.get(_LANGUAGE, "")
    entry = FaqEntry(
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
    parts = (" ".join(part.split()) for part in _SEPARATOR.split(cell))
    questions: dict[str, str] = {}
    for part in parts:
        if part:
            questions.setdefault(fold_question(part), part)
    return tuple(questions.values())


def fold_question(text: str) -> str:
    """A question for comparing: without case, marks at the end and needless spaces."""
    return norm(text).strip(" ?!.…¿¡")


def _check_entry(entry: FaqEntry) -> Iterator[str]:
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


def describe_language(entry: FaqEntry) -> str:
    """A hint for a language without word tables; else blank."""
    if not entry.language or entry.language in list_languages():
        return ""
    names = ", ".join(list_languages())
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
