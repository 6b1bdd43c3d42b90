"""The inputs of public test suites as a field reads them: invented files in the formats of both suites."""

import json
import sys
from pathlib import Path

import pytest

from bench import reading_suites
from bench.reading_suites import list_cases
from convengine.json_value import Json

CORPUS = r"""
import Duckling.Testing.Types hiding (examples)

negativeCorpus = (testContext, testOptions, examples)
  where
    examples = [ "seven" ]

laterContext = Context { referenceTime = refTime (2013, 3, 4, 4, 30, 0) (-2) }
laterExamples = examples (datetime (2013, 3, 5, 0, 0, 0) Day) [ "the day after this one" ]

allExamples :: [Example]
allExamples = concat
  [ examples (datetime (2013, 6, 21, 0, 0, 0) Day)
             [ "21 june" -- , "the longest day"
             , "june \"21\""
             ]
  , examples (datetime (2013, 2, 12, 17, 40, 0) Minute)
             [ "at 5:40 pm" ]
  , examples (datetime (2013, 2, 20, 17, 40, 0) Minute) [ "on the 20th at 5:40 pm" ]
  , examples (datetime (2013, 6, 0, 0, 0, 0) Month) [ "june" ]
  , examples (datetimeHoliday (2013, 6, 16, 0, 0, 0) Day "Baker's Day") [ "baker's day" ]
  , examples (datetimeInterval ((2013, 6, 1, 0, 0, 0), (2013, 6, 5, 0, 0, 0)) Day) [ "1 to 4 june" ]
  ]
"""
NUMERALS = r"""
allExamples = concat
  [ examples (NumeralValue 46) [ "46", "forty six" ]
  , examples
        (NumeralValue (-0.25))
        [ "-1/4" ]
  ]
"""


def make_entry(text: str, *results: tuple[str, Json]) -> Json:
    return {"Input": text, "Results": [{"TypeName": name, "Resolution": {"value": value}} for name, value in results]}


def make_moment(text: str, kind: str, future: str, past: str) -> Json:
    value = {"FutureResolution": {kind: future}, "PastResolution": {kind: past}}
    return {
        "Input": text,
        "Context": {"ReferenceDateTime": "2019-05-02T00:00:00"},
        "Results": [{"Type": kind, "Value": value}],
    }


def make_model(text: str, kind: str, *values: Json) -> Json:
    resolution = {"values": [{"type": kind, **value} for value in values]}
    return {"Input": text, "Results": [{"TypeName": f"datetimeV2.{kind}", "Resolution": resolution}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    numbers = [
        make_entry("we are 46", ("number", "46")),
        make_entry("46 of 59", ("number", "46"), ("number", "59")),
        make_entry("nobody knows"),
    ]
    dates = [
        make_moment("on 21 june please", "date", "2019-06-21", "2018-06-21"),
        make_moment("31 june", "date", "0001-01-01", "0001-01-01"),
    ]
    models = [
        make_model("the 23rd, say", "date", {"value": "2019-04-23"}, {"value": "2019-03-23"}),
        make_model("21 to 25 june", "daterange", {"start": "2019-06-21", "end": "2019-06-25"}),
        make_model("whenever it is friday", "set", {"value": "not resolved"}),
    ]
    times = [make_moment("5:40:12 pm", "time", "17:40:12", "17:40:12")]
    files = {
        "suites/Specs/Number/English/NumberModel.json": json.dumps(numbers),
        "suites/Specs/DateTime/English/DateParser.json": json.dumps(dates),
        "suites/Specs/DateTime/English/DateTimeModel.json": json.dumps(models),
        "suites/Specs/DateTime/English/TimeParser.json": json.dumps(times),
        "suites/Duckling/Time/EN/Corpus.hs": CORPUS,
        "suites/Duckling/Numeral/EN/Corpus.hs": NUMERALS,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            "dates",
            {
                "on 21 june please": ("2018-06-21", "2019-06-21"),
                "31 june": "without such a value",
                "5:40:12 pm": "without such a value",
                "the 23rd, say": ("2019-03-23", "2019-04-23"),
                "21 to 25 june": "ranges",
                "whenever it is friday": "sets",
                "the day after this one": ("2013-03-05",),
                "21 june": ("2013-06-21",),
                'june "21"': ("2013-06-21",),
                "at 5:40 pm": "with a time",
                "on the 20th at 5:40 pm": "with a time",
                "june": "ranges",
                "baker's day": "holidays",
                "1 to 4 june": "ranges",
            },
        ),
        (
            "numbers",
            {
                "we are 46": (46,),
                "46 of 59": "several values",
                "nobody knows": "without such a value",
                "46": (46,),
                "forty six": (46,),
                "-1/4": "fractions and powers",
            },
        ),
    ],
)
def test_an_input_has_the_values_of_its_suite_or_a_reason(folder: Path, kind: str, expected: Json) -> None:
    assert {case.text: case.reason or case.values for case in list_cases(folder, "en", kind)} == expected


def test_a_time_is_measured_on_the_day_of_its_clock_and_without_seconds(folder: Path) -> None:
    cases = {case.text: case.reason or case.values for case in list_cases(folder, "en", "times")}
    assert cases["at 5:40 pm"] == ("17:40",)
    assert cases["on the 20th at 5:40 pm"] == "with a date"
    assert cases["5:40:12 pm"] == "with seconds"


def test_an_example_has_the_clock_of_its_corpus(folder: Path) -> None:
    clocks = {case.text: case.now[:10] for case in list_cases(folder, "en", "dates")}
    assert clocks["the day after this one"] == "2013-03-04"
    assert clocks["21 june"] == "2013-02-12"
    assert clocks["on 21 june please"] == "2019-05-02"


def test_the_table_counts_what_the_product_reads(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["reading_suites", str(folder), "--languages", "en", "--kind", "numbers"])
    assert reading_suites.main() == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("en numbers"))
    assert row.split() == [
        "en",
        "numbers",
        "[≥75",
        "≤4]",
        "3",
        "100.0",
        "0.0",
        "1",
        "100.0",
        "0.0",
        "2",
        "100.0",
        "0.0",
    ]


def test_an_empty_folder_measures_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reading_suites", str(tmp_path)])
    assert reading_suites.main() == 2
