"""The cost of a turn with more rules, patterns, turns or audit rows, or with an edit before it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from statistics import median

from bench.load import Line, interleave_lines
from bench.product import Product, Products
from bench.report import Result

#: Turns that are measured at the start of a conversation: turn 5 to 8.
_EARLY = 4


def measure_sizes(products: Products, many_rules: int, many_patterns: int, turns: int, edits: int) -> list[Result]:
    """P5 and P10: the same conversation in worlds of different sizes, each served by one process."""
    with ExitStack() as stack:
        few, rules, patterns = (
            stack.enter_context(products.world(rules, patterns, workers=1, threads=1))
            for rules, patterns in ((10, 10), (many_rules, 10), (10, many_patterns))
        )
        worlds = {"few": few, "rules": rules, "patterns": patterns}
        lines = {name: Line(product.server.port, product.conversation().requests()) for name, product in worlds.items()}
        took = _medians(lines, turns)
        ratios = {name: seconds / took["few"] for name, seconds in took.items()}
        return [
            Result("P5", f"turn with {many_rules:,} rules against 10", ratios["rules"], 1.10, 1.03, "×"),
            Result(
                "P5",
                f"turn with {many_patterns:,} message patterns against 10",
                took["patterns"] / took["few"],
                1.10,
                1.03,
                "×",
            ),
            *_edits(rules, lines["rules"], edits, many_rules),
        ]


def measure_audit(products: Products, turns: int, rows: int) -> list[Result]:
    """P7: a turn beside many audit rows, and a page of a long timeline."""
    with products.world(10, 11, workers=1, threads=1) as none, products.world(11, 10, workers=1, threads=1) as many:
        long = many.call("talk", secret=many.secret, count=1, turns=4)[0]
        last = many.call("fill_audit", conversation_id=long, rows=rows)
        served = {"none": none, "many": many}
        took = _medians(
            {name: Line(product.server.port, product.conversation().requests()) for name, product in served.items()},
            turns,
        )
        # Each page begins with a turn, and its turns are alike.
        places = {"first": 4, "middle": last // 2, "last": last - 4}
        pages = _medians(
            {name: Line(many.server.port, many.pages(long, f"?cursor=a{turn}.999")) for name, turn in places.items()},
            turns,
        )
    deepest = max(pages["middle"], pages["last"])
    return [
        Result("P7", f"turn beside {rows:,} audit rows against none", took["many"] / took["none"], 1.10, 1.03, "×"),
        Result("P7", f"page deep in {last:,} turns against the first", deepest / pages["first"], 1.5, 1.2, "×"),
    ]


def _edits(product: Product, line: Line, edits: int, rules: int) -> Iterator[Result]:
    for scoped, which in ((True, "elsewhere"), (False, "in the same bucket")):
        took = []
        for _ in range(edits):
            product.call("edit", scoped=scoped)
            took.append(line.turn() * 1000)
            line.turn()
        yield Result("P10", f"first turn after an edit {which}, {rules:,} rules", median(took), 300, 100, "ms")


def measure_lengths(product: Product, turns: int, long: int) -> list[Result]:
    """P6 and P7: turn 5 compared with later ones, and a long conversation that is read.

    Early turns come from one new conversation after the other. The one that is read has so many turns as `long`.
    """
    early = product.call("talk", secret=product.secret, count=turns // _EARLY + 10, turns=4)
    talked = product.call("talk", secret=product.secret, count=1, turns=long)[0]
    late = {length: product.call("talk", secret=product.secret, count=1, turns=4)[0] for length in (500, 5_000)}
    for length, conversation_id in late.items():
        product.call("lengthen", conversation_id=conversation_id, turns=length)
    requests: Mapping[str, Iterator[bytes]] = {
        "5": _beginnings(product, early),
        **{str(length): product.conversation(conversation_id).requests() for length, conversation_id in late.items()},
    }
    took = _medians({name: Line(product.server.port, sent) for name, sent in requests.items()}, turns)
    spent = product.call("read_conversation", secret=product.secret, conversation_id=talked, turns=long)
    what = f"reading {long} turns ({spent['read']:.1f} ms of processor time each) against taking them"
    return [
        Result("P7", what, spent["read"] / spent["take"], 1.0, 0.75, "×"),
        *(
            Result("P6", f"turn {length:,} against turn 5", took[str(length)] / took["5"], 1.10, 1.03, "×")
            for length in late
        ),
    ]


def _beginnings(product: Product, ids: Sequence[str]) -> Iterator[bytes]:
    return chain.from_iterable(
        islice(product.conversation(conversation_id).requests(), _EARLY) for conversation_id in ids
    )


def _medians(lines: Mapping[str, Line], turns: int) -> dict[str, float]:
    interleave_lines(lines, 20)
    return {name: median(took) for name, took in interleave_lines(lines, turns).items()}
