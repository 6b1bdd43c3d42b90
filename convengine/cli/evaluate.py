"""`convengine evaluate`: what messages are read as, without a database or a server (docs/evaluate.md)."""

import argparse
import gc
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from convengine.json_value import Json


def evaluate(arguments: Sequence[str]) -> int:
    """Run the command; gives the exit status."""
    options = _parse(arguments)
    from convengine.evaluation.read import EvaluationError

    try:
        for text in _read(options.read, options.forms, is_scored=options.score):
            print(text)
    except (EvaluationError, OSError) as error:
        print(f"convengine evaluate: {error}", file=sys.stderr)
        return 1
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("convengine evaluate", description="Read a corpus, and print what was read.")
    parser.add_argument(
        "--read", type=Path, required=True, metavar="FILE", help="messages to forms, a JSON object a line (.jsonl, .gz)"
    )
    parser.add_argument("--forms", type=Path, metavar="FILE", help="the JSON Schemas that lines name, by name")
    parser.add_argument("--score", action="store_true", help="print a table instead of the results")
    return parser.parse_args(list(arguments))


def _read(file: Path, forms: Path | None, *, is_scored: bool) -> Iterator[str]:
    from convengine.evaluation.read import CorpusReader, EvaluationError, read_lines
    from convengine.evaluation.read_score import ReadScore

    try:
        schemas: Json = json.loads(forms.read_text("utf-8")) if forms else {}
    except ValueError as error:
        raise EvaluationError(f"{forms}: this is no JSON: {error}") from None
    # Everything that is made here is kept, and collecting takes a tenth of the time.
    gc.freeze()
    reader, counts = CorpusReader(schemas), ReadScore()
    for line in read_lines(file):
        result = reader.read(line)
        if is_scored:
            counts.add(line, reader.find(line["form"]).form.schema, result)
        else:
            yield json.dumps(result.to_json(), ensure_ascii=False)
    if is_scored:
        yield from counts.format_table()
