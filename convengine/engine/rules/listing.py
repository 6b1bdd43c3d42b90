"""The rules of a phase for an intent and state, prepared so that most need no visit.

Rules that test only the user's text are in a pattern bank: those that do not match are counted, never visited. All
others (paths, other targets, custom types) are tested one by one.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from convengine.engine.cached_property import cached_property
from convengine.engine.rules.conditions.rule import find_fault, get_target
from convengine.engine.rules.text_bank import REGEX, RULE_EXACT, TextBank, get_bank
from convengine.engine.rules.verdict import count_excluded_rules
from convengine.engine.text.compare import code
from convengine.engine.turn.enums import MatchTarget, RuleType
from convengine.engine.turn.fault import Fault
from convengine.engine.turn.rows import Rule
from convengine.engine.turn.snapshot import Snapshot

_BANK_TYPES = {RuleType.EXACT: RULE_EXACT, RuleType.REGEX: REGEX}


def tests_user_text(rule: Rule) -> bool:
    """True for a rule that depends only on the user's text."""
    return code(rule.rule_type) in _BANK_TYPES and get_target(rule) == MatchTarget.USER_TEXT


@dataclass(frozen=True)
class Bucket:
    """The rules of one phase, intent and state code, in order."""

    rules: tuple[Rule, ...]
    #: Indexes of the rules in the bank, of those tested one by one, and of the unusable ones with the reason.
    texts: tuple[int, ...]
    others: tuple[int, ...]
    invalid: Mapping[int, Fault]
    bank: TextBank

    def list_visited(self, text: str | None) -> list[int]:
        """The indexes to visit, in order: matching text rules, and all other usable rules."""
        hits = [index for index in self.bank.hits(text) if isinstance(index, int)]
        return sorted((*self.others, *hits)) if hits else list(self.others)


def _build_bucket(rules: tuple[Rule, ...]) -> Bucket:
    """Sort the rules by how they are tested: with the bank, one by one, or not at all."""
    invalid = {index: fault for index, rule in enumerate(rules) if (fault := find_fault(rule))}
    texts = tuple(index for index, rule in enumerate(rules) if index not in invalid and tests_user_text(rule))
    in_bank = set(texts)
    others = tuple(index for index in range(len(rules)) if index not in invalid and index not in in_bank)
    triples = tuple(
        (index, _BANK_TYPES[RuleType(code(rules[index].rule_type))], rules[index].match_pattern) for index in texts
    )
    return Bucket(rules, texts, others, invalid, get_bank(triples, blank_texts=True))


@dataclass(frozen=True)
class Listing:
    """The rules of a pass, in the order of testing."""

    buckets: tuple[Bucket, ...]
    #: How many rules of the table are not in the list, by reason.
    cuts: Mapping[str, int]

    @cached_property
    def _size(self) -> int:
        return sum(len(bucket.rules) for bucket in self.buckets)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Rule]:
        return (rule for bucket in self.buckets for rule in bucket.rules)

    def list_visited(self, text: str | None) -> Iterator[tuple[int, Rule]]:
        """The rules to test, each with its index in the listing."""
        start = 0
        for bucket in self.buckets:
            for index in bucket.list_visited(text):
                yield start + index, bucket.rules[index]
            start += len(bucket.rules)

    def invalid(self) -> Iterator[tuple[int, Rule, Fault]]:
        """The rules that can never hold: index, row, reason."""
        start = 0
        for bucket in self.buckets:
            for index, fault in bucket.invalid.items():
                yield start + index, bucket.rules[index], fault
            start += len(bucket.rules)

    def texts_before(self, end: int) -> int:
        """How many rules of the banks come before an index."""
        count, start = 0, 0
        for bucket in self.buckets:
            count += bisect_left(bucket.texts, end - start)
            start += len(bucket.rules)
        return count


def get_listing(snapshot: Snapshot, phase: str, intent: str | None, state: str | None) -> Listing:
    """The prepared rules of a phase for (intent, state), made once per release.

    A bucket is prepared once per version of the table, and shared by intents and states.
    """

    def build() -> Listing:
        memo = snapshot.table(Rule).memo
        buckets = snapshot.rule_buckets(phase, intent, state)
        prepared = tuple(memo.get(("bucket", key), partial(_build_bucket, rules)) for key, rules in buckets.items())
        return Listing(prepared, count_excluded_rules(snapshot, phase, intent, state))

    return snapshot.memo.get(("listing", phase, intent, state), build)
