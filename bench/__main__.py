"""`python -m bench`: measure everything and print it beside the goals. `--quick` is less exact and takes a minute."""

import argparse
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import flatness, postgres, report, storage, throughput
from bench.postgres import Postgres
from bench.product import Product, products
from bench.report import Result, Samples


@dataclass(frozen=True)
class Effort:
    """The duration of each measurement."""

    rounds: int
    seconds: float
    turns: int
    edits: int
    audit_rows: int
    #: Worlds and conversations are so many times smaller.
    smaller: int = 1


FULL = Effort(rounds=6, seconds=2.0, turns=400, edits=7, audit_rows=1_000_000)
QUICK = Effort(rounds=2, seconds=0.7, turns=80, edits=3, audit_rows=100_000)
SMOKE = Effort(rounds=1, seconds=0.3, turns=24, edits=2, audit_rows=10_000, smaller=50)


def main() -> int:
    """Returns 0 when all goals of this version are met."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_const", const=QUICK, dest="effort", help="a minute, rougher numbers")
    effort.add_argument("--smoke", action="store_const", const=SMOKE, dest="effort", help="whether it runs; no numbers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there too")
    options = parser.parse_args()
    # Servers and database end with this process, even on SIGTERM.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    started = time.monotonic()
    with postgres.start_postgres() as server:
        about = _about(server)
        print(about)
        samples, results = _measure(server, options.effort or FULL, lambda text: print(f"  … {text}", flush=True))
    print(f"\n{report.throughput_table(samples)}\n\n{report.goal_table(results)}")
    print(f"\n{time.monotonic() - started:.0f} s. Medians; read ratios, not times: all ran on this machine at once.")
    if options.json:
        options.json.write_text(json.dumps(_document(about, samples, results), indent=2) + "\n")
    return 0


def _measure(server: Postgres, effort: Effort, say: Callable[[str], None]) -> tuple[Samples, list[Result]]:
    with products(server) as every:
        rules = 1_000 // effort.smaller
        say(f"a world of {rules:,} rules and 100 message patterns")
        with every.world(rules, 100) as product:
            with every.world(rules, 0, people=True) as people:
                samples = throughput.measure(server, product, people, effort.rounds, effort.seconds, say)
            results = throughput.results(samples)
            say("in process: pipeline, statements, the look for a new release")
            results += _in_process(product, effort)
            say("turn 5, 500 and 5,000")
            results += flatness.measure_lengths(product, effort.turns, 500 // effort.smaller)
            say("stored bytes")
            results.append(storage.measure_turn(server, product, effort.turns))
        results.append(storage.measure_edit(every, effort.edits, 5_000 // effort.smaller))
        rules, patterns = 10_000 // effort.smaller, 1_000 // effort.smaller
        say(f"10 and {rules:,} rules, 10 and {patterns:,} message patterns, edits")
        results += flatness.measure_sizes(every, rules, patterns, effort.turns, effort.edits)
        say(f"{effort.audit_rows:,} audit rows")
        results += flatness.measure_audit(every, effort.turns, effort.audit_rows)
    return samples, order_goals(results)


def _in_process(product: Product, effort: Effort) -> list[Result]:
    times = product.call("pipeline", secret=product.secret, rounds=effort.turns)
    statements = product.call("statements", secret=product.secret)
    live = product.call("live", rounds=effort.turns)
    worst = product.call("worst_pattern", rounds=effort.edits)
    what_if = product.call("what_if", secret=product.secret, turns=1000 // effort.smaller)
    ratio = times["pipeline"] / times["empty"]
    what = f"pipeline alone ({times['pipeline']:.2f} ms) against an empty DRF request"
    extra = sum("ce_config_head" in sql and "ce_conversation" not in sql for sql in statements)
    return [
        Result("P4", what, ratio, 4, 2, "×"),
        Result("P8", "SQL statements of a turn", len(statements), 4, 3),
        Result("P9", "extra cost of the look for a new release", live["with"] - live["without"], 0.15, 0.15, "ms"),
        Result("P9", "extra round trips for it", extra, 1, 0),
        Result("what-if", f"what-if of {1000 // effort.smaller:,} turns", what_if["seconds"], 60, 20, "s"),
        Result("P15", "the worst pattern on 4,000 characters", worst, 10, 1, "ms"),
    ]


def order_goals(results: list[Result]) -> list[Result]:
    """By number; then the goals without one, in the order in which they were measured."""
    return sorted(results, key=_order)


def _order(result: Result) -> tuple[bool, int]:
    number = result.goal.removeprefix("P")
    return not number.isdigit(), int(number) if number.isdigit() else 0


def _about(server: Postgres) -> str:
    durable = ", ".join(f"{name} {value}" for name, value in server.settings().items())
    return (
        f"Python {platform.python_version()}, PostgreSQL {server.version()} ({durable}), "
        f"{len(os.sched_getaffinity(0))} cores; server 2 processes × 4 threads"
    )


def _document(about: str, samples: Samples, results: list[Result]) -> dict[str, object]:
    return {
        "about": about,
        "throughput": {
            name: {str(level): [asdict(line) for line in lines] for level, lines in by_level.items()}
            for name, by_level in samples.items()
        },
        "goals": [result.document() for result in results],
    }


if __name__ == "__main__":
    sys.exit(main())
