"""How many values of a labelled corpus are read right, by kind and by whether they were asked for."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from convengine.evaluation.read import Result
from convengine.json_value import Json

#: The label of a field that the user leaves open.
ANY = "dontcare"
_SIGNS = " .,;:!?\"'"
#: Words of a labelled span that a value need not cover.
_SMALL = frozenset(
    {
        "",
        "the",
        "a",
        "an",
        "of",
        "us",
        "people",
        "person",
        "in",
        "on",
        "at",
        "for",
        "around",
        "about",
        "from",
        "now",
        "by",
    }
)


class ReadOutcome(StrEnum):
    """What became of a value that a line says, or of a field that it says nothing for (`INVENTED`)."""

    RIGHT = "right"
    OFFERED = "offered"
    REFUSED = "refused"
    MISSED = "missed"
    WRONG = "wrong"
    INVENTED = "invented"


_FAULTS = (ReadOutcome.WRONG, ReadOutcome.INVENTED)
Outcomes = Mapping[str, ReadOutcome]


def find_kind(declared: Json) -> str:
    """The kind of a field by its schema alone, so that a table stays comparable when reading changes."""
    declared = declared if isinstance(declared, Mapping) else {}
    if kind := declared.get("x-kind"):
        return str(kind)
    if not declared.keys().isdisjoint(("enum", "x-options", "x-options-from")):
        return "choice"
    return str(declared.get("format") or {"string": "text"}.get(str(declared.get("type")), declared.get("type")))


def judge(line: Mapping[str, Json], result: Result) -> dict[str, ReadOutcome]:
    """What became of each value of a line, and what it did not say. The line has `values`, or `spans` in its text."""
    labelled: Mapping[str, Json] = line.get("values") or {}
    spans: Mapping[str, Sequence[int]] = line.get("spans") or {}
    outcomes = {name: _judge_field(line, result, name) for name in labelled if labelled[name] != ANY}
    outcomes |= {name: _judge_span(str(line["say"]), result, name, spans[name]) for name in spans}
    known = [line.get("offered") or {}, line.get("held") or {}]
    for name, value in result.taken.items():
        is_known = any(_equals(value, values.get(name)) for values in known)
        if name not in outcomes and not is_known:
            outcomes[name] = ReadOutcome.INVENTED
    return outcomes


def _judge_field(line: Mapping[str, Json], result: Result, name: str) -> ReadOutcome:
    words = line.get("words") or {}
    accepted = [line["values"][name], *words.get(name, ())]
    if name in result.taken:
        value = result.taken[name]
        known = [(line.get(key) or {}).get(name) for key in ("offered", "held")]
        if any(_equals(value, item) for item in accepted):
            return ReadOutcome.RIGHT
        return ReadOutcome.MISSED if any(_equals(value, item) for item in known) else ReadOutcome.WRONG
    if name in result.offered:
        offered = result.offered[name]
        values = offered if isinstance(offered, list) else [offered]
        return ReadOutcome.OFFERED if any(_equals(a, b) for a in values for b in accepted) else ReadOutcome.MISSED
    return ReadOutcome.REFUSED if name in result.refused else ReadOutcome.MISSED


def _judge_span(text: str, result: Result, name: str, span: Sequence[int]) -> ReadOutcome:
    """A value is right when it stands where the label is, leaves no word of it out, and has no number besides it."""
    start, end = span
    if name in result.positions:
        first, last = result.positions[name]
        rest = f"{text[start : max(first, start)]} {text[min(last, end) : end]}"
        beside = f"{text[first : max(first, start)]} {text[min(last, end) : last]}"
        says_more = not _SMALL.issuperset(word.strip(_SIGNS) for word in rest.casefold().split())
        is_right = max(first, start) < min(last, end) and not (says_more or any(map(str.isdigit, beside)))
        if _equals(result.taken.get(name), text[first:last]):
            is_right = _equals(text[first:last], text[start:end])
        if name in result.offered:
            return ReadOutcome.OFFERED if is_right else ReadOutcome.MISSED
        return ReadOutcome.RIGHT if is_right else ReadOutcome.WRONG
    return ReadOutcome.REFUSED if name in result.refused else ReadOutcome.MISSED


def _equals(value: Json, other: Json) -> bool:
    if isinstance(value, str) and isinstance(other, str):
        return value.casefold().strip(_SIGNS) == other.casefold().strip(_SIGNS)
    return value == other and isinstance(value, bool) is isinstance(other, bool)


@dataclass
class ReadScore:
    lines: int = 0
    #: By kind and whether the field was asked for.
    counts: dict[tuple[str, bool], Counter[ReadOutcome]] = field(default_factory=lambda: defaultdict(Counter))
    #: Messages in which a field that is no text is said or read, and those of them in which one is wrong or invented.
    typed: int = 0
    faulty: int = 0
    #: Values whose form alone says their kind, those without an answer, and held values that changed without a sign
    #: (laws.py). By what a confirmation was answered with: how it was read.
    explicit: int = 0
    lost_values: int = 0
    overwritten: int = 0
    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def add(self, line: Mapping[str, Json], schema: Json, result: Result) -> Outcomes:
        """Count a line, and give what became of its values."""
        self.lines += 1
        outcomes = judge(line, result)
        kinds = {name: find_kind(schema["properties"].get(name)) for name in outcomes}
        for name, outcome in outcomes.items():
            self.counts[kinds[name], name == line.get("asked")][outcome] += 1
        typed = [outcome for name, outcome in outcomes.items() if kinds[name] != "text"]
        self.typed += bool(typed)
        self.faulty += any(outcome in _FAULTS for outcome in typed)
        self.explicit += result.explicit
        self.lost_values += len(result.lost_values)
        self.overwritten += len(result.overwritten)
        if (meant := find_answer(line)) is not None:
            self.answers[meant][result.answer or "none"] += 1
        return outcomes

    @property
    def share_faulty(self) -> float:
        """The share of the messages with typed values in which one is wrong or invented."""
        return self.faulty / max(self.typed, 1)

    def sum_typed(self) -> Counter[ReadOutcome]:
        """The counts of all kinds but texts."""
        return sum((counts for (kind, _), counts in self.counts.items() if kind != "text"), Counter())

    def format_table(self) -> Iterator[str]:
        """The table as lines of text."""
        names = list(ReadOutcome)
        yield f"{'kind':<18}{'said':>7}" + "".join(f"{name.value:>10}" for name in names)
        for (kind, is_asked), counts in sorted(self.counts.items()):
            yield _format_row(f"{kind} {'asked' if is_asked else ''}", counts)
        typed = self.sum_typed()
        yield _format_row("typed", typed)
        faulty = _percent(self.faulty, self.typed)
        yield f"{self.lines} messages, {self.typed} with typed values; one is wrong or invented in {faulty} of these"
        share = _percent(self.lost_values, self.explicit)
        yield f"{self.explicit} values said plainly: {share} lost; {self.overwritten} held ones overwritten"
        for meant, answers in sorted(self.answers.items()):
            total = answers.total()
            read = ", ".join(f"{answer} {_percent(count, total)}" for answer, count in answers.most_common())
            yield f"confirmation, {meant} ({total}): {read}"


def find_answer(line: Mapping[str, Json]) -> str | None:
    """What a message answers to a confirmation by its labels. Returns None where it answers none."""
    if not line.get("confirming") or "acts" not in line:
        return None
    acts = set(line["acts"])
    if "AFFIRM" in acts and not line.get("values"):
        return "yes" if acts == {"AFFIRM"} else "yes and more"
    return "change" if "NEGATE" in acts and line.get("values") else "other"


def _format_row(name: str, counts: Counter[ReadOutcome]) -> str:
    total = sum(count for outcome, count in counts.items() if outcome is not ReadOutcome.INVENTED)
    cells = "".join(
        f"{counts[outcome]:>10}" if outcome is ReadOutcome.INVENTED else f"{_percent(counts[outcome], total):>10}"
        for outcome in ReadOutcome
    )
    return f"{name:<18}{total:>7}{cells}"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "–"
