"""`python -m bench.intents FILE…`: intents of public sets by number of phrases; `--small`: small bots drawn by lot."""

import argparse
import random
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from convengine.evaluation.corpus import IntentCorpus, read_corpus
from convengine.evaluation.measures import IntentOutcome, summarize_intents

#: The sizes of small bots and the numbers of their phrases, and how many are drawn of each.
_SIZES, _PHRASES, _DRAWS = (1, 2, 4, 8, 16), (5, 10), 10
#: How many messages that mean none of its intents a small bot gets.
_STRANGE = 160


def main() -> int:
    """Print the tables."""
    options = _parse()
    corpora = {file.stem: read_corpus(file) for file in options.files}
    print(f"{'':16}{'recall at 0.9':>15}  {'recall':>6} {'precision':>9} {'near':>6} {'first three':>11} {'ms':>5}")
    for name, corpus in corpora.items():
        for most in map(int, options.phrases.split(",") if options.phrases else ()):
            started = time.process_time()
            outcomes = [*corpus.decide(most)]
            spent = (time.process_time() - started) * 1000 / len(outcomes)
            print(f"{name + ', ' + str(most):16}{_format(summarize_intents(outcomes))} {spent:5.1f}", flush=True)
    if options.small:
        print(f"\nSmall bots, each with {_STRANGE} strange messages: recall and precision by the defaults")
        for size in _SIZES:
            _print_small_bots(size, corpora)
    return 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.intents", description=__doc__)
    parser.add_argument("files", type=Path, nargs="+", help="corpora as of `convengine evaluate --intents`")
    parser.add_argument("--phrases", default="1,2,3,5,10,20", help="how many phrases of each intent train; blank: none")
    parser.add_argument("--small", action="store_true", help="also small bots")
    return parser.parse_args()


def _format(measured: Mapping[str, Any]) -> str:
    at = measured["recallAtPrecision"]
    shares = (measured[name] or 0 for name in ("recall", "precision", "near", "firstThree"))
    recall, precision, near, first = shares
    reached = f"{at['recall']:6.3f} from {at['confidence'] or 1:.2f}"
    return f"{reached}  {recall:6.3f} {precision:9.3f} {near:6.3f} {first:11.3f}"


def _print_small_bots(size: int, corpora: Mapping[str, IntentCorpus]) -> None:
    """Recall and precision of all bots of a size together, of each set and number of phrases."""
    every: list[IntentOutcome] = []
    cells = []
    for name, corpus in corpora.items():
        for phrases in _PHRASES:
            outcomes = [outcome for bot in _draw_bots(corpus, size, phrases) for outcome in bot.decide()]
            cells.append(f"{name}, {phrases}: {_format_small(outcomes)}")
            every += outcomes
    print(f"{size:2} intents  {_format_small(every)}   ({'; '.join(cells)})", flush=True)


def _format_small(outcomes: Sequence[IntentOutcome]) -> str:
    measured = summarize_intents(outcomes)
    return f"{measured['recall']:.3f} {measured['precision'] or 0:.3f}"


def _draw_bots(corpus: IntentCorpus, size: int, phrases: int) -> Iterator[IntentCorpus]:
    """Bots of intents and phrases that were drawn by lot; messages of other intents mean nothing to them."""
    lot = random.Random(f"{size} intents of {phrases} phrases")
    for _ in range(_DRAWS):
        chosen = lot.sample(sorted(corpus.phrases), size)
        drawn = {intent: lot.sample([*corpus.phrases[intent]], phrases) for intent in chosen}
        mine = [(message, intent) for message, intent in corpus.messages if intent in drawn]
        others = [(message, "") for message, intent in corpus.messages if intent not in drawn]
        yield IntentCorpus(drawn, [*mine, *lot.sample(others, _STRANGE)])


if __name__ == "__main__":
    sys.exit(main())
