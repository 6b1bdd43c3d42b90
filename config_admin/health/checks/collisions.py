"""Rules that act on one message and write one thing in two ways."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from config_admin.health.checks.words import put, rule_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.rules.branching import branches
from config_admin.health.rules.claims import TextClaim
from config_admin.health.rules.collide import Colliding, Collision, order
from config_admin.health.rules.effects import contested, effects
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from config_admin.validation.relations import scope_fits
from convengine.domain import rows
from convengine.domain.enums import phase_of
from convengine.domain.scope import ANY, buckets
from convengine.domain.snapshot import Snapshot
from convengine.rules.listing import by_user_text

#: Collisions of one rule that are told.
MAX_OF_ONE = 5


def check(survey: Survey) -> Iterator[Diagnosis]:
    """Collisions with their inputs: a few of each rule, and of those on words that have nothing in common only one."""
    colliding = Colliding(survey.stage, survey.harmless)
    told: Counter[int] = Counter()
    for one, other in pairs(survey):
        of_one = [told[rule.rule_id] for rule in (one, other)]
        if max(of_one) >= MAX_OF_ONE or (any(of_one) and _far_apart(one, other)) or survey.late("pairs of rules"):
            continue
        found = colliding.collision(one, other)
        if found is not None:
            if not found.witness.joined or not any(of_one):
                yield _told(found)
            told.update((one.rule_id, other.rule_id))


def _far_apart(one: rows.Rule, other: rows.Rule) -> bool:
    """True for two rules on words of the message that have none in common.

    Only a message with the words of both is met by both; once is enough to tell that of a rule.
    """
    words = [_words(rule) for rule in (one, other)]
    return None not in words and not {*(words[0] or ())} & {*(words[1] or ())}


def _words(rule: rows.Rule) -> tuple[str, ...] | None:
    """The words of the messages that a rule means; null for a rule on something else, or on no words."""
    claims = branches(rule)
    if not by_user_text(rule) or not claims or not isinstance(claims[0][0], TextClaim):
        return None
    return claims[0][0].wish.words or None


def _told(found: Collision) -> Diagnosis:
    first, second = found.first, found.second
    one, other = put(first, found.place), put(second, found.place)
    return diagnosis(
        "RULE_COLLISION",
        Severity.WARNING,
        second,
        f"{rule_name(first)} and {rule_name(second)} act on the same message: the first one {one}, then the second "
        f"one {other}.",
        f"What rule {first.rule_id} wants does not come about: rule {second.rule_id} is looked at later and has the "
        "last word.",
        others=[first],
        witness=found.witness,
    )


def pairs(survey: Survey) -> Iterator[tuple[rows.Rule, rows.Rule]]:
    """Pairs of rules that are looked at in one place of a turn and write one thing; each once, the closest first."""
    groups = survey.snapshot.table(rows.Rule).memo.get("health groups", partial(_groups, survey.snapshot))
    seen: set[tuple[int, int]] = set()
    for rule in sorted(survey.of(rows.Rule), key=order):
        if not survey.active(rule):
            continue
        for other in _beside(groups, rule):
            first, second = sorted((rule, other), key=order)
            key = (first.rule_id, second.rule_id)
            if other is rule or first.stop_processing or key in seen or not survey.active(other):
                continue
            seen.add(key)
            if contested(first, second):
                yield first, second


_Group = tuple[str, ...]
_Groups = Mapping[_Group, Mapping[tuple[str, str], Sequence[rows.Rule]]]


def _groups(snapshot: Snapshot) -> _Groups:
    """The rules by phase and by the thing that they write, then by scope."""
    found: dict[_Group, dict[tuple[str, str], list[rows.Rule]]] = {}
    for rule in snapshot.enabled(rows.Rule):
        for group in _groups_of(rule):
            found.setdefault(group, {}).setdefault(relations.scope_key(rule), []).append(rule)
    return found


def _groups_of(rule: rows.Rule) -> set[_Group]:
    phase = phase_of(rule.phase)
    roots = {tuple(str(key) for key in effect.place[:2]) for effect in effects(rule)}
    return {(phase, *root) for root in roots} if phase is not None else set()


def _beside(groups: _Groups, rule: rows.Rule) -> Iterator[rows.Rule]:
    """The rules of its groups whose scopes meet its own, those of the same scope first."""
    intent, state = relations.scope_key(rule)
    for group in sorted(_groups_of(rule)):
        scopes = groups.get(group, {})
        if ANY in (intent, state):
            meeting = (one for one in scopes if scope_fits(one[0], intent) and scope_fits(one[1], state))
        else:
            meeting = (one for one in buckets(intent, state) if one in scopes)
        for scope in meeting:
            yield from scopes[scope]
