"""Answers in which names of the text had no value in several turns."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from config_admin.health.diagnosis import Diagnosis, make_diagnosis
from config_admin.health.survey import Survey
from config_admin.validation.findings import Severity
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows

#: Fewer turns may be chance.
_FEWEST = 2


def find_answers_with_gaps(survey: Survey) -> Iterator[Diagnosis]:
    """Every enabled answer whose text had gaps in several recent turns; only in a check of all rows.

    Names that the text no longer has do not count.
    """
    if survey.touched is not None:
        return
    gaps: dict[Any, list[tuple[str, ...]]] = defaultdict(list)
    for gap in survey.world.empty_values():
        if gap.table == rows.Response.table:
            gaps[gap.row].append(gap.names)
    for row in survey.of(rows.Response):
        text = row.exact_text or ""
        turns = [names for turn in gaps[row.pk] if (names := [name for name in turn if name in text])]
        if len(turns) >= _FEWEST:
            names = list(dict.fromkeys(name for turn in turns for name in turn))
            yield make_diagnosis(
                "ANSWER_WITH_GAPS",
                Severity.WARNING,
                row,
                f"In {len(turns)} recent turns, {join_names(names)} had no value. Set it before this answer, or give "
                f"it a default: {{{{ {names[0]} | default('...') }}}}.",
                "The customer reads a sentence with gaps.",
                field="exact_text",
            )
