"""`python -m bench.reading_suites FOLDER`: how the inputs of two public test suites are read into a field.

FOLDER contains files of microsoft/Recognizers-Text and of facebook/duckling under the paths that they have there
(`Specs/Number/German/NumberModel.json`, `Duckling/Time/DE/Corpus.hs`); missing files are left out. Holidays are only
told apart where a suite marks them: `datetimeHoliday` in newer files of duckling.
"""

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from convengine.engine.understanding.language import list_languages
from convengine.evaluation.read import NOW, CorpusReader
from convengine.json_value import Json

#: By language: the locale in which it is read, and its folder in Recognizers-Text.
LANGUAGES = {
    "en": ("en-US", "English"),
    "de": ("de-DE", "German"),
    "es": ("es-ES", "Spanish"),
    "fr": ("fr-FR", "French"),
    "it": ("it-IT", "Italian"),
    "pt": ("pt-BR", "Portuguese"),
    "nl": ("nl-NL", "Dutch"),
}
KINDS = ("dates", "times", "numbers")
#: By kind: the desired shares of right and of wrong values, in percent.
GOALS = {"dates": (70, 4), "times": (70, 4), "numbers": (75, 4)}
SUITES = ("recognizers", "duckling")
_FIELD, _FRACTION, _ABSENT = "value", "fractions and powers", "without such a value"
#: What Recognizers-Text writes for a day that does not exist.
_NO_DAY = "0001-01-01"
#: `Duckling.Testing.Types`: the clock of an example, unless its corpus names another one.
_DUCKLING_NOW = datetime.fromisoformat("2013-02-12T04:30:00-02:00")
#: What a number with a point has, unlike a fraction such as two thirds.
_DECIMAL = re.compile(r"[.,]\d|\b(point|punkt|komma|punto|coma|virgule|virgola|v[ií]rgula|ponto)\b", re.IGNORECASE)
#: The digits that may follow the point, and up to what a double holds every integer.
_DECIMALS, _EXACT = 4, 10**15


@dataclass(frozen=True)
class Case:
    """An input of a suite, with the values that count as right or the reason why it is left out."""

    suite: str
    kind: str
    text: str
    now: str
    values: tuple[Json, ...] = ()
    reason: str = ""


def main() -> int:
    """Print the table."""
    options = _parse()
    print(" " * 24 + "".join(f"{suite:^24}" for suite in ("both", *SUITES)))
    print(f"{'of 100 inputs':<24}" + f"{'inputs':>8}{'right':>8}{'wrong':>8}" * 3)
    notes, count = list[str](), 0
    for code in options.languages:
        if code not in list_languages():
            notes.append(f"{code}: no tables")
            continue
        for kind in options.kinds:
            cases = list_cases(options.folder, code, kind)
            counts = _judge(cases, code, options.show)
            count += sum(map(Counter.total, counts.values()))
            print(_format_row(code, kind, counts), flush=True)
            reasons = Counter(case.reason for case in cases if case.reason).most_common()
            notes.append(f"{code} {kind}: " + (", ".join(f"{number} {reason}" for reason, number in reasons) or "none"))
    print("\nLeft out:\n" + "\n".join(notes))
    return 0 if count else 2


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.reading_suites", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the files")
    parser.add_argument("--languages", default=",".join(LANGUAGES), metavar="CODES", help="such as es,fr; default: all")
    parser.add_argument("--kind", action="append", choices=KINDS, dest="kinds", help="only this kind")
    parser.add_argument("--show", choices=("right", "wrong", "not taken"), help="print these inputs")
    options = parser.parse_args()
    options.kinds, options.languages = options.kinds or KINDS, options.languages.split(",")
    if unknown := set(options.languages) - LANGUAGES.keys():
        parser.error(f"unknown languages: {', '.join(sorted(unknown))}")
    return options


def list_cases(folder: Path, code: str, kind: str) -> list[Case]:
    """The inputs of both suites, each once."""
    return list(dict.fromkeys((*_read_recognizers(folder, code, kind), *_read_duckling(folder, code, kind))))


def read_case(reader: CorpusReader, case: Case, locale: str) -> tuple[str, Json]:
    """What becomes of an input: `right`, `wrong` or `not taken`, and the value."""
    field: dict[str, Json] = {"title": "Value", "type": "string", "format": case.kind.removesuffix("s")}
    if case.kind == "numbers":
        is_whole = all(float(value).is_integer() for value in case.values)
        field = {"title": "Value", "type": "integer" if is_whole else "number"}
    line: dict[str, Json] = {
        "form": {"type": "object", "title": "Form", "properties": {_FIELD: field}, "required": [_FIELD]},
        "say": case.text,
        "asked": _FIELD,
        "now": case.now,
        "locale": locale,
    }
    value = reader.read(line).taken.get(_FIELD)
    return "not taken" if value is None else "right" if value in case.values else "wrong", value


def _judge(cases: list[Case], code: str, shown: str | None) -> Mapping[str, Counter[str]]:
    """By suite: how many inputs are right, wrong and not taken."""
    reader, locale, counts = CorpusReader({}), LANGUAGES[code][0], defaultdict[str, Counter[str]](Counter)
    for case in cases:
        if not case.reason:
            outcome, value = read_case(reader, case, locale)
            counts[case.suite][outcome] += 1
            if outcome == shown:
                print(f"{case.suite} {locale} {case.now}: {case.text!r} {value!r}, not {case.values}")
    return counts


def _format_row(code: str, kind: str, counts: Mapping[str, Counter[str]]) -> str:
    both = sum(counts.values(), Counter[str]())
    cells = ""
    for outcomes in (both, *(counts.get(suite, Counter[str]()) for suite in SUITES)):
        total = outcomes.total()
        shares = (100 * outcomes[name] / max(total, 1) for name in ("right", "wrong"))
        cells += f"{total:>8}" + "".join(f"{share:>8.1f}" for share in shares)
    (right, wrong), total = GOALS[kind], both.total()
    is_met = 100 * both["right"] >= right * total and 100 * both["wrong"] <= wrong * total
    return f"{code} {kind:<8} [≥{right} ≤{wrong}]".ljust(24) + cells + ("" if is_met else "  NOT MET")


def _read_recognizers(folder: Path, code: str, kind: str) -> Iterator[Case]:
    """Extractors give a piece of text without a value, and other models of dates have options of their own."""
    paths = ["Number/{}/NumberModel.json"]
    if kind != "numbers":
        paths = [f"DateTime/{{}}/{name}.json" for name in ("DateParser", "TimeParser", "DateTimeModel")]
    for path in paths:
        for file in sorted(folder.glob(f"**/Specs/{path.format(LANGUAGES[code][1])}")):
            for entry in _load(file):
                now = datetime.fromisoformat(entry.get("Context", {}).get("ReferenceDateTime", NOW))
                values, reason = _find_recognizers_values(entry, kind)
                now = now if now.tzinfo else now.replace(tzinfo=UTC)
                yield Case("recognizers", kind, entry["Input"], now.isoformat(), values, reason)


def _load(file: Path) -> list[Json]:
    try:
        return list(json.loads(file.read_text("utf-8-sig")))
    except ValueError as error:
        sys.exit(f"{file}: {error}")


def _find_recognizers_values(entry: Json, kind: str) -> tuple[tuple[Json, ...], str]:
    name = kind.removesuffix("s")
    types = [str(result.get("Type") or result.get("TypeName")).rpartition(".")[2] for result in entry["Results"]]
    results = [result for result, type_name in zip(entry["Results"], types, strict=True) if type_name == name]
    if not results:
        is_range = any(type_name.endswith("range") for type_name in types)
        return (), "ranges" if is_range else "sets" if "set" in types else _ABSENT
    if len(results) > 1:
        return (), "several values"
    if kind == "numbers":
        resolution = results[0]["Resolution"]
        is_power = resolution.get("subtype") in ("fraction", "power")
        number = resolution["value"].replace(",", ".")
        return ((), _FRACTION) if is_power else _check_number(number, entry["Input"])
    texts = list(_list_candidates(results[0], name))
    if kind == "times" and not all(text.endswith(":00") for text in texts):
        return (), "with seconds"
    values = sorted({text[:5] if kind == "times" else text for text in texts})
    return tuple(values), "" if values else _ABSENT


def _list_candidates(result: Json, name: str) -> Iterator[str]:
    """A day without a year has two: the next one and the last one."""
    for resolution in ("FutureResolution", "PastResolution"):
        value = (result.get("Value") or {}).get(resolution, {}).get(name)
        if value and value != _NO_DAY:
            yield value
    for resolved in (result.get("Resolution") or {}).get("values", ()):
        if resolved.get("type") == name and resolved.get("value", "")[:1].isdigit():
            yield resolved["value"]


def _check_number(number: str, text: str) -> tuple[tuple[Json, ...], str]:
    value = float(number)
    is_decimal = round(value, _DECIMALS) == value and bool(_DECIMAL.search(text))
    if "/" in text or "^" in text or not (is_decimal or (2 * value).is_integer()):
        return (), _FRACTION
    return ((value,), "") if abs(value) < _EXACT else ((), "too large to be exact")


_COMMENTS = re.compile(r'("(?:[^"\\]|\\.)*")|--[^\n]*|\{-.*?-\}', re.DOTALL)
#: An example, or what sets the clock of the next ones.
_EXAMPLES = re.compile(
    r'\bexamples\s*\((?P<value>[^\[\]]*)\[(?P<texts>(?:"(?:[^"\\]|\\.)*"|[^"\]])*)\]'
    r"|\brefTime\s*\((?P<now>[^)]*)\)|(?P<reset>\ballExamples\s*=)"
)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:(\d+)|(.))")
_DATETIME = re.compile(r"(datetime\w*)\W+(?:(?:Before|After)\W+)?(-?\d[^()]*)\)[^\"]*?\b([A-Z]\w+)")
_NUMERAL = re.compile(r"NumeralValue\s*\(?(-?[\d.]+(?:e-?\d+)?)")


def _read_duckling(folder: Path, code: str, kind: str) -> Iterator[Case]:
    dimension = "Numeral" if kind == "numbers" else "Time"
    for file in sorted(folder.glob(f"**/Duckling/{dimension}/{code.upper()}/Corpus.hs")):
        now = _DUCKLING_NOW
        for match in _EXAMPLES.finditer(_COMMENTS.sub(lambda match: match[1] or "", file.read_text("utf-8"))):
            if match["now"] or match["reset"]:
                now = _make_datetime(match["now"]) if match["now"] else _DUCKLING_NOW
            for escaped in _TEXT.findall(match["texts"] or ""):
                text = _ESCAPE.sub(lambda match: chr(int(match[1])) if match[1] else match[2], escaped)
                values, reason = _find_duckling_value(match["value"], kind, text, now)
                yield Case("duckling", kind, text, now.isoformat(), values, reason)


def _make_datetime(parts: str) -> datetime:
    year, month, day, hour, minute, second = map(int, parts.split(","))
    return datetime(year, month, day, hour, minute, second, tzinfo=_DUCKLING_NOW.tzinfo)


def _find_duckling_value(written: str, kind: str, text: str, now: datetime) -> tuple[tuple[Json, ...], str]:
    if kind == "numbers":
        number = _NUMERAL.search(written)
        return _check_number(number[1], text) if number else ((), _ABSENT)
    if not (match := _DATETIME.search(written)):
        return (), _ABSENT
    constructor, parts, grain = match.groups()
    if constructor != "datetime" or grain in ("Week", "Month", "Quarter", "Year"):
        return (), "holidays" if constructor.endswith("Holiday") else "ranges"
    value = _make_datetime(parts)
    if kind == "dates":
        return ((value.date().isoformat(),), "") if grain == "Day" else ((), "with a time")
    if grain == "Day":
        return (), _ABSENT
    if value.second:
        return (), "with seconds"
    return ((f"{value:%H:%M}",), "") if now <= value < now + timedelta(days=1) else ((), "with a date")


if __name__ == "__main__":
    sys.exit(main())
