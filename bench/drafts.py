"""What drafts and a gradual release cost a turn: `python -m bench.drafts` (P1 and P3, in paired rounds).

Two servers hold the same configuration. In one of them, drafts are open, and half of the conversations run on another
release. Rounds go back and forth between both, so that what else the machine does meets both alike.
"""

import sys
from statistics import median

from bench import load, postgres
from bench.processes import cpu_seconds
from bench.product import Product, products

ROUNDS, SECONDS, CONVERSATIONS, DRAFTS = 5, 5.0, 8, 20


def main() -> int:
    """Print turns per second and CPU per turn with drafts, as ratios of those without."""
    with (
        postgres.start_postgres() as server,
        products(server) as every,
        # One rule more gives the second database its name.
        every.world(1_000, 100) as without,
        every.world(1_001, 100) as with_drafts,
    ):
        with_drafts.call("open_drafts", count=DRAFTS)
        pairs = [(_measure(without, server.pid), _measure(with_drafts, server.pid)) for _ in range(ROUNDS + 1)][
            1:
        ]  # The first pair warms both up.
    print(f"{DRAFTS} drafts and a gradual release to half of the conversations, against none; {ROUNDS} paired rounds")
    for title, position in (("P1 turns/s", 0), ("P3 CPU per turn", 1)):
        ratios = [drafts[position] / none[position] for none, drafts in pairs]
        alone = [none[position] for none, _ in pairs]
        noise = (max(alone) - min(alone)) / median(alone)
        shown = ", ".join(f"{ratio:.2f}" for ratio in ratios)
        print(f"{title}: {shown}; median {median(ratios):.2f}. Without drafts, the rounds differ by {noise:.0%}.")
    return 0


def _measure(product: Product, database: int) -> tuple[float, float]:
    """Turns per second and CPU seconds per turn, of the server and PostgreSQL."""
    processes = [product.server.pid, database]
    before = cpu_seconds(processes)
    measured = load.run([product.conversation() for _ in range(CONVERSATIONS)], SECONDS)
    return measured.turns / measured.seconds, (cpu_seconds(processes) - before) / measured.turns


if __name__ == "__main__":
    sys.exit(main())
