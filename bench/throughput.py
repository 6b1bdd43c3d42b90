"""P1, P2, P3, P11, P13: the full turn compared with `base`, `floor` and the rivals installed, in alternating rounds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from statistics import median, quantiles

from bench import load
from bench.load import Conversation
from bench.postgres import Postgres
from bench.processes import cpu_seconds
from bench.product import Product
from bench.report import Result, Sample, Samples, middle
from bench.rivals import installed, tables
from bench.servers import start_server

LEVELS = (1, 8, 32)
RIVALS = ("base", "floor")
FULL = "full turn"
#: A form, an FAQ and messages that do not repeat, so that caches of texts help little. It has no goal.
PEOPLE = "people"


def measure(
    postgres: Postgres, product: Product, people: Product, rounds: int, seconds: float, say: Callable[[str], None]
) -> Samples:
    """Each application under each load, round by round; the product in its two worlds."""
    with ExitStack() as stack:
        talkers: dict[str, tuple[int, Sequence[Conversation]]] = {}
        for name in RIVALS:
            ids = tables.create(postgres, name, max(LEVELS))
            app = f"bench.rivals.{name}:application"
            server = stack.enter_context(start_server(name, app, {"DATABASE_URL": postgres.url(name)}))
            talkers[name] = (
                server.pid,
                [Conversation(server.port, "/turn", conversation_id, product.messages) for conversation_id in ids],
            )
        for name, rival in installed.start_installed(stack, postgres, say).items():
            talkers[name] = rival.server.pid, [rival.open(product.messages) for _ in range(max(LEVELS))]
        for name, served in {FULL: product, PEOPLE: people}.items():
            talkers[name] = served.server.pid, [served.conversation() for _ in range(max(LEVELS))]
        for _, conversations in talkers.values():
            load.run(conversations, 1.0)
        samples: dict[str, dict[int, list[Sample]]] = {name: {level: [] for level in LEVELS} for name in talkers}
        for number in range(rounds):
            say(f"round {number + 1} of {rounds}: {', '.join(talkers)}")
            for level in LEVELS:
                for name, (pid, conversations) in talkers.items():
                    sample = _sample([pid, postgres.pid], conversations[:level], seconds)
                    samples[name][level].append(sample)
        return samples


def _sample(pids: Sequence[int], conversations: Sequence[Conversation], seconds: float) -> Sample:
    before = cpu_seconds(pids)
    measured = load.run(conversations, seconds)
    spent = cpu_seconds(pids) - before
    milliseconds = [took * 1000 for took in measured.latencies]
    return Sample(
        measured.turns / measured.seconds,
        spent * 1000 / len(milliseconds),
        median(milliseconds),
        quantiles(milliseconds, n=100)[98],
    )


def results(samples: Samples) -> list[Result]:
    """The goals that compare these, as medians of the rounds' ratios."""
    ours, base = samples[FULL], samples["base"]
    busy = [level for level in LEVELS if level > 1]
    rates = {level: _ratio(ours, base, level, "turns_per_second") for level in LEVELS}
    cpu = median(_ratio(ours, base, level, "cpu_ms") for level in LEVELS)
    most, less = LEVELS[-1], LEVELS[-2]
    rate_32_to_8 = middle(ours[most], "turns_per_second") / middle(ours[less], "turns_per_second")
    spread = middle(ours[most], "p99_ms") / middle(ours[most], "p50_ms")
    return [
        *(Result("P1", f"turns/s at {level}, against base", rates[level], 1.0, 1.4, "×", more=True) for level in busy),
        Result("P2", "p50 of one conversation, against base", _ratio(ours, base, 1, "p50_ms"), 1.0, 0.7, "×"),
        Result("P3", "CPU per turn, server + PostgreSQL, against base", cpu, 1.0, 0.75, "×"),
        Result("P13", "turns/s at 32 against 8", rate_32_to_8, 0.9, 1.0, "×", more=True),
        Result("P13", "p99 against p50 at 32", spread, 3.0, 2.0, "×"),
        *_compare_installed(samples),
    ]


def _compare_installed(samples: Samples) -> Iterator[Result]:
    """The goals against Rasa and LangGraph, where they were measured."""
    ours = samples[FULL]
    if rasa := samples.get(installed.RASA):
        for level in LEVELS[1:]:
            rate = _ratio(ours, rasa, level, "turns_per_second")
            yield Result("P11", f"turns/s at {level}, against Rasa", rate, 3.0, 4.0, "×", more=True)
        p99 = _ratio(ours, rasa, LEVELS[-1], "p99_ms")
        yield Result("P11", f"p99 at {LEVELS[-1]}, against Rasa", p99, 1 / 8, 1 / 20, "×")
    if langgraph := samples.get(installed.LANGGRAPH_TURN):
        for level in LEVELS:
            rate = _ratio(ours, langgraph, level, "turns_per_second")
            what = f"turns/s at {level}, against LangGraph saved once a turn"
            yield Result("graph", what, rate, 1.0, 1.4, "×", more=True)


def _ratio(ours: Mapping[int, Sequence[Sample]], base: Mapping[int, Sequence[Sample]], level: int, field: str) -> float:
    pairs = zip(ours[level], base[level], strict=True)
    return float(median(getattr(our, field) / getattr(their, field) for our, their in pairs))
