"""The confusions of a document as a matrix of the intents that are confused."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

#: Intents that the matrix has at most.
MOST_INTENTS = 50


class Cell(NamedTuple):
    """How often a labelled intent was taken for another one, or for itself."""

    decided: str
    times: int
    #: 0 to 4: how much of the most frequent confusion.
    weight: int
    is_right: bool


class Matrix(NamedTuple):
    """The labelled intents as rows, the decided ones as columns, in one order."""

    intents: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell]]]
    #: The intents that are confused and not shown, because others are confused more often.
    more: int


def build_matrix(intents: Mapping[str, Any]) -> Matrix | None:
    """The matrix of the intents of a document; None without confusions. Confused intents are beside each other."""
    counts = {(each["intent"], each["decision"]): each["count"] for each in intents["confusions"] if each["intent"]}
    if not counts:
        return None
    ordered = _order(counts)
    shown, most = ordered[:MOST_INTENTS], max(counts.values())
    right = {each["intent"]: each["right"] for each in intents["intents"]}
    rows = [
        (
            intent,
            [
                Cell(decided, right.get(intent, 0), 0, is_right=True)
                if decided == intent
                else Cell(decided, count := counts.get((intent, decided), 0), -(-4 * count // most), is_right=False)
                for decided in shown
            ],
        )
        for intent in shown
    ]
    return Matrix(shown, rows, len(ordered) - len(shown))


def _order(counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Begin with the most frequent confusion; the next intent is the one that is confused most with those before it."""
    links: dict[str, dict[str, int]] = {}
    for (intent, decided), count in counts.items():
        for code, other in ((intent, decided), (decided, intent)):
            links.setdefault(code, {})[other] = links.get(code, {}).get(other, 0) + count
    rest = dict.fromkeys(sorted(links, key=lambda intent: (-sum(links[intent].values()), intent)), 0)
    ordered: list[str] = []
    while rest:
        # Of equally linked ones the most confused, which comes first.
        chosen = max(rest, key=lambda intent: rest[intent])
        del rest[chosen]
        ordered.append(chosen)
        for other, count in links[chosen].items():
            if other in rest:
                rest[other] += count
    return ordered
