"""Which policy forbids a text: all patterns are tested at once, the first match by priority wins (pipeline-1 7)."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from convengine.engine.rules.patterns import compile_pattern
from convengine.engine.rules.text_bank import TextBank
from convengine.engine.rules.verdict import ROW_INVALID, count_switched_off
from convengine.engine.text.compare import norm
from convengine.engine.turn import rows
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Candidate


@dataclass(frozen=True)
class PolicyChoice:
    """The matching policies, best first, and why the others do not count."""

    hits: tuple[rows.Policy, ...]
    cut: dict[str, int]
    #: Unusable rows with the reason.
    invalid: Mapping[rows.Policy, Fault]

    @property
    def winner(self) -> rows.Policy | None:
        """The policy that blocks, if any."""
        return self.hits[0] if self.hits else None

    def candidates(self) -> list[Candidate]:
        """The matches as candidates of the decision."""
        return [
            Candidate(row.policy_id, index == 0, None if index == 0 else "LOWER_PRIORITY")
            for index, row in enumerate(self.hits)
        ]


def order_policies(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Enabled policies by priority, then id; those of type LLM last (tables 2.5)."""
    return snapshot.table(rows.Policy).memo.get(
        "ordered",
        lambda: tuple(
            sorted(snapshot.enabled_rows(rows.Policy), key=lambda p: (p.rule_type == "LLM", p.priority, p.policy_id))
        ),
    )


def _list_text_policies(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Those with text patterns."""
    return snapshot.table(rows.Policy).memo.get(
        "by text", lambda: tuple(policy for policy in order_policies(snapshot) if policy.rule_type != "LLM")
    )


def list_judged_policies(snapshot: Snapshot) -> tuple[rows.Policy, ...]:
    """Those that a model judges."""
    return snapshot.table(rows.Policy).memo.get(
        "judged", lambda: tuple(policy for policy in order_policies(snapshot) if policy.rule_type == "LLM")
    )


def _index_by_id(snapshot: Snapshot) -> Mapping[Hashable, int]:
    """The index of each policy, by id, to sort matches without visiting other rows."""
    return snapshot.table(rows.Policy).memo.get(
        "places", lambda: {policy.policy_id: position for position, policy in enumerate(_list_text_policies(snapshot))}
    )


def _find_invalid(snapshot: Snapshot) -> Mapping[rows.Policy, Fault]:
    """The unusable policies with the reason; computed once per table."""
    invalid = get_policy_bank(snapshot).invalid
    return snapshot.table(rows.Policy).memo.get(
        "invalid",
        lambda: {
            policy: invalid[policy.policy_id] for policy in _list_text_policies(snapshot) if policy.policy_id in invalid
        },
    )


def get_policy_bank(snapshot: Snapshot) -> TextBank:
    """The text patterns of all enabled policies, tested on the raw text and on its normal form."""
    return snapshot.table(rows.Policy).memo.get(
        "bank",
        lambda: TextBank(
            [(p.policy_id, p.rule_type, p.pattern) for p in _list_text_policies(snapshot)],
            normalised=True,
        ),
    )


def choose_policy(snapshot: Snapshot, text: str | None) -> PolicyChoice:
    """The policies that match the text, in order. A blank text matches none."""
    by_text, invalid = _list_text_policies(snapshot), _find_invalid(snapshot)
    keys = get_policy_bank(snapshot).hits(text)
    hits = tuple(by_text[position] for position in sorted(_index_by_id(snapshot)[key] for key in keys))
    off = count_switched_off(snapshot, rows.Policy)
    cut = {
        **off,
        ROW_INVALID: off[ROW_INVALID] + len(invalid),
        "PATTERN": len(by_text) - len(hits) - len(invalid),
    }
    return PolicyChoice(hits, cut, invalid)


def find_matched_excerpt(policy: rows.Policy, text: str | None) -> str:
    """The matching part of the text; for a model's judgement, the whole text."""
    if policy.rule_type == "LLM":
        return text or ""
    if policy.rule_type != "REGEX" or text is None:
        return norm(policy.pattern)
    match = compile_pattern(policy.pattern or "").search(text) or compile_pattern(policy.pattern or "").search(
        norm(text)
    )
    return str(match.group(0)) if match else ""
