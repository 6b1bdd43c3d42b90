"""What prevents publishing a draft: one list, asked in the transaction that publishes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser

from config_admin.drafts.edits import MergedEdits, hash_edits
from config_admin.drafts.models import CeDraft, ReviewKind
from config_admin.drafts.open_draft import read_draft
from config_admin.drafts.review import describe_review, list_approvers, list_open_returns
from config_admin.releases.active import snapshots
from config_admin.releases.audience import find_gradual_release
from config_admin.test_cases.gate import GateState, describe_problems, judge_gate, read_gate_tags
from convengine.engine.turn import live_settings
from convengine.engine.turn.releases import APPROVALS

#: The right to publish although tests of the gate fail.
OVERRIDE = "config_admin.override_gate"


@dataclass(frozen=True)
class Publication:
    """A draft that somebody wants to publish."""

    draft: CeDraft
    #: Its edits over the live configuration of now.
    merged: MergedEdits
    publisher: Any = None
    #: Why it is published although tests of the gate did not pass; blank when the gate holds.
    override: str = ""


class PublicationRefused(ValueError):
    """Conditions for publishing are not met; the message says which."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__(" ".join(problems))


def count_needed_approvals() -> int:
    """How many people must approve a draft. What is live decides, never the draft."""
    return live_settings.read(snapshots.current(), APPROVALS).value


def check_approvals(publication: Publication) -> Iterator[str]:
    """Enough others approved these edits, and nobody returned them since."""
    needed = count_needed_approvals()
    if not needed:
        return
    edits_hash = hash_edits(publication.draft)
    if len(list_approvers(publication.draft, edits_hash)) < needed:
        people = "1 person must" if needed == 1 else f"{needed} people must"
        review = describe_review(publication.draft, edits_hash)
        was_sent = publication.draft.reviews.filter(kind=ReviewKind.SENT).exists()
        todo = "" if was_sent else " Send the draft for review."
        yield f"{people} approve these edits, other than those who made them. {review}{todo}"
    for name in list_open_returns(publication.draft, edits_hash):
        yield f"{name} returned the draft. Change it, or send it for review again."


def check_gradual_release(publication: Publication) -> Iterator[str]:
    """One release at a time is gradual, and nothing is published above it."""
    if row := find_gradual_release():
        yield f"Release {row.config_version} is given to {row.describe_audience()}. Stop it or give it to all first."


def judge_draft_gate(draft: CeDraft) -> GateState:
    """How the tests of the gate stand on the draft as it would be published now."""
    tags = read_gate_tags()
    return judge_gate(read_draft(draft)[0].content_hash if tags else "", tags)


def check_gate(publication: Publication) -> Iterator[str]:
    """The tests of the gate passed on exactly this state, or somebody with the right to it overrides them."""
    if not publication.override:
        yield from describe_problems(judge_draft_gate(publication.draft))
    elif isinstance(publication.publisher, AbstractBaseUser) and not may_override(publication.publisher):
        yield "You may not publish a draft although tests of the gate fail. Ask a configuration administrator."


def may_override(user: Any) -> bool:
    """True for users who may publish although tests fail."""
    return bool(user.has_perm(OVERRIDE))


#: Each yields why a draft may not be published, as a sentence for people. Packages that know more append their own.
CONDITIONS: list[Callable[[Publication], Iterable[str]]] = [
    check_approvals,
    check_gate,
    check_gradual_release,
]


def list_problems(publication: Publication, *, with_gate: bool = True) -> list[str]:
    """Everything that prevents publishing, beside conflicts and errors of rows; `with_gate`: also tests of the gate."""
    conditions = (condition for condition in CONDITIONS if with_gate or condition is not check_gate)
    return [problem for condition in conditions for problem in condition(publication)]
