"""A flow as it stands on its page, laid over the configuration: what its phrases reach, and who it talks to."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from config_admin.flows.document import Document
from config_admin.flows.reading import FlowReading, list_question_codes
from config_admin.flows.saving import plan_flow
from config_admin.releases.restore_rows import Wanted, lay_rows_over
from config_admin.transfer.import_plan import place_rows
from config_admin.validation.phrase_overlaps import PhraseOverlap, find_phrase_overlap
from convengine.engine.steps.intents.classifiers import find_intents
from convengine.engine.text.compare import code
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.server.admin_site.phrase_account import describe_match

#: How many stored messages are suggested.
MAX_SUGGESTIONS = 10
#: How many phrases are compared with those of other intents.
MAX_COMPARED = 100


@dataclass(frozen=True)
class SuggestedMessage:
    """A stored message that no intent understood, and that is near to the flow."""

    text: str
    reason: str


def place_flow(snapshot: Snapshot, reading: FlowReading | None, flow: Document) -> Wanted:
    """The rows that saving a flow would add, change and delete. `reading`: the flow that it changes.

    Raises FlowRefused.
    """
    return place_rows(plan_flow(snapshot, reading, flow)).wanted


def lay_flow_over(snapshot: Snapshot, reading: FlowReading | None, flow: Document) -> Snapshot:
    """The configuration as if a flow were saved. Raises FlowRefused."""
    return lay_rows_over(snapshot, place_flow(snapshot, reading, flow))


@choose_making(Making.PREVIEW)
def suggest_messages(snapshot: Snapshot, flow_code: str, messages: Iterable[str]) -> list[SuggestedMessage]:
    """At most `MAX_SUGGESTIONS` messages that come nearest to a flow without being understood by it, best first."""
    near: list[tuple[float, str, str]] = []
    for text in dict.fromkeys(messages):
        matches = match_phrases(snapshot, text)
        own = next((match for match in (*matches.hits, *matches.near) if match.intent == flow_code), None)
        if own and find_intents(snapshot, text) != (flow_code,):
            near.append((-own.confidence, text, describe_match("This flow", matches.describe(own))))
    return [SuggestedMessage(text, reason) for _, text, reason in sorted(near)[:MAX_SUGGESTIONS]]


def find_overlaps(snapshot: Snapshot, flow_code: str, phrases: Collection[str]) -> list[tuple[str, PhraseOverlap]]:
    """The phrases of a flow, or of a question beside it, that other intents match, too."""
    own = {flow_code, *list_question_codes(snapshot, flow_code)}
    listed = [row for row in snapshot.enabled_rows(rows.Classifier) if row.is_phrase and row.pattern in phrases]
    mine = [row for row in listed if code(row.intent_code) in own][:MAX_COMPARED]
    overlaps = ((row.pattern or "", find_phrase_overlap(snapshot, row)) for row in mine)
    return [(phrase, overlap) for phrase, overlap in overlaps if overlap]
