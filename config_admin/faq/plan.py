"""The intents, phrases and answers that a spreadsheet makes, and where they meet others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from config_admin.faq.entries import Entry, Problem, describe_language, fold_question, make_code, read_entries
from config_admin.faq.sheet import Line
from config_admin.flows.flows import FlowKind, write_rows
from config_admin.releases.blobs import canonical, hash_of
from config_admin.restore.checks import compile_rows, overlay_rows
from config_admin.snapshot.active import snapshots
from config_admin.transfer.document import Document, FileRow, Mode
from config_admin.transfer.import_plan import Plan, plan_import
from config_admin.validation.findings import Finding
from config_admin.validation.phrase_overlaps import choose_deciding_row, describe_phrase
from convengine.engine.phrases.matching import match_phrases
from convengine.engine.phrases.settings import MIN_SCORE
from convengine.engine.phrases.words import detect_languages, read_telling_words
from convengine.engine.steps.intents.classifiers import get_classifier_bank
from convengine.engine.text.compare import code, shorten, shorten_line
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import ResponseType
from convengine.engine.turn.scope import ANY
from convengine.engine.turn.snapshot import Snapshot

#: How many words of the first question make the code of an intent, and the characters of its name.
_CODE_WORDS, _NAME = 4, 200
#: Findings of the save checks that the overlaps report, too.
_OVERLAP_CODES = frozenset({"PHRASE_OF_OTHER_INTENT", "CLASSIFIER_OVERLAP"})
_PHRASES = rows.Classifier.table


@dataclass(frozen=True)
class PlannedEntry:
    """A line, and what it makes."""

    entry: Entry
    code: str
    name: str
    #: The questions that become phrases.
    questions: tuple[str, ...]
    #: False when the questions are added to an intent that exists.
    is_new: bool
    note: str = ""


@dataclass(frozen=True)
class SkippedQuestion:
    """A question that is a phrase already."""

    line: int
    question: str
    intent: str
    #: False when that intent has another answer.
    has_same_answer: bool


@dataclass(frozen=True)
class Overlap:
    """A question that other intents or lines match, too."""

    line: int
    question: str
    others: tuple[str, ...]
    #: The intents and lines that these belong to.
    targets: tuple[str, ...]
    #: Why the question does not lead to its answer; blank if it does.
    consequence: str


@dataclass
class FaqPlan:
    """An import of questions and answers before it is made."""

    planned: list[PlannedEntry] = field(default_factory=list)
    skipped: list[SkippedQuestion] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    #: What the save checks warn of, and hints about languages.
    warnings: list[Problem] = field(default_factory=list)
    overlaps: list[Overlap] = field(default_factory=list)
    #: How many lines are empty of new questions.
    skipped_lines: int = 0

    @property
    def digest(self) -> str:
        """A digest of what it makes."""
        made = [[planned.code, planned.entry.answer, *planned.questions] for planned in self.planned]
        return hash_of(canonical(made))[:16]

    @property
    def question_count(self) -> int:
        """The number of phrases that it makes."""
        return sum(len(planned.questions) for planned in self.planned)

    def make_document(self) -> Document:
        """The rows, each with its line."""
        tables: dict[str, list[FileRow]] = {}
        for planned in self.planned:
            for table, row in _write_entry(planned):
                tables.setdefault(table, []).append(FileRow(row, f"Line {planned.entry.line}"))
        return Document(tables, Mode.ADD)


def plan_faq(lines: Sequence[Line], *, skip: bool) -> FaqPlan:
    """What the lines make in the configuration in force. `skip`: without questions that exist. Changes nothing."""
    snapshot = snapshots.current()
    entries, problems = read_entries(lines)
    plan = FaqPlan(problems=problems)
    _Naming(snapshot, plan, _find_existing(snapshot) if skip else {}).plan(entries)
    _check_rows(plan, snapshot)
    plan.problems.sort(key=lambda problem: problem.line)
    return plan


def _find_existing(snapshot: Snapshot) -> dict[str, str]:
    """The intent of each phrase in force, by its folded text."""
    return {
        fold_question(row.pattern or ""): code(row.intent_code)
        for row in reversed(snapshot.enabled_rows(rows.Classifier))
        if row.is_phrase and snapshot.is_active(row.intent_code)
    }


class _Naming:
    """Gives every line its intent: a new one, or one that has the same answer."""

    def __init__(self, snapshot: Snapshot, plan: FaqPlan, existing: Mapping[str, str]) -> None:
        self._snapshot, self._plan, self._existing = snapshot, plan, existing
        self._answers = _find_answers(snapshot)
        #: The lines of the intents that are new.
        self._new: dict[str, Entry] = {}

    def plan(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            matches = {
                q: self._existing[fold_question(q)] for q in entry.questions if fold_question(q) in self._existing
            }
            self._plan.skipped += [
                SkippedQuestion(entry.line, question, intent, self._has_answer(intent, entry.answer))
                for question, intent in matches.items()
            ]
            questions = tuple(question for question in entry.questions if question not in matches)
            if not questions:
                self._plan.skipped_lines += 1
                continue
            self._plan_entry(entry, questions, set(matches.values()))

    def _plan_entry(self, entry: Entry, questions: tuple[str, ...], known: set[str]) -> None:
        name = entry.name or shorten(entry.questions[0], _NAME)
        target = next((intent for intent in sorted(known) if self._has_answer(intent, entry.answer)), "")
        if not target and entry.name:
            target, problem = self._choose_code(entry)
            if problem:
                self._plan.problems.append(Problem(entry.line, problem))
                return
        is_new = not target or self._snapshot.row(rows.Intent, target) is None
        intent_code = target or self._make_code(entry)
        if is_new:
            self._new[intent_code] = entry
        note = describe_language(entry)
        self._plan.planned.append(PlannedEntry(entry, intent_code, name, questions, is_new, note))

    def _choose_code(self, entry: Entry) -> tuple[str, str]:
        """The code of a named intent, and the problem if another answer has it."""
        chosen = make_code(entry.name)
        if self._snapshot.row(rows.Intent, chosen):
            if self._has_answer(chosen, entry.answer):
                return chosen, ""
            return "", (
                f"The intent {chosen} exists already and does not give this answer. Choose another name, or leave the "
                "cell empty."
            )
        if chosen not in self._new:
            return chosen, ""
        first, in_language = self._new[chosen], make_code(entry.name, entry.language)
        if first.language != entry.language and self._is_free(in_language):
            return in_language, ""
        return "", (
            f"Line {first.line} has the same intent name. Choose another name, or put all questions with this answer "
            "into one line."
        )

    def _make_code(self, entry: Entry) -> str:
        """A free code from the first question."""
        question = entry.questions[0]
        words = [word.text for word in read_telling_words(question, detect_languages(question)[0])[:_CODE_WORDS]]
        chosen = make_code(" ".join(["FAQ", *words]))
        numbered = (f"{chosen}_{number}" for number in count(2))
        return next(each for each in chain((chosen,), numbered) if self._is_free(each))

    def _is_free(self, intent_code: str) -> bool:
        return intent_code not in self._new and self._snapshot.row(rows.Intent, intent_code) is None

    def _has_answer(self, intent_code: str, answer: str) -> bool:
        """True when the intent gives exactly this answer in any state."""
        return (intent_code, answer) in self._answers


def _find_answers(snapshot: Snapshot) -> frozenset[tuple[str, str]]:
    """The intents with an answer for any state, and its text."""
    return frozenset(
        (code(row.intent_code), (row.exact_text or "").strip())
        for row in snapshot.enabled_rows(rows.Response)
        if code(row.state_code) == ANY and code(row.response_type) == ResponseType.EXACT
    )


def _write_entry(planned: PlannedEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a line: a flow that answers, and returns to what was open."""
    flow = {
        "code": planned.code,
        "title": shorten(planned.name, _NAME),
        "description": f"The user asks: {shorten_line(planned.questions[0], 400)}",
        "kind": FlowKind.answer.value,
        "phrases": list(planned.questions),
        "answer": planned.entry.answer,
    }
    for table, table_rows in write_rows(flow).items():
        for row in table_rows:
            if planned.is_new or table == _PHRASES:
                yield table, {**row, "returns": True} if table == rows.Intent.table else row


def _check_rows(plan: FaqPlan, snapshot: Snapshot) -> None:
    """Run the save checks; lines with errors are no longer planned. Then find the overlaps of the others."""
    made = plan_import(plan.make_document())
    by_where = {f"Line {planned.entry.line}": planned.entry.line for planned in plan.planned}
    problems = {
        Problem(by_where[located.where], _describe_finding(made, located.finding))
        for located in made.errors
        if located.where in by_where
    }
    bad = {problem.line for problem in problems}
    plan.problems += problems
    plan.warnings += [Problem(each.entry.line, each.note) for each in plan.planned if each.note]
    plan.warnings += sorted(
        {
            Problem(by_where[located.where], _describe_finding(made, located.finding))
            for located in made.findings
            if not located.finding.is_error and located.finding.code not in _OVERLAP_CODES and located.where in by_where
        },
        key=lambda problem: (problem.line, problem.text),
    )
    plan.planned = [planned for planned in plan.planned if planned.entry.line not in bad]
    plan.overlaps = list(
        _find_overlaps(made, snapshot, {f"Line {each.entry.line}": each.entry.line for each in plan.planned})
    )


def _describe_finding(made: Plan, finding: Finding) -> str:
    """The message of a save check; of a phrase with its question, because a line has several."""
    row = made.placed.wanted.get(finding.table, {}).get(finding.row)
    return f"“{row['pattern']}”: {finding.message}" if row and finding.table == _PHRASES else finding.message


def _find_overlaps(made: Plan, snapshot: Snapshot, by_where: Mapping[str, int]) -> Iterator[Overlap]:
    """The questions of these lines that other intents match, too, as the engine would find after the import."""
    origins = made.placed.origins
    wanted = {
        table: {pk: row for pk, row in given.items() if origins.get((table, pk)) in by_where}
        for table, given in made.placed.wanted.items()
    }
    after = overlay_rows(snapshot, wanted, {table: compile_rows(table, given) for table, given in wanted.items()})
    phrases = wanted.get(_PHRASES, {})
    lines = {pk: by_where[origins[_PHRASES, pk]] for pk in phrases}
    for pk in phrases:
        row = after.row(rows.Classifier, pk)
        if row is not None and (overlap := _find_overlap(after, row, lines)):
            yield overlap


def _find_overlap(after: Snapshot, row: rows.Classifier, lines: Mapping[Any, int]) -> Overlap | None:
    question, own = row.pattern or "", code(row.intent_code)
    least = live_settings.read(after, MIN_SCORE).value
    matches = match_phrases(after, question)
    equal = {match.phrase.key for match in matches.hits if match.intent != own}
    others: dict[Any, None] = {
        match.phrase.key: None
        for match in (*matches.hits, *matches.near)
        if match.intent != own and match.score >= least
    }
    taking: set[Any] = set()
    for pk in get_classifier_bank(after).hits(question):
        other = after.row(rows.Classifier, pk)
        if other is None or code(other.intent_code) == own or not after.is_active(other.intent_code):
            continue
        others[pk] = None
        decides = choose_deciding_row(after, row, other)
        (equal if decides is None else taking if decides is other else set()).add(pk)
    if not others:
        return None
    other_rows = [other for pk in others if (other := after.row(rows.Classifier, pk))]
    return Overlap(
        lines[row.pk],
        question,
        tuple(_describe_other(other, lines) for other in other_rows),
        tuple(dict.fromkeys(_name_target(other, lines) for other in other_rows)),
        "Another intent answers it." if taking else "Users are asked which one they mean." if equal else "",
    )


def _name_target(other: rows.Classifier, lines: Mapping[Any, int]) -> str:
    return f"line {lines[other.pk]}" if other.pk in lines else code(other.intent_code)


def _describe_other(other: rows.Classifier, lines: Mapping[Any, int]) -> str:
    if other.pk in lines:
        return f"“{shorten_line(other.pattern, 60)}” of line {lines[other.pk]}"
    return f"the {describe_phrase(other)}"
