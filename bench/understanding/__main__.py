"""`python -m bench.understanding FOLDER`: what is read of the public sets; `--without NAME`: without a principle."""

import argparse
import json
import random
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bench.understanding.restaurants import FORM, SCHEMA, read_restaurants
from convengine.engine.understanding.principles import Principle, switch_off
from convengine.evaluation.read import CorpusReader, Result, read_lines
from convengine.evaluation.read_score import ReadOutcome, ReadScore
from convengine.json_value import Json


def main() -> int:
    """Print the table of each set."""
    options = _parse()
    sets = _load(options.folder, options.lines)
    if options.each:
        _print_principles(sets)
        return 0
    with switch_off(*options.without):
        for name, (forms, lines) in sets.items():
            print(f"\n{name}")
            reader, counts = CorpusReader(forms), ReadScore()
            for line in lines:
                result = reader.read(line)
                schema = reader.find(line["form"]).form.schema
                outcomes = counts.add(line, schema, result)
                if options.show:
                    _show(line, result, outcomes, options.show)
            print("\n".join(counts.format_table()))
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.understanding", description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder of the public sets")
    parser.add_argument("--without", type=Principle, action="append", default=[], metavar="NAME")
    parser.add_argument("--each", action="store_true", help="one line for each principle: the sets without it")
    parser.add_argument("--lines", type=int, metavar="N", help="only a sample of so many lines of each set")
    parser.add_argument("--show", metavar="OUTCOME", help="print the messages of an outcome, such as `wrong`")
    return parser.parse_args()


_Sets = dict[str, tuple[Mapping[str, Json], list[dict[str, Json]]]]


def _load(folder: Path, size: int | None) -> _Sets:
    sets = {path.name.removesuffix("-forms.json"): path for path in sorted(folder.glob("**/*-forms.json"))}
    read = {
        name: (json.loads(path.read_text("utf-8")), _sample(read_lines(path.with_name(f"{name}.jsonl.gz")), size))
        for name, path in sets.items()
    }
    restaurants = _sample(read_restaurants(folder / "restaurants8k.json.gz"), size)
    return {**read, "restaurants8k": ({FORM: SCHEMA}, restaurants)}


def _sample(lines: Iterable[dict[str, Json]], size: int | None) -> list[dict[str, Json]]:
    every = list(lines)
    return random.Random(1).sample(every, min(size, len(every))) if size else every


def _print_principles(sets: _Sets) -> None:
    """The typed values and the asked texts of each set, with all principles and without each of them."""
    print(f"{'without':<22}" + "".join(f"{name:<50}" for name in sets))
    for principle in (None, *Principle):
        with switch_off(*([principle] if principle else [])):
            cells = [_summarise(forms, lines) for forms, lines in sets.values()]
        print(f"{principle or '–':<22}" + "".join(f"{cell:<50}" for cell in cells), flush=True)


def _summarise(forms: Mapping[str, Json], lines: Iterable[Mapping[str, Json]]) -> str:
    reader, counts = CorpusReader(forms), ReadScore()
    for line in lines:
        counts.add(line, reader.find(line["form"]).form.schema, reader.read(line))
    typed, text = counts.sum_typed(), counts.counts["text", True]
    return (
        f"typed {' '.join(_list_shares(typed))}, faulty {counts.share_faulty:.2%}, text {' '.join(_list_shares(text))}"
    )


def _list_shares(counts: Mapping[ReadOutcome, int]) -> Iterator[str]:
    """The shares of right, offered and wrong values."""
    total = sum(counts.values()) - counts.get(ReadOutcome.INVENTED, 0)
    for outcome in (ReadOutcome.RIGHT, ReadOutcome.OFFERED, ReadOutcome.WRONG):
        yield f"{counts.get(outcome, 0) / max(total, 1):.1%}"


def _show(line: Mapping[str, Json], result: Result, outcomes: Mapping[str, ReadOutcome], wanted: str) -> None:
    fields = [name for name, outcome in outcomes.items() if outcome == wanted]
    if fields:
        spans = line.get("spans", {})
        meant = line.get("values") or {name: line["say"][slice(*span)] for name, span in spans.items()}
        print(f"{line['form']} [{line.get('asked', '')}] {fields}: {line['say']}\n    {meant} {result.to_json()}")


if __name__ == "__main__":
    sys.exit(main())
