"""Save checks of `ce_intent_classifier` (tables 2.2, pipeline-1 17.2)."""

import re
from collections.abc import Iterator
from itertools import islice

from config_admin.validation import common, patterns
from config_admin.validation.draft import Draft, SaveChecks
from config_admin.validation.findings import Finding
from convengine.engine.rules.text_bank import REGEX, get_bank
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot

Classifier = Draft[rows.Classifier]
#: What is no literal in a pattern: escapes, classes, group openings, counts.
_OPERATORS = re.compile(r"\\[pP]\{[^}]*\}|\\.|\[[^\]]*\]|\(\?[^:)>]*[:)>]|\{[^}]*\}")
_LITERAL = re.compile(r"[^\W_]+(?:[ '][^\W_]+)*")
#: How many overlapping rows are reported.
_MAX_REPORTED = 3


def _check_semantic_installed(draft: Classifier) -> Iterator[Finding]:
    if draft.row.is_semantic and not draft.world.semantic_installed:
        yield draft.warning(
            "SEMANTIC_NOT_INSTALLED",
            "rule_type",
            "This installation cannot compare the meaning of texts, so this phrase is ignored. "
            "Install it with pip install 'convengine[semantic]', or choose another match type.",
        )


def _check_breadth(draft: Classifier) -> Iterator[Finding]:
    if patterns.is_too_broad(draft.row.rule_type, draft.row.pattern):
        yield draft.warning(
            "PATTERN_TOO_BROAD",
            "pattern",
            "This pattern matches almost every message and will collide with other intents. Make it more specific.",
        )


def list_sample_texts(row: rows.Classifier) -> tuple[str, ...]:
    """Texts that the row probably matches: its literals one by one, and all of them together."""
    pattern = row.pattern or ""
    if code(row.rule_type) != REGEX:
        return (pattern,)
    literals = _LITERAL.findall(_OPERATORS.sub(" ", pattern))
    return tuple(dict.fromkeys((*literals, " ".join(literals))))


def check_overlap(draft: Classifier) -> Iterator[Finding]:
    """A text that matches both rows proves that they overlap; the samples of either side are tried."""
    if not draft.row.enabled:
        return
    found = (
        other
        for other in draft.others(_find_overlapping_rows(draft.snapshot, draft.row))
        if code(other.intent_code) != code(draft.row.intent_code)
    )
    for other in islice(found, _MAX_REPORTED):
        yield draft.warning(
            "CLASSIFIER_OVERLAP",
            "pattern",
            (
                f"Row {other.pk} ({code(other.intent_code)}) matches some of the same texts. If both match, no intent "
                "is recognised."
            ),
        )


def _find_overlapping_rows(snapshot: Snapshot, row: rows.Classifier) -> Iterator[rows.Classifier]:
    active = [other for other in snapshot.enabled_rows(rows.Classifier) if snapshot.is_active(other.intent_code)]
    bank = get_bank(tuple((other.pk, other.rule_type, other.pattern) for other in active))
    own = [text for text in list_sample_texts(row) if patterns.is_match(row.rule_type, row.pattern, text)]
    hit = frozenset().union(*(bank.hits(text) for text in own))
    for other in active:
        if other.pk in hit or any(
            patterns.is_match(row.rule_type, row.pattern, text)
            and patterns.is_match(other.rule_type, other.pattern, text)
            for text in list_sample_texts(other)
        ):
            yield other


SAVE_CHECKS = SaveChecks(
    fit=(_check_semantic_installed, _check_breadth, common.check_duplicate_row),
    slow=(check_overlap,),
)
