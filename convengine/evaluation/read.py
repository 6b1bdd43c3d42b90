"""What a line of a corpus gives to its form, by the functions that read a turn's message."""

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from convengine.engine.cached_property import cached_property
from convengine.engine.forms.form import Form
from convengine.engine.forms.message import MOST_CHARACTERS, list_fillers, make_fields
from convengine.engine.forms.session_form import find_earlier_days
from convengine.engine.forms.user_answer import find_confirmation, states_more
from convengine.engine.turn.ports import UnrecordedDecisions
from convengine.engine.understanding.field import Kind
from convengine.engine.understanding.finders import FINDERS
from convengine.engine.understanding.form import FormField, OpenForm, fold_label, list_held_words, make_lexicon
from convengine.engine.understanding.language import Tables, get_tables
from convengine.engine.understanding.principles import Principle, holds
from convengine.engine.understanding.read import read_into_form
from convengine.engine.understanding.reading import Offered, Reading, Taken
from convengine.engine.understanding.span import Situation
from convengine.engine.understanding.understand import Understanding, add_learned_moves, understand
from convengine.engine.understanding.words import Lexicon
from convengine.evaluation.laws import list_explicit, list_lost, list_overwritten
from convengine.json_value import Json

#: The clock and the language of a line that names none, so that the results of a file are the same on each day.
NOW, LOCALE = "2019-03-01T09:00:00+00:00", "en-US"


#: What reading a file raises that may be compressed.
UNREADABLE = (OSError, EOFError, zlib.error)


class EvaluationError(Exception):
    """A file that cannot be evaluated: what is wrong, and where."""


@dataclass(frozen=True)
class Result:
    taken: Mapping[str, Json]
    offered: Mapping[str, Json]
    refused: Mapping[str, str]
    cleared: tuple[str, ...]
    #: By field: where the value stands in the message.
    positions: Mapping[str, tuple[int, int]]
    moves: tuple[str, ...]
    #: Of a line with `confirming`: `yes`, `no`, `change`, or null for none of them.
    answer: str | None
    #: How many values say their kind by their form alone, and which of them the reading does not answer.
    explicit: int = 0
    lost_values: tuple[str, ...] = ()
    #: The fields whose value is replaced although nothing says that it changes.
    overwritten: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The result as it is printed; the keys are a stable interface."""
        return {
            "taken": dict(self.taken),
            "offered": dict(self.offered),
            "refused": dict(self.refused),
            "cleared": list(self.cleared),
            "positions": {field: list(position) for field, position in self.positions.items()},
            "moves": list(self.moves),
            "answer": self.answer,
            "lost": list(self.lost_values),
            "overwritten": list(self.overwritten),
        }


class FormReader:
    def __init__(self, schema: Json) -> None:
        self.form = Form(schema)
        if self.form.problem:
            raise EvaluationError(f"The form cannot be used: {self.form.problem.reason}.")
        self._lexicons: dict[Tables, Lexicon] = {}

    @cached_property
    def fields(self) -> tuple[FormField, ...]:
        return make_fields(self.form)

    def read(self, line: Mapping[str, Json]) -> Result:
        text, locale = str(line["say"]), line.get("locale") or LOCALE
        tables, fillers = get_tables(locale), list_fillers(self.form)
        specs = [field.spec for field in self.fields]
        if tables not in self._lexicons:
            self._lexicons[tables] = make_lexicon(self.fields, tables.lexicon, fillers, self._own_words)
        lexicon, learned = self._lexicons[tables], UnrecordedDecisions()
        by_tables = understand(text[:MOST_CHARACTERS], tables, FINDERS, specs, lexicon, fillers, learned=learned)
        asked_field = self.form.field(str(line.get("asked") or ""))
        is_text = asked_field is not None and asked_field.spec.kind in (Kind.TEXT, Kind.PERSON)
        is_taken = line.get("opener") or (is_text and holds(Principle.ASKED_TEXTS))
        understanding = by_tables if is_taken else add_learned_moves(by_tables)
        form, now = self._open_form(line), datetime.fromisoformat(line.get("now") or NOW)
        held = dict(line.get("held") or {})
        situation = Situation(
            now,
            locale=locale,
            listed_options=asked_field.choices if asked_field else (),
            held=held,
            earlier_days=find_earlier_days(self.form, held, now.date()),
        )
        return _describe(line, understanding, form, read_into_form(understanding, form, FINDERS, situation))

    @cached_property
    def _own_words(self) -> frozenset[str]:
        """The words of the title, which stands for the phrases of the intent."""
        return frozenset(fold_label(str(self.form.schema.get("title", ""))))

    def _open_form(self, line: Mapping[str, Json]) -> OpenForm:
        opener, asked_path = bool(line.get("opener")), str(line.get("asked") or "")
        return OpenForm(
            self.fields,
            dict(line.get("held") or {}),
            asked_path,
            frozenset(fold_label(str(line.get("question") or ""))),
            is_confirming=bool(line.get("confirming")),
            is_opener=opener,
            own_words=self._own_words if opener else frozenset(),
        )


def _describe(line: Mapping[str, Json], understanding: Understanding, form: OpenForm, reading: Reading) -> Result:
    offered: dict[str, Json] = {item.field: item.value for item in reading.offered}
    for item in reading.refused:
        if candidates := item.data.get("candidates"):
            offered[item.field] = candidates
    results: tuple[Taken | Offered, ...] = (*reading.taken, *reading.offered)
    return Result(
        {item.field: item.value for item in reading.taken},
        offered,
        {item.field: str(item.reason) for item in reading.refused},
        reading.cleared,
        {item.field: (item.start, item.end) for item in results},
        tuple(move.kind.value for move in understanding.moves),
        _find_answer(understanding, form, reading) if line.get("confirming") else None,
        len(list_explicit(understanding)),
        tuple(list_lost(understanding, form, reading)),
        tuple(list_overwritten(form, reading, form.held)),
    )


def _find_answer(understanding: Understanding, form: OpenForm, reading: Reading) -> str | None:
    """The answer to a confirmation: a message that gives or names a value changes something."""
    if reading.gives_anything:
        return "change"
    held_words = list_held_words(form.held)
    known = form.own_words | held_words
    is_yes = find_confirmation(understanding, reading, lambda rest: states_more(understanding, rest, known), held_words)
    return None if is_yes is None else "yes" if is_yes else "no"


def read_lines(file: Path) -> Iterator[dict[str, Json]]:
    """The lines of a file of JSON objects, which may be compressed with gzip. Raises EvaluationError."""
    try:
        with file.open("rb") as raw, gzip.open(raw) if file.suffix == ".gz" else raw as text:
            for number, written in enumerate(text, 1):
                if written.strip():
                    yield _parse_line(written, f"{file.name}, line {number}")
    except UNREADABLE as error:
        raise EvaluationError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _parse_line(written: bytes, at: str) -> dict[str, Json]:
    try:
        line = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{at}: the file is not valid JSON: {error}") from None
    if not isinstance(line, dict) or not isinstance(line.get("say"), str) or not line.get("form"):
        raise EvaluationError(f'{at}: write an object with "form" and "say".')
    check_situation(line, at)
    return line


def check_situation(given: Mapping[str, Json], at: str) -> None:
    """Raises EvaluationError if the values, the time or the language that a line or an entry names cannot be used.

    `at` says where it is.
    """
    for name in ("held", "offered", "values"):
        if not isinstance(given.get(name) or {}, Mapping):
            raise EvaluationError(f"{at}: `{name}` must be an object.")
    if not isinstance(given.get("locale") or "", str):
        raise EvaluationError(f"{at}: `locale` must be a text such as {LOCALE}.")
    try:
        datetime.fromisoformat(given.get("now") or NOW)
    except (TypeError, ValueError):
        raise EvaluationError(f"{at}: `now` must be a time such as {NOW}.") from None


class CorpusReader:
    """Reads lines into the forms that they name, each form made once."""

    def __init__(self, forms: Mapping[str, Json]) -> None:
        self._schemas = forms
        self._readers: dict[str, FormReader] = {}

    def find(self, form: Json) -> FormReader:
        """The reader of a form: a key of the forms, or a JSON Schema."""
        key = form if isinstance(form, str) else json.dumps(form, sort_keys=True)
        if key not in self._readers:
            schema = self._schemas.get(form) if isinstance(form, str) else form
            if schema is None:
                raise EvaluationError(
                    f"No form is called {form!r}. Name a key of the file of forms, or write a schema."
                )
            self._readers[key] = FormReader(schema)
        return self._readers[key]

    def read(self, line: Mapping[str, Json]) -> Result:
        """What a line gives to its form."""
        return self.find(line["form"]).read(line)
