"""The rules of a phase that admit an intent and state, prepared so that most need not be looked at (R30, P5).

Rules that test the user's text alone stand in a pattern bank: those that do not hit are cut and counted, never
visited. All others (paths, other targets, custom types) are tested one by one.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial

from convengine.domain.enums import MatchTarget, RuleType
from convengine.domain.fault import Fault
from convengine.domain.rows import Rule
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules.bank import REGEX, RULE_EXACT, TextBank, bank_of
from convengine.rules.conditions import target, unusable
from convengine.rules.cuts import rule_cuts

_BANK_TYPES = {RuleType.EXACT: RULE_EXACT, RuleType.REGEX: REGEX}


def by_user_text(rule: Rule) -> bool:
    """True for a rule whose verdict follows from the user's text alone."""
    return code(rule.rule_type) in _BANK_TYPES and target(rule) == MatchTarget.USER_TEXT


@dataclass(frozen=True)
class Bucket:
    """The rules of one phase, intent and state code, in order."""

    rules: tuple[Rule, ...]
    #: Places of the rules in the bank, of those tested one by one, and of the unusable ones with the reason.
    texts: tuple[int, ...]
    others: tuple[int, ...]
    invalid: Mapping[int, Fault]
    bank: TextBank

    def visited(self, text: str | None) -> list[int]:
        """The places to look at: text rules that hit, and every other usable rule; in order."""
        hits = [place for place in self.bank.hits(text) if isinstance(place, int)]
        return sorted((*self.others, *hits)) if hits else list(self.others)


def _bucket(rules: tuple[Rule, ...]) -> Bucket:
    invalid = {place: fault for place, rule in enumerate(rules) if (fault := unusable(rule))}
    texts = tuple(place for place, rule in enumerate(rules) if place not in invalid and by_user_text(rule))
    in_bank = set(texts)
    others = tuple(place for place in range(len(rules)) if place not in invalid and place not in in_bank)
    triples = tuple(
        (place, _BANK_TYPES[RuleType(code(rules[place].rule_type))], rules[place].match_pattern) for place in texts
    )
    return Bucket(rules, texts, others, invalid, bank_of(triples, blank_texts=True))


@dataclass(frozen=True)
class Listing:
    """The rules of a pass, in the order in which they are tried (pipeline-2 7.2)."""

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

    def visited(self, text: str | None) -> Iterator[tuple[int, Rule]]:
        """The rules to test, each with its place in the listing."""
        start = 0
        for bucket in self.buckets:
            for place in bucket.visited(text):
                yield start + place, bucket.rules[place]
            start += len(bucket.rules)

    def invalid(self) -> Iterator[tuple[int, Rule, Fault]]:
        """The rules that can never hold: place, row, why."""
        start = 0
        for bucket in self.buckets:
            for place, fault in bucket.invalid.items():
                yield start + place, bucket.rules[place], fault
            start += len(bucket.rules)

    def texts_before(self, end: int) -> int:
        """How many rules of the banks stand before a place."""
        count, start = 0, 0
        for bucket in self.buckets:
            count += bisect_left(bucket.texts, end - start)
            start += len(bucket.rules)
        return count


def listing(snapshot: Snapshot, phase: str, intent: str | None, state: str | None) -> Listing:
    """The prepared rules of a phase for (intent, state), made once for each release.

    A bucket is prepared once for each version of the table, whichever intents and states share it.
    """

    def build() -> Listing:
        memo = snapshot.table(Rule).memo
        found = snapshot.rule_buckets(phase, intent, state)
        prepared = tuple(memo.get(("bucket", key), partial(_bucket, rules)) for key, rules in found.items())
        return Listing(prepared, rule_cuts(snapshot, phase, intent, state))

    return snapshot.memo.get(("listing", phase, intent, state), build)
