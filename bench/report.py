"""The goals of the specification beside what was measured."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Result:
    """One goal: the measured value, and its two limits."""

    goal: str
    what: str
    value: float
    passing: float
    stretch: float
    unit: str = ""
    #: True when more is better.
    more: bool = False

    def meets(self, limit: float) -> bool:
        """True when the value is on the right side."""
        return self.value >= limit if self.more else self.value <= limit

    def document(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "passed": self.meets(self.passing), "stretched": self.meets(self.stretch)}

    def to_line(self) -> str:
        """For the table."""
        sign = "≥" if self.more else "≤"
        mark = "stretch" if self.meets(self.stretch) else "pass" if self.meets(self.passing) else "NOT MET"
        limits = f"{sign} {self.passing:g} ({self.stretch:g})"
        return f"{self.goal:<5} {self.what:<58} {_number(self.value, self.unit):>10}   {limits:<14} {mark}"


@dataclass(frozen=True)
class Sample:
    """One application under one load for some seconds."""

    turns_per_second: float
    cpu_ms: float
    p50_ms: float
    p99_ms: float


Samples = Mapping[str, Mapping[int, Sequence[Sample]]]


def middle(samples: Sequence[Sample], field: str) -> float:
    """The median of one number over the rounds."""
    return float(median(getattr(sample, field) for sample in samples))


def throughput_table(samples: Samples) -> str:
    """Turns per second, processor time and response times, by application and load."""
    lines = ["                     turns/s at         CPU/turn   p50 ms at               p99 ms at"]
    levels = [*next(iter(samples.values()))]
    heads = "".join(f"{level:>7}" for level in levels)
    lines.append(f"{'':<16}{heads}      ms      {heads}   {heads}")
    for name, by_level in samples.items():
        rates = "".join(f"{middle(by_level[level], 'turns_per_second'):>7.0f}" for level in levels)
        cpu = median(sample.cpu_ms for level in levels for sample in by_level[level])
        p50 = "".join(f"{middle(by_level[level], 'p50_ms'):>7.1f}" for level in levels)
        p99 = "".join(f"{middle(by_level[level], 'p99_ms'):>7.1f}" for level in levels)
        lines.append(f"{name:<16}{rates}   {cpu:>7.2f}    {p50}   {p99}")
    return "\n".join(lines)


def goal_table(results: Sequence[Result]) -> str:
    """One line per goal."""
    head = f"{'goal':<5} {'':<58} {'measured':>10}   pass (stretch)"
    return "\n".join([head, *(result.to_line() for result in results)])


def _number(value: float, unit: str) -> str:
    digits = 0 if value == int(value) else 1 if value >= 10 else 2
    return f"{value:.{digits}f} {unit}".rstrip()
