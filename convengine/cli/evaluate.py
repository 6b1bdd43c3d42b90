"""`convengine evaluate`: how well messages are understood (docs/evaluate.md).

Corpora and the files of other systems need no database and no project; what measures the configuration of a project is
the management command of the same name, with the same options.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from convengine.json_value import Json

if TYPE_CHECKING:
    from convengine.evaluation.corpus import IntentCorpus
    from convengine.evaluation.cross_validation import Progress
    from convengine.evaluation.report import Threshold

#: The exit status when a required measure is not reached, and when nothing could be evaluated.
BELOW, IMPOSSIBLE = 1, 2
#: The options that need no project.
_CORPORA = frozenset({"--read", "--intents", "--answers", "--cross-validate"})
#: Seconds between two lines of progress where the terminal cannot show one that changes.
_PAUSE = 10.0


def needs_project(arguments: Sequence[str]) -> bool:
    """False for corpora."""
    return not any(word.partition("=")[0] in _CORPORA for word in arguments)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "files", nargs="*", type=Path, metavar="FILE",
        help="Labelled messages for the project's configuration: .csv, .jsonl, .yaml, Rasa's nlu.yml, or folders. "
        "Without a file, the configuration's phrases are cross-validated.",
    )  # fmt: skip
    parser.add_argument("--configuration", default="live", metavar="NAME", help="live, release:12 or draft:7.")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument(
        "--cross-validate", nargs="+", type=Path, metavar="FILE", help="Cross-validate the messages of files instead."
    )
    kinds.add_argument("--intents", type=Path, metavar="FILE", help="Decide on the messages of a corpus of intents.")
    kinds.add_argument(
        "--answers", type=Path, metavar="FILE", help="Find the answers to the messages of a corpus of FAQ lines."
    )
    kinds.add_argument("--read", type=Path, metavar="FILE", help="Read the messages of a corpus into forms.")
    parser.add_argument("--phrases", type=int, metavar="N", help="Of --intents: only the first N phrases of each.")
    parser.add_argument(
        "--documents", type=Path, metavar="FOLDER", help="Of --answers: find answers in these documents, too."
    )
    parser.add_argument(
        "--encoder", type=Path, metavar="FOLDER", help="Of corpora: vectors by the ONNX file of this folder."
    )
    parser.add_argument("--forms", type=Path, metavar="FILE", help="Of --read: the JSON Schemas that lines name.")
    parser.add_argument(
        "--score", action="store_true", help="Print the measures instead (--read, --intents, --answers)."
    )
    parser.add_argument("--folds", type=int, default=5, metavar="N", help="Parts of a cross-validation. Default: 5.")
    parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text.")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="Also write a report in the format of JUnit.")
    parser.add_argument(
        "--rasa-report",
        type=Path,
        metavar="FOLDER",
        help="Also write intent_report.json and intent_errors.json of Rasa.",
    )
    parser.add_argument(
        "--fail-under", default="", metavar="MEASURES",
        help="End with status 1 below these, such as recall=0.85,precision=0.9 (taken: values of fields).",
    )  # fmt: skip


def evaluate_corpus(arguments: Sequence[str]) -> int:
    """Evaluate what needs no project; gives the exit status."""
    parser = argparse.ArgumentParser("convengine evaluate", allow_abbrev=False)
    add_arguments(parser)
    options = vars(parser.parse_args(list(arguments)))
    if options["files"]:
        parser.error("FILE cannot be combined with --read, --intents, --answers or --cross-validate")
    return run(options, lambda report: _evaluate_files(options, report))


def run(options: Mapping[str, Any], evaluate: "Callable[[Progress], dict[str, Any]]") -> int:
    """Print results line by line, or evaluate and print the measures; gives the exit status.

    `evaluate` gets a function that shows the progress.
    """
    from convengine.evaluation.read import EvaluationError
    from convengine.evaluation.report import parse_thresholds

    try:
        thresholds = parse_thresholds(options["fail_under"])
        has_corpus = options["intents"] or options["answers"]
        is_listing = options["read"] or (has_corpus and not options["score"])
        if is_listing and (thresholds or any(options[name] for name in ("junit", "rasa_report", "json"))):
            raise EvaluationError(
                "--fail-under, --junit, --rasa-report and --json need labelled files, or --score and a corpus."
            )
        if options["phrases"] is not None and options["phrases"] < 1:
            raise EvaluationError("--phrases is at least 1.")
        if is_listing:
            _print(_read(options) if options["read"] else _decide(options))
            return 0
        if options["folds"] < 2:
            raise EvaluationError("--folds is at least 2.")
        began = time.monotonic()
        document = evaluate(_Progress())
        return _finish(document, options, thresholds, time.monotonic() - began)
    except BrokenPipeError:
        raise
    except (EvaluationError, OSError) as error:
        print(f"convengine evaluate: {error}", file=sys.stderr)
        return IMPOSSIBLE


def _finish(
    document: dict[str, Any], options: Mapping[str, Any], thresholds: "Sequence[Threshold]", seconds: float
) -> int:
    from convengine.evaluation.report import format_evaluation, write_junit, write_rasa_files

    document = {**document, "seconds": round(seconds, 3)}
    if junit := options["junit"]:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.write_text(write_junit(document, thresholds, seconds), encoding="utf-8")
    if (folder := options["rasa_report"]) and document.get("intents"):
        write_rasa_files(document["intents"], folder)
    _print([json.dumps(document, ensure_ascii=False)] if options["json"] else format_evaluation(document))
    problems = [threshold.describe(document) for threshold in thresholds if not threshold.is_reached(document)]
    for text in problems:
        print(f"Not reached: {text}.", file=sys.stderr)
    return BELOW if problems else 0


def _evaluate_files(options: Mapping[str, Any], report: "Progress") -> dict[str, Any]:
    from convengine.evaluation.configuration import validate_messages
    from convengine.evaluation.labelled import read_files
    from convengine.evaluation.measures import summarize_intents

    if options["intents"] or options["answers"]:
        outcomes = []
        corpus = _read_corpus(options)
        for outcome in corpus.decide(options["phrases"]):
            outcomes.append(outcome)
            report(len(outcomes), len(corpus.messages))
        return {"kind": "corpus", "notes": [], "intents": summarize_intents(outcomes), "fields": None}
    files = read_files(options["cross_validate"])
    document = validate_messages(files.messages, folds=options["folds"], report=report)
    return {**document, "notes": [*files.notes, *document["notes"]]}


def _decide(options: Mapping[str, Any]) -> Iterator[str]:
    for outcome in _read_corpus(options).decide(options["phrases"]):
        decision = outcome.decision.to_json()
        if options["answers"]:
            cards = list(outcome.cards)
            decision = {
                "decision": None if cards else decision["decision"],
                "ranked": decision["ranked"],
                "cards": cards,
            }
        yield json.dumps({"message": outcome.message, **decision}, ensure_ascii=False)


def _read_corpus(options: Mapping[str, Any]) -> "IntentCorpus":
    from convengine.engine.understanding.onnx_encoder import load_onnx_encoder
    from convengine.engine.understanding.phrases.encoders import EncoderUnavailable, use_service
    from convengine.evaluation.corpus import read_corpus
    from convengine.evaluation.read import EvaluationError

    if options["documents"] and not options["answers"]:
        raise EvaluationError("--documents needs --answers.")
    corpus = read_corpus(
        options["intents"] or options["answers"], has_lines=bool(options["answers"]), documents=options["documents"]
    )
    folder: Path | None = options["encoder"]
    if folder is None:
        return corpus
    try:
        encoder = load_onnx_encoder(str(folder))
    except EncoderUnavailable as problem:
        raise EvaluationError(str(problem)) from None
    use_service(lambda _, texts: encoder.encode(texts))
    return replace(corpus, encoder=folder.resolve().name)


def _read(options: Mapping[str, Any]) -> Iterator[str]:
    from convengine.evaluation.read import CorpusReader, EvaluationError, read_lines
    from convengine.evaluation.read_score import ReadScore

    forms: Path | None = options["forms"]
    if options["encoder"]:
        raise EvaluationError("--encoder needs --intents or --answers.")
    try:
        schemas: Json = json.loads(forms.read_text("utf-8")) if forms else {}
    except ValueError as error:
        raise EvaluationError(f"{forms}: the file is not valid JSON: {error}") from None
    if not isinstance(schemas, dict):
        raise EvaluationError(f"{forms}: write an object with a JSON Schema for each name.")
    # Everything that is made here is kept, and collecting takes a tenth of the time.
    gc.freeze()
    reader, counts = CorpusReader(schemas), ReadScore()
    for line in read_lines(options["read"]):
        result = reader.read(line)
        if options["score"]:
            counts.add(line, reader.find(line["form"]).form.schema, result)
        else:
            yield json.dumps(result.to_json(), ensure_ascii=False)
    if options["score"]:
        yield from counts.format_table()


def _print(lines: "Iterable[str]") -> None:
    for line in lines:
        print(line)


class _Progress:
    """Shows on standard error how far a long evaluation is."""

    def __init__(self) -> None:
        self._began = self._at = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        is_terminal, now = sys.stderr.isatty(), time.monotonic()
        if now - self._at >= (1.0 if is_terminal else _PAUSE) or (done == total and self._at > self._began):
            self._at = now
            line = f"{done:,} of {total:,} messages"
            print(
                f"\r{line}" if is_terminal else line,
                end="" if is_terminal and done < total else "\n",
                file=sys.stderr,
                flush=True,
            )
