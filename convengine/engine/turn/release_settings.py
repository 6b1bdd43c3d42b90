"""Settings of releases: how a change of the configuration becomes live."""

from convengine.engine.turn.live_settings import declare, integer, one_of, read, text_list
from convengine.engine.turn.snapshot import Snapshot

FAMILY = "Releases"

MODE = declare(
    FAMILY,
    "MODE",
    one_of("LIVE", "REVIEWED"),
    "LIVE",
    "LIVE: a saved change is live at once, outside of drafts. REVIEWED: every change is made in a draft, which is "
    "published; forms, imports and the API refuse any other.",
    mark="LR",
    label="How changes become live",
)

GATE = declare(
    FAMILY,
    "GATE",
    text_list(),
    (),
    "Tags of tests, such as booking, must-pass. A draft is published only if every test with one of these tags passed "
    "on it. While a tag is named, every change is made in a draft.",
    mark="LR",
    label="Tests that must pass before publishing",
)

APPROVALS = declare(
    FAMILY,
    "APPROVALS",
    integer(0, 20),
    0,
    "The number of people who must approve a draft before it is published. Those who edited the draft do not count, "
    "and an edit after an approval makes it void.",
    mark="LR",
    label="Approvals of a draft",
)

RUNNING = declare(
    FAMILY,
    "RUNNING",
    one_of("NEXT_TURN", "END_OF_FORM", "END_OF_SESSION"),
    "NEXT_TURN",
    "When an open conversation gets a new release. NEXT_TURN: with its next message. END_OF_FORM: while it waits for "
    "an answer (of a form, a yes, a choice), it stays on the release that asked. "
    "END_OF_SESSION: with its next session.",
    label="When open conversations get a release",
)


def requires_draft(snapshot: Snapshot) -> bool:
    """True when changes after this release are made in drafts only."""
    # A saved change cannot wait for tests, so a gate needs drafts.
    return bool(read(snapshot, MODE).value == "REVIEWED" or read(snapshot, GATE).value)
