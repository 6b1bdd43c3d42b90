"""An evaluation as lines for people, as a report of JUnit or Rasa, and against the measures that it must reach."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

from convengine.evaluation.read import EvaluationError

#: The measures that can be asked for, and the part of the document that has each.
MEASURES: Mapping[str, str] = {"recall": "intents", "precision": "intents", "taken": "fields"}
_RASA_NAMES: Mapping[str, str] = {"precision": "precision", "recall": "recall", "f1-score": "f1"}
#: Controls, halves of characters, and two numbers that are no characters.
_NOT_IN_XML = re.compile(r"[^\t\n\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]")
#: Confusions, messages of each and intents that are printed; the document has all.
_CONFUSIONS, _EXAMPLES, _INTENTS = 20, 3, 60


@dataclass(frozen=True)
class Threshold:
    measure: str
    minimum: float

    def find_value(self, document: Mapping[str, Any]) -> float | None:
        """What was reached. Returns None where nothing was measured."""
        return (document.get(MEASURES[self.measure]) or {}).get(self.measure)

    def is_reached(self, document: Mapping[str, Any]) -> bool:
        """False also where nothing was measured."""
        value = self.find_value(document)
        return value is not None and value >= self.minimum

    def describe(self, document: Mapping[str, Any]) -> str:
        """What was reached, and what was asked for."""
        value = self.find_value(document)
        return f"{self.measure} {_format_share(value)}, at least {self.minimum:g} is required"


def parse_thresholds(text: str) -> list[Threshold]:
    """`recall=0.85,precision=0.9`. Raises EvaluationError."""
    thresholds = []
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, value = part.partition("=")
        try:
            threshold = Threshold(name.strip(), float(value))
        except ValueError:
            threshold = Threshold(name.strip(), -1)
        if threshold.measure not in MEASURES or not 0 <= threshold.minimum <= 1:
            examples = ", ".join(f"{measure}=0.9" for measure in MEASURES)
            raise EvaluationError(f"“{part}”: write {examples}, from 0 to 1.")
        thresholds.append(threshold)
    return thresholds


def format_evaluation(document: Mapping[str, Any]) -> Iterator[str]:
    """The measures, the confusions with examples, and the intents and fields, faults first."""
    yield from document.get("notes", ())
    if intents := document.get("intents"):
        yield from format_intents(intents)
    if fields := document.get("fields"):
        names = ("values", "taken", "offered", "refused", "missed", "wrong", "invented")
        yield ""
        yield f"{_count(fields['values'], 'value')} of fields: taken {_format_share(fields['taken'])}"
        rows = [[_name_field(each), *(each[name] for name in names)] for each in fields["fields"]]
        yield from _format_table(("field", *names), rows)
        for fault in fields["faults"][:_CONFUSIONS]:
            values = f"expected {fault['expected']}, read {fault['read']}"
            yield f"  {fault['outcome']:<8} {_name_field(fault)}: {values}: “{fault['message']}”"


def format_intents(intents: Mapping[str, Any]) -> Iterator[str]:
    at = intents["recallAtPrecision"]
    yield (
        f"{_count(intents['messages'], 'message')}: precision {_format_share(intents['precision'])}, recall "
        f"{_format_share(intents['recall'])}, asked rightly {_format_share(intents['near'])}, right one among the "
        f"first three {_format_share(intents['firstThree'])}"
    )
    averages = intents["weighted"]
    yield (
        f"Averages weighted by messages: precision {_format_share(averages['precision'])}, recall "
        f"{_format_share(averages['recall'])}, F1 {_format_share(averages['f1'])}"
    )
    if at["confidence"] is not None:
        yield (
            f"A precision of {at['precision']} at a recall of {_format_share(at['recall'])}, from a confidence of "
            f"{at['confidence']:.2f}"
        )
    if (strange := intents["noneOfThem"])["messages"]:
        yield (
            f"{_count(strange['messages'], 'message')} of none of the intents: {strange['claimed']} taken for one, "
            f"{strange['asked']} asked about"
        )
    yield from _format_confusions(intents["confusions"])
    yield from _format_undecided(intents["undecided"])
    names = ("messages", "right", "asked", "taken", "missed")
    rows = [
        [each["intent"], *(each[name] for name in names), each["claimed"] - each["right"],
         *(_format_share(each[name]) for name in ("precision", "recall", "f1"))]
        for each in intents["intents"]
    ]  # fmt: skip
    yield from _format_table(("intent", *names, "wrong", "precision", "recall", "F1"), rows)


def _format_confusions(confusions: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if confusions:
        yield ""
        yield "Confusions"
    for confusion in confusions[:_CONFUSIONS]:
        yield f"{confusion['count']:>4}  {confusion['intent'] or 'none of them'} → {confusion['decision']}"
        for message in confusion["messages"][:_EXAMPLES]:
            spoke = next((each for each in message["ranked"] if each["intent"] == confusion["decision"]), None)
            reason = f" by “{spoke['phrase']}” ({spoke['confidence']:.2f})" if spoke else ""
            yield f"        “{message['message']}”{reason}"
    if len(confusions) > _CONFUSIONS:
        yield f"      and {_count(len(confusions) - _CONFUSIONS, 'more pair')}"


def _format_undecided(undecided: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if undecided:
        yield ""
        yield "Asked, or not understood"
    for each in undecided[:_CONFUSIONS]:
        nearest = f", nearest {each['ranked'][0]['intent']}" if each["ranked"] else ""
        result = f"asked: {' or '.join(each['decision'])}" if each["decision"] else f"nothing{nearest}"
        yield f"      {each['intent'] or 'none of them'}: “{each['message']}” → {result}"
    if len(undecided) > _CONFUSIONS:
        yield f"      and {len(undecided) - _CONFUSIONS:,} more"


def _name_field(each: Mapping[str, Any]) -> str:
    return f"{each['intent']}.{each['field']}"


def _format_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> Iterator[str]:
    """The rows with aligned columns, after a blank line."""
    if not rows:
        return
    shown = [head, *([str(cell) for cell in row] for row in rows[:_INTENTS])]
    widths = [max(len(row[column]) for row in shown) for column in range(len(head))]
    yield ""
    for row in shown:
        first, *others = (cell.ljust(width) if not column else cell.rjust(width)
                          for column, (cell, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        yield "  ".join([first, *others])
    if len(rows) > _INTENTS:
        yield f"and {len(rows) - _INTENTS} more"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _format_share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def write_junit(document: Mapping[str, Any], thresholds: Sequence[Threshold], seconds: float) -> str:
    """A test case for each required measure, which fails as the command does, and for each intent, with its faults."""
    cases = []
    for threshold in thresholds:
        cases.append(Xml.Element("testcase", classname="measure", name=threshold.measure))
        if not threshold.is_reached(document):
            Xml.SubElement(cases[-1], "failure", message=threshold.describe(document))
    for each in (document.get("intents") or {}).get("intents", ()):
        cases.append(Xml.Element("testcase", classname="intent", name=each["intent"]))
        Xml.SubElement(cases[-1], "system-out").text = "\n".join(_list_faults(document["intents"], each))
    return format_junit("understanding", cases, seconds)


def _list_faults(intents: Mapping[str, Any], each: Mapping[str, Any]) -> Iterator[str]:
    shares = f"precision {_format_share(each['precision'])}, recall {_format_share(each['recall'])}"
    yield f"{shares}, {each['messages']} messages"
    for confusion in intents["confusions"]:
        if confusion["intent"] == each["intent"]:
            yield from (f"→ {confusion['decision']}: {message['message']}" for message in confusion["messages"])
    for message in intents["undecided"]:
        if message["intent"] == each["intent"]:
            yield f"→ {' or '.join(message['decision']) or 'nothing'}: {message['message']}"


def write_rasa_files(intents: Mapping[str, Any], folder: Path) -> None:
    """Write intent_report.json and intent_errors.json in the formats of `rasa test`."""
    confused: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for confusion in intents["confusions"]:
        confused[confusion["intent"]][confusion["decision"]] = confusion["count"]
    total = sum(each["messages"] for each in intents["intents"])
    report: dict[str, Any] = {
        each["intent"]: {**_name_measures(each, each["messages"]), "confused_with": confused[each["intent"]]}
        for each in sorted(intents["intents"], key=itemgetter("intent"))
    }
    averages = {f"{name} avg": _name_measures(intents[name], total) for name in ("macro", "weighted")}
    report |= {"accuracy": intents["recall"], **averages}
    errors = [
        {
            "text": message["message"],
            "intent": confusion["intent"],
            "intent_prediction": {
                "name": message["ranked"][0]["intent"],
                "confidence": message["ranked"][0]["confidence"],
            },
        }
        for confusion in intents["confusions"]
        for message in confusion["messages"]
    ]
    errors += [
        {"text": each["message"], "intent": each["intent"], "intent_prediction": {"name": None, "confidence": 0.0}}
        for each in intents["undecided"]
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("intent_report", report), ("intent_errors", errors)):
        text = json.dumps(content, ensure_ascii=False, indent=2)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def _name_measures(measures: Mapping[str, Any], support: int) -> dict[str, Any]:
    values = {label: measures[name] or 0.0 for label, name in _RASA_NAMES.items()}
    return {**values, "support": support}


def format_junit(name: str, cases: Sequence[Xml.Element], seconds: float) -> str:
    """Test cases as one suite in the format of JUnit, without the characters that XML cannot hold."""
    totals = {"tests": str(len(cases)), "errors": "0", "time": f"{seconds:.3f}"}
    for total, outcome in (("failures", "failure"), ("skipped", "skipped")):
        totals[total] = str(sum(case.find(outcome) is not None for case in cases))
    suites = Xml.Element("testsuites", totals)
    Xml.SubElement(suites, "testsuite", totals, name=name).extend(cases)
    for element in suites.iter():
        element.text = _NOT_IN_XML.sub("", element.text or "") or None
        for key, value in element.attrib.items():
            element.set(key, _NOT_IN_XML.sub("", value))
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=True)
