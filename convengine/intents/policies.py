"""Which policy forbids a text (pipeline-1 7): all patterns at once, the first hit by priority wins."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from convengine.domain import rows
from convengine.domain.fault import Fault
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import norm
from convengine.domain.turn import Candidate
from convengine.rules.bank import TextBank
from convengine.rules.cuts import switched_off
from convengine.rules.patterns import compile_pattern
from convengine.rules.verdict import ROW_INVALID


@dataclass(frozen=True)
class PolicyChoice:
    """The policies that a text hits, best first, and why the others are out."""

    hits: tuple[rows.Policy, ...]
    cut: dict[str, int]
    #: Unusable rows and why.
    invalid: Mapping[rows.Policy, Fault]

    @property
    def winner(self) -> rows.Policy | None:
        """The policy that blocks, if any."""
        return self.hits[0] if self.hits else None

    def candidates(self) -> list[Candidate]:
        """The hits as candidates of the decision."""
        return [
            Candidate(row.policy_id, index == 0, None if index == 0 else "LOWER_PRIORITY")
            for index, row in enumerate(self.hits)
        ]


def ordered_policies(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Enabled policies by priority, then id; those of type LLM last (tables 2.5)."""
    return snapshot.table(rows.Policy).memo.get(
        "ordered",
        lambda: tuple(
            sorted(snapshot.enabled(rows.Policy), key=lambda p: (p.rule_type == "LLM", p.priority, p.policy_id))
        ),
    )


def _by_text(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Those that are tested on the text."""
    return snapshot.table(rows.Policy).memo.get(
        "by text", lambda: tuple(policy for policy in ordered_policies(snapshot) if policy.rule_type != "LLM")
    )


def judged_policies(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Those that a model judges."""
    return snapshot.table(rows.Policy).memo.get(
        "judged", lambda: tuple(policy for policy in ordered_policies(snapshot) if policy.rule_type == "LLM")
    )


def _places(snapshot: Snapshot) -> Mapping[Hashable, int]:
    """Where each of them stands, by its id: hits are put in order without looking at the others."""
    return snapshot.table(rows.Policy).memo.get(
        "places", lambda: {policy.policy_id: place for place, policy in enumerate(_by_text(snapshot))}
    )


def _invalid(snapshot: Snapshot) -> Mapping[rows.Policy, Fault]:
    """The unusable ones of them, and why; found once a table."""
    invalid = policy_bank(snapshot).invalid
    return snapshot.table(rows.Policy).memo.get(
        "invalid",
        lambda: {policy: invalid[policy.policy_id] for policy in _by_text(snapshot) if policy.policy_id in invalid},
    )


def policy_bank(snapshot: Snapshot) -> TextBank:
    """The text patterns of all enabled policies, tested on the raw text and on its normal form."""
    return snapshot.table(rows.Policy).memo.get(
        "bank",
        lambda: TextBank(
            [(p.policy_id, p.rule_type, p.pattern) for p in _by_text(snapshot)],
            normalised=True,
        ),
    )


def choose_policy(snapshot: Snapshot, text: str | None) -> PolicyChoice:
    """The policies that the text hits, in order. A blank text hits none."""
    by_text, invalid = _by_text(snapshot), _invalid(snapshot)
    found = policy_bank(snapshot).hits(text)
    hits = tuple(by_text[place] for place in sorted(_places(snapshot)[key] for key in found))
    off = switched_off(snapshot, rows.Policy)
    cut = {
        **off,
        ROW_INVALID: off[ROW_INVALID] + len(invalid),
        "PATTERN": len(by_text) - len(hits) - len(invalid),
    }
    return PolicyChoice(hits, cut, invalid)


def matched_excerpt(policy: rows.Policy, text: str | None) -> str:
    """The part of the text that the policy's pattern hit; what a model judged is the text as a whole."""
    if policy.rule_type == "LLM":
        return text or ""
    if policy.rule_type != "REGEX" or text is None:
        return norm(policy.pattern)
    match = compile_pattern(policy.pattern or "").search(text) or compile_pattern(policy.pattern or "").search(
        norm(text)
    )
    return str(match.group(0)) if match else ""
