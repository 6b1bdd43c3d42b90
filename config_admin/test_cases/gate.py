"""The gate: tests that must pass on exactly the state that is to be published.

Publishing reads stored results and never runs a test itself, so it takes the same time with any number of tests.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import F, OuterRef, Subquery

from config_admin.test_cases.models import CeTestCase, CeTestResult
from convengine import __version__
from convengine.engine.turn import live_settings
from convengine.engine.turn.releases import GATE
from convengine.server.interfaces.configuration import ConfigurationName, named_configurations

#: Tests that a sentence names.
_NAMED = 5


@dataclass(frozen=True)
class GateState:
    """How the tests of the gate stand on one state of a configuration."""

    tags: Sequence[str]
    #: Tests that count.
    total: int
    passed: int
    #: The titles of those that failed, and of those without a result.
    failed: Sequence[str] = field(default_factory=list)
    missing: Sequence[str] = field(default_factory=list)
    #: Tests that were erased with their conversation: they cannot run, so they do not count.
    erased: int = 0

    @property
    def is_open(self) -> bool:
        return not self.tags or (self.passed == self.total and self.total + self.erased > 0)


def read_gate_tags() -> list[str]:
    """The tags of the gate. What is live decides, never the draft."""
    live = named_configurations().read(ConfigurationName("live"))
    return [tag.lower() for tag in live_settings.read(live, GATE).value]


def judge_gate(content_hash: str, tags: Sequence[str] | None = None) -> GateState:
    """How the tests of the gate stand on this state, on this version of the product. One query, beside the setting."""
    tags = read_gate_tags() if tags is None else tags
    if not tags:
        return GateState([], 0, 0)
    newest = CeTestResult.objects.filter(
        test_case=OuterRef("pk"),
        content_hash=content_hash,
        document_hash=OuterRef("document_hash"),
        run__engine_version=__version__,
    ).order_by("-result_id")
    tests = (
        CeTestCase.objects.filter(tags__tag__in=tags)
        .annotate(has_passed=Subquery(newest.values("passed")[:1]), key=F("test_case_id"))
        .values_list("key", "title", "has_passed", "erased_at")
        .order_by("title")
        .distinct()
    )
    rows = list(tests)
    results = [(title, passed) for _, title, passed, erased_at in rows if erased_at is None]
    return GateState(
        tags,
        len(results),
        sum(passed is True for _, passed in results),
        [title for title, passed in results if passed is False],
        [title for title, passed in results if passed is None],
        len(rows) - len(results),
    )


def describe_problems(state: GateState) -> Iterator[str]:
    """Why the gate is closed, as sentences."""
    if state.is_open:
        return
    tags = ", ".join(state.tags)
    if not state.total:
        yield f"The gate needs tests with the tag {tags}, and no test has it. Tag a test, or change Releases/GATE."
    if state.failed:
        noun = "test fails" if len(state.failed) == 1 else "tests fail"
        named, more = "; ".join(f"“{title}”" for title in state.failed[:_NAMED]), len(state.failed) - _NAMED
        yield f"{len(state.failed)} {noun} on this draft: {named}{f' and {more} more' if more > 0 else ''}."
    if state.missing:
        noun = "test has" if len(state.missing) == 1 else "tests have"
        yield f"{len(state.missing)} {noun} no result on this state of the draft. Run the tests with the tag {tags}."
