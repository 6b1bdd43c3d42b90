"""The intents, phrases and answers that a spreadsheet makes, and where they meet others."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from config_admin.flows.document import FlowKind
from config_admin.flows.faq.sheet import (
    FaqEntry,
    FaqProblem,
    describe_language,
    fold_question,
    make_code,
    read_entries,
    read_language,
)
from config_admin.flows.mapping import write_phrases, write_rows
from config_admin.flows.reading import list_workspace_languages
from config_admin.releases.active import snapshots
from config_admin.releases.blobs import canonical, hash_of
from config_admin.releases.restore_rows import lay_rows_over
from config_admin.transfer.document import Document, FileRow, ImportMode
from config_admin.transfer.import_plan import ImportPlan, plan_import
from config_admin.validation.draft import Finding
from config_admin.validation.phrase_overlaps import describe_phrase, find_phrase_overlap, quote_intent
from convengine.engine.text.compare import code, shorten, shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import ResponseType
from convengine.engine.turn.local_time import LOCALE
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.translations import translate_row
from convengine.engine.understanding.language import DEFAULT
from convengine.files.table_text import Line

#: The characters of an intent's name.
_NAME = 200
#: Findings of the save checks that the overlaps report, too.
_OVERLAP_CODES = frozenset({"PHRASE_OF_OTHER_INTENT", "CLASSIFIER_OVERLAP"})
_PHRASES = rows.Classifier.table


@dataclass(frozen=True)
class PlannedEntry:
    """A line, and what it makes."""

    entry: FaqEntry
    code: str
    name: str
    #: The questions that become phrases.
    questions: tuple[str, ...]
    #: False when the questions are added to an intent that exists.
    is_new: bool
    note: str = ""


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question that phrases of another intent take, so that its own answer would never be given."""

    line: int
    question: str
    #: The other intent by name, its phrases in words, and their keys.
    intent: str
    phrases: tuple[str, ...]
    keys: frozenset[Any]
    #: True when these are all phrases of that intent.
    takes_all: bool = False
    #: True when these phrases are removed, so that the question is answered here.
    is_moved: bool = False

    @property
    def choice(self) -> str:
        """What a form sends to have the question answered here."""
        return fold_question(self.question)


@dataclass(frozen=True)
class Overlap:
    """A question that other intents or lines match, too, so that it does not lead to its answer at once."""

    line: int
    question: str
    others: tuple[str, ...]
    #: The keys of the phrases that decide instead: such a question is left out.
    taking: tuple[Any, ...] = ()


@dataclass
class FaqPlan:
    """An import of questions and answers before it is made."""

    planned: list[PlannedEntry] = field(default_factory=list)
    #: The questions that lead to their answers already.
    skipped: list[str] = field(default_factory=list)
    answered: list[AnsweredQuestion] = field(default_factory=list)
    problems: list[FaqProblem] = field(default_factory=list)
    #: What the save checks warn of, and hints about languages.
    warnings: list[FaqProblem] = field(default_factory=list)
    overlaps: list[Overlap] = field(default_factory=list)
    #: The answers of new intents in other languages, by code and language, and the language of the others.
    translations: dict[str, dict[str, str]] = field(default_factory=dict)
    language: str = ""
    #: How many lines are empty of new questions.
    skipped_lines: int = 0

    @property
    def digest(self) -> str:
        made = [[planned.code, planned.entry.answer, *planned.questions] for planned in self.planned]
        made.append(self.removed)
        return hash_of(canonical(made))[:16]

    @property
    def question_count(self) -> int:
        """The number of phrases that it makes."""
        return sum(len(planned.questions) for planned in self.planned)

    @property
    def removed(self) -> list[Any]:
        """The keys of the phrases that it removes from other intents."""
        return sorted({key for answered in self.answered if answered.is_moved for key in answered.keys})

    def make_document(self) -> Document:
        """The rows, each with its line; and the phrases to remove.

        A new intent is a flow that answers, and returns to what was open; one that exists gets new phrases.
        """
        tables: dict[str, list[FileRow]] = {}
        for planned in self.planned:
            others = self.translations.get(planned.code)
            flow = {
                "code": planned.code,
                "title": shorten(planned.name, _NAME),
                "description": f"The user asks: {shorten_line(planned.questions[0], 400)}",
                "kind": FlowKind.answer.value,
                "phrases": list(planned.questions),
                "answer": {self.language: planned.entry.answer, **others} if others else planned.entry.answer,
            }
            # An intent that exists need not have a code or a name that a flow may have.
            made = write_rows(flow) if planned.is_new else {_PHRASES: write_phrases(flow)}
            for table, table_rows in made.items():
                file_rows = [FileRow(row, f"Line {planned.entry.line}") for row in table_rows]
                tables.setdefault(table, []).extend(file_rows)
        return Document(tables, ImportMode.ADD, deleted={_PHRASES: self.removed} if self.removed else {})


def plan_faq(lines: Sequence[Line], *, skip: bool, moved: Collection[str] = ()) -> FaqPlan:
    """What the lines make in the configuration in force. Changes nothing.

    A question that another intent answers is left out. `moved`: the choices of those that are answered here instead;
    the phrases of the other intent are removed. `skip`: without questions that exist.
    """
    snapshot = snapshots.current()
    entries, problems = read_entries(lines)
    existing = _find_existing(snapshot) if skip else {}
    plan = _make_plan(snapshot, entries, problems, existing, moved)
    # The questions that would never reach their answer, with the stored phrases that decide.
    taken = {
        fold_question(overlap.question): [row for key in overlap.taking if (row := snapshot.row(rows.Classifier, key))]
        for overlap in plan.overlaps
        if overlap.taking
    }
    if taken:
        takers = existing | {question: [*existing.get(question, ()), *phrases] for question, phrases in taken.items()}
        plan = _make_plan(snapshot, entries, problems, takers, moved)
    plan.problems.sort(key=lambda problem: problem.line)
    return plan


def _make_plan(
    snapshot: Snapshot,
    entries: Sequence[FaqEntry],
    problems: Sequence[FaqProblem],
    existing: "_Takers",
    moved: Collection[str],
) -> FaqPlan:
    plan = FaqPlan(problems=list(problems))
    _Naming(snapshot, plan, existing, moved).plan(entries)
    _check_rows(plan, snapshot)
    return plan


#: The phrases of another intent that take a question, by its folded text.
_Takers = Mapping[str, Sequence[rows.Classifier]]


def _find_existing(snapshot: Snapshot) -> dict[str, list[rows.Classifier]]:
    """The phrases in force, by their folded text."""
    existing: dict[str, list[rows.Classifier]] = {}
    for row in snapshot.enabled_rows(rows.Classifier):
        if row.is_phrase and snapshot.is_active(row.intent_code):
            existing.setdefault(fold_question(row.pattern or ""), []).append(row)
    return existing


class _Naming:
    """Gives every line its intent: a new one, or one that has the same answer."""

    def __init__(self, snapshot: Snapshot, plan: FaqPlan, existing: _Takers, moved: Collection[str]) -> None:
        self._snapshot, self._plan, self._existing, self._moved = snapshot, plan, existing, moved
        self._languages = list_workspace_languages(snapshot)
        plan.language = next(iter(self._languages), DEFAULT)
        #: The intents with an answer for any state, and its text in each language.
        self._answers = {
            (code(spoken.intent_code), (spoken.exact_text or "").strip())
            for row in snapshot.enabled_rows(rows.Response)
            if code(row.state_code) == ANY and code(row.response_type) == ResponseType.EXACT
            for spoken in (row, *(translate_row(row, language) for language in self._languages[1:]))
        }
        #: The lines of the intents that are new.
        self._new: dict[str, FaqEntry] = {}

    def plan(self, entries: Sequence[FaqEntry]) -> None:
        """Add the entries to the plan. An entry whose questions all exist is skipped."""
        # A line in another language belongs to one in the first language, wherever that stands.
        for entry in sorted(entries, key=lambda entry: entry.language in self._languages[1:]):
            questions = tuple(question for question in entry.questions if not self._leaves_out(entry, question))
            takers = [row for question in entry.questions for row in self._existing.get(fold_question(question), ())]
            if questions:
                self._plan_entry(entry, questions, {code(row.intent_code) for row in takers})
            elif not self._plan.answered or self._plan.answered[-1].line != entry.line:
                self._plan.skipped_lines += 1

    def _leaves_out(self, entry: FaqEntry, question: str) -> bool:
        """True for a question that another phrase takes, unless somebody chose to answer it here."""
        takers = self._existing.get(fold_question(question), ())
        if not takers:
            return False
        intents = {code(row.intent_code): None for row in takers}
        if any(self._has_answer(intent, entry.answer) for intent in intents):
            self._plan.skipped.append(question)
            return True
        keys = frozenset(row.pk for row in takers)
        of_intents: dict[str, set[Any]] = {intent: set() for intent in intents}
        for row in self._snapshot.enabled_rows(rows.Classifier):
            if (intent := code(row.intent_code)) in of_intents:
                of_intents[intent].add(row.pk)
        answered = AnsweredQuestion(
            entry.line,
            question,
            " and ".join(quote_intent(self._snapshot, intent) for intent in intents),
            tuple(describe_phrase(self._snapshot, row) for row in takers),
            keys,
            any(keys >= of_intent for of_intent in of_intents.values()),
            fold_question(question) in self._moved,
        )
        self._plan.answered.append(answered)
        return not answered.is_moved

    def _plan_entry(self, entry: FaqEntry, questions: tuple[str, ...], known: set[str]) -> None:
        """Add an entry to an intent that has its answer or its name, or to a new one; or note a problem.

        `known`: the intents that have one of its questions already.
        """
        # The question without its mark, unless it is nothing else.
        name = entry.name or shorten(questions[0].rstrip(" ?") or questions[0], _NAME)
        target = next((intent for intent in sorted(known) if self._has_answer(intent, entry.answer)), "")
        if not target:
            target = self._translate(entry)
        if not target and entry.name:
            target, problem = self._choose_code(entry)
            if problem:
                self._plan.problems.append(FaqProblem(entry.line, problem))
                return
        is_new = target not in self._new and (not target or self._snapshot.row(rows.Intent, target) is None)
        free_code = f"FAQ_{make_code(questions[0]).removeprefix('FAQ_')}"
        codes = chain((free_code,), (f"{free_code}_{number}" for number in count(2)))
        intent_code = target or next(filter(self._is_free, codes))
        if is_new:
            self._new[intent_code] = entry
        note = describe_language(entry)
        self._plan.planned.append(PlannedEntry(entry, intent_code, name, questions, is_new, note))

    def _translate(self, entry: FaqEntry) -> str:
        """Note the answer as the translation of that of a line with the same intent name; returns its code, or
        blank.
        """
        intent_code = make_code(entry.name) if entry.name else ""
        first = self._new.get(intent_code)
        if not first or entry.language not in self._languages[1:] or first.language not in ("", self._languages[0]):
            return ""
        answer = self._plan.translations.setdefault(intent_code, {}).setdefault(entry.language, entry.answer)
        return intent_code if answer == entry.answer else ""

    def _choose_code(self, entry: FaqEntry) -> tuple[str, str]:
        """The code of a named intent, and the problem if other answers have it.

        The code is that of the name; where an intent in another language has it, that of the name and the language.
        """
        codes = list(dict.fromkeys((make_code(entry.name), make_code(entry.name, entry.language))))
        for each in codes:
            if each not in self._new and self._has_answer(each, entry.answer):
                return each, ""
        is_translation = codes[0] in self._new and entry.language in self._languages
        if is_translation or entry.language == self._find_language(codes[0]):
            del codes[1:]
        if free := next(filter(self._is_free, codes), ""):
            return free, ""
        if first := self._new.get(codes[-1]):
            return "", (
                f"Line {first.line} has the same intent name. Choose another name, or put all questions with this "
                "answer into one line."
            )
        return "", (
            f"The intent {quote_intent(self._snapshot, codes[-1])} exists already and does not give this answer. "
            "Choose another name, or leave the cell empty."
        )

    def _find_language(self, intent_code: str) -> str:
        """The language of a new intent; of one that exists, which does not say it, that of the assistant."""
        if intent_code in self._new:
            return self._new[intent_code].language
        return read_language(live_settings.read(self._snapshot, LOCALE).value) or DEFAULT

    def _is_free(self, intent_code: str) -> bool:
        return intent_code not in self._new and self._snapshot.row(rows.Intent, intent_code) is None

    def _has_answer(self, intent_code: str, answer: str) -> bool:
        """True when the intent gives exactly this answer in any state."""
        return (intent_code, answer) in self._answers


def _check_rows(plan: FaqPlan, snapshot: Snapshot) -> None:
    """Run the save checks; lines with errors are no longer planned. Then find the overlaps of the others."""
    made = plan_import(plan.make_document())
    by_where = {f"Line {planned.entry.line}": planned.entry.line for planned in plan.planned}
    problems = {
        FaqProblem(by_where[located.where], _describe_finding(made, located.finding))
        for located in made.errors
        if located.where in by_where
    }
    bad = {problem.line for problem in problems}
    plan.problems += problems
    plan.warnings += [FaqProblem(each.entry.line, each.note) for each in plan.planned if each.note]
    plan.warnings += sorted(
        {
            FaqProblem(by_where[located.where], _describe_finding(made, located.finding))
            for located in made.findings
            if not located.finding.is_error and located.finding.code not in _OVERLAP_CODES and located.where in by_where
        },
        key=lambda problem: (problem.line, problem.text),
    )
    plan.planned = [planned for planned in plan.planned if planned.entry.line not in bad]
    plan.overlaps = list(
        _find_overlaps(made, snapshot, {f"Line {each.entry.line}": each.entry.line for each in plan.planned})
    )


def _describe_finding(made: ImportPlan, finding: Finding) -> str:
    """The message of a save check; of a phrase with its question, because a line has several."""
    row = made.placed.wanted.get(finding.table, {}).get(finding.row)
    return f"“{row['pattern']}”: {finding.message}" if row and finding.table == _PHRASES else finding.message


def _find_overlaps(made: ImportPlan, snapshot: Snapshot, by_where: Mapping[str, int]) -> Iterator[Overlap]:
    """The questions of these lines that other intents match, too, as the engine would find after the import."""
    origins = made.placed.origins
    wanted = {
        table: {pk: row for pk, row in given.items() if row is None or origins.get((table, pk)) in by_where}
        for table, given in made.placed.wanted.items()
    }
    after = lay_rows_over(snapshot, wanted)
    phrases = [pk for pk, row in wanted.get(_PHRASES, {}).items() if row is not None]
    lines = {pk: by_where[origins[_PHRASES, pk]] for pk in phrases}
    for pk in phrases:
        row = after.row(rows.Classifier, pk)
        if row is not None and (overlap := _find_overlap(after, row, lines)):
            yield overlap


def _find_overlap(after: Snapshot, row: rows.Classifier, lines: Mapping[Any, int]) -> Overlap | None:
    """The overlap of a new phrase with others. Returns None if the phrase decides alone.

    `lines`: the lines of new phrases, by their keys.
    """
    overlap = find_phrase_overlap(after, row)
    if overlap is None or not (overlap.is_asked or overlap.taking):
        return None
    return Overlap(
        lines[row.pk],
        row.pattern or "",
        tuple(
            f"“{shorten_line(other.pattern, 60)}” of line {lines[other.pk]}"
            if other.pk in lines
            else f"the {describe_phrase(after, other)}"
            for other in overlap.others
        ),
        tuple(other.pk for other in overlap.taking),
    )
