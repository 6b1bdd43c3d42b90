"""Save checks of `ce_intent_classifier` (tables 2.2, pipeline-1 17.2)."""

import re
from collections.abc import Iterator
from itertools import islice

from config_admin.validation.checks import common, patterns
from config_admin.validation.draft import Check, Draft
from config_admin.validation.findings import Finding
from convengine.domain import rows
from convengine.domain.enums import ClassifierType
from convengine.domain.scope import ANY, UNKNOWN
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import code
from convengine.rules.bank import REGEX, bank_of

Classifier = Draft[rows.Classifier]
#: What is no literal in a pattern: escapes, classes, group openings, counts.
_OPERATORS = re.compile(r"\\[pP]\{[^}]*\}|\\.|\[[^\]]*\]|\(\?[^:)>]*[:)>]|\{[^}]*\}")
_LITERAL = re.compile(r"[^\W_]+(?:[ '][^\W_]+)*")
#: How many overlapping rows are told.
_TOLD = 3


def _intent(draft: Classifier) -> Iterator[Finding]:
    value = code(draft.row.intent_code)
    if value in ("", ANY, UNKNOWN):
        yield draft.error(
            "CLASSIFIER_INTENT",
            "intent_code",
            "Choose the intent that this pattern means. ANY and UNKNOWN are not results.",
        )
    else:
        yield from common.intent(draft)


def _type(draft: Classifier) -> Iterator[Finding]:
    yield from common.choice(
        draft,
        "rule_type",
        list(ClassifierType),
        finding_code="RULE_TYPE",
        message="Choose REGEX, CONTAINS, STARTS_WITH, EXACT or SEMANTIC.",
    )


def _comparable(draft: Classifier) -> Iterator[Finding]:
    if draft.row.is_semantic and not draft.world.semantic_installed:
        yield draft.warning(
            "SEMANTIC_NOT_INSTALLED",
            "rule_type",
            "Nothing here can compare what texts mean, so this row is not used. "
            "Install it with pip install 'convengine[semantic]', or choose another kind of test.",
        )


def _too_broad(draft: Classifier) -> Iterator[Finding]:
    if patterns.too_broad(draft.row.rule_type, draft.row.pattern):
        yield draft.warning(
            "PATTERN_TOO_BROAD",
            "pattern",
            "This pattern matches almost everything and will collide with other intents.",
        )


def samples(row: rows.Classifier) -> tuple[str, ...]:
    """Texts that the row is likely to mean: its literals one by one, and all of them in a line."""
    pattern = row.pattern or ""
    if code(row.rule_type) != REGEX:
        return (pattern,)
    literals = _LITERAL.findall(_OPERATORS.sub(" ", pattern))
    return tuple(dict.fromkeys((*literals, " ".join(literals))))


def overlap(draft: Classifier) -> Iterator[Finding]:
    """A text that both rows hit proves that they overlap; the samples of either side are tried."""
    if not draft.row.enabled:
        return
    found = (
        other
        for other in draft.others(_overlapping(draft.snapshot, draft.row))
        if code(other.intent_code) != code(draft.row.intent_code)
    )
    for other in islice(found, _TOLD):
        yield draft.warning(
            "CLASSIFIER_OVERLAP",
            "pattern",
            f"Row {other.pk} ({code(other.intent_code)}) matches some of the same texts; both matching means the "
            "classifier gives no result.",
        )


def _overlapping(snapshot: Snapshot, row: rows.Classifier) -> Iterator[rows.Classifier]:
    active = [other for other in snapshot.enabled(rows.Classifier) if snapshot.is_active(other.intent_code)]
    bank = bank_of(tuple((other.pk, other.rule_type, other.pattern) for other in active))
    own = [text for text in samples(row) if patterns.hits(row.rule_type, row.pattern, text)]
    hit = frozenset().union(*(bank.hits(text) for text in own))
    for other in active:
        if other.pk in hit or any(
            patterns.hits(row.rule_type, row.pattern, text) and patterns.hits(other.rule_type, other.pattern, text)
            for text in samples(other)
        ):
            yield other


FORM: tuple[Check, ...] = (_intent, common.state, _type, patterns.written, common.priority)
FIT: tuple[Check, ...] = (common.scope_fit, _comparable, _too_broad, overlap, common.duplicate_row)
