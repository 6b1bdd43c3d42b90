"""Rules that act on the same message and set the same thing differently."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from config_admin.health.checks.words import describe_effect, rule_name
from config_admin.health.diagnosis import Diagnosis, diagnosis
from config_admin.health.rules.branching import branches
from config_admin.health.rules.claims import TextClaim
from config_admin.health.rules.collide import Colliding, Collision, order
from config_admin.health.rules.effects import effects, find_contested
from config_admin.health.survey import Survey
from config_admin.validation import relations
from config_admin.validation.findings import Severity
from config_admin.validation.relations import scope_fits
from convengine.engine.rules.listing import tests_user_text
from convengine.engine.turn import rows
from convengine.engine.turn.enums import read_phase
from convengine.engine.turn.scope import ANY, list_buckets
from convengine.engine.turn.snapshot import Snapshot

#: Maximum reported collisions of one rule.
MAX_OF_ONE = 5


def check(survey: Survey) -> Iterator[Diagnosis]:
    """Collisions with their inputs: a few of each rule, and only one of those about unrelated words."""
    colliding = Colliding(survey.simulator, survey.harmless)
    told: Counter[int] = Counter()
    for one, other in pairs(survey):
        of_one = [told[rule.rule_id] for rule in (one, other)]
        if max(of_one) >= MAX_OF_ONE or (any(of_one) and _far_apart(one, other)) or survey.late("pairs of rules"):
            continue
        found = colliding.collision(one, other)
        if found is not None:
            if not found.witness.joined or not any(of_one):
                yield _report_collision(found)
            told.update((one.rule_id, other.rule_id))


def _far_apart(one: rows.Rule, other: rows.Rule) -> bool:
    """True for two rules about unrelated words of the message.

    Only a message with the words of both matches both; it is enough to report that once per rule.
    """
    words = [_words(rule) for rule in (one, other)]
    return None not in words and not {*(words[0] or ())} & {*(words[1] or ())}


def _words(rule: rows.Rule) -> tuple[str, ...] | None:
    """The words of the messages of a rule; null for a rule without words."""
    claims = branches(rule)
    if not tests_user_text(rule) or not claims or not isinstance(claims[0][0], TextClaim):
        return None
    return claims[0][0].predicate.words or None


def _report_collision(found: Collision) -> Diagnosis:
    first, second = found.first, found.second
    one, other = describe_effect(first, found.place), describe_effect(second, found.place)
    return diagnosis(
        "RULE_COLLISION",
        Severity.WARNING,
        second,
        (
            f"{rule_name(first)} and {rule_name(second)} apply to the same message. The first one {one}, then the "
            f"second one {other}."
        ),
        f"Rule {first.rule_id} has no effect, because rule {second.rule_id} is evaluated later and overrides it.",
        others=[first],
        witness=found.witness,
    )


def pairs(survey: Survey) -> Iterator[tuple[rows.Rule, rows.Rule]]:
    """Pairs of rules that are tested in the same phase and set the same thing, without duplicates, closest first."""
    groups = survey.snapshot.table(rows.Rule).memo.get("health groups", partial(_groups, survey.snapshot))
    seen: set[tuple[int, int]] = set()
    for rule in sorted(survey.of(rows.Rule), key=order):
        if not survey.active(rule):
            continue
        for other in _neighbours(groups, rule):
            first, second = sorted((rule, other), key=order)
            key = (first.rule_id, second.rule_id)
            if other is rule or first.stop_processing or key in seen or not survey.active(other):
                continue
            seen.add(key)
            if find_contested(first, second):
                yield first, second


_Group = tuple[str, ...]
_Groups = Mapping[_Group, Mapping[tuple[str, str], Sequence[rows.Rule]]]


def _groups(snapshot: Snapshot) -> _Groups:
    """The rules by phase and by what they set, then by scope."""
    found: dict[_Group, dict[tuple[str, str], list[rows.Rule]]] = {}
    for rule in snapshot.enabled_rows(rows.Rule):
        for group in _groups_of(rule):
            found.setdefault(group, {}).setdefault(relations.scope_key(rule), []).append(rule)
    return found


def _groups_of(rule: rows.Rule) -> set[_Group]:
    phase = read_phase(rule.phase)
    roots = {tuple(str(key) for key in effect.place[:2]) for effect in effects(rule)}
    return {(phase, *root) for root in roots} if phase is not None else set()


def _neighbours(groups: _Groups, rule: rows.Rule) -> Iterator[rows.Rule]:
    """The rules of its groups with overlapping scopes, those of the same scope first."""
    intent, state = relations.scope_key(rule)
    for group in sorted(_groups_of(rule)):
        scopes = groups.get(group, {})
        if ANY in (intent, state):
            meeting = (one for one in scopes if scope_fits(one[0], intent) and scope_fits(one[1], state))
        else:
            meeting = (one for one in list_buckets(intent, state) if one in scopes)
        for scope in meeting:
            yield from scopes[scope]
