"""Sentences as first messages, on a flow as it is on the page; and stored messages that come near to it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from config_admin.flows.document import Document
from config_admin.flows.reading import FlowReading, list_question_codes
from config_admin.flows.saving import plan_flow
from config_admin.releases.restore_checks import lay_rows_over
from config_admin.transfer.import_plan import place_rows
from config_admin.validation.phrase_overlaps import PhraseOverlap, find_phrase_overlap
from convengine.engine.clarification.collision import get_intent_name
from convengine.engine.steps.intents.classifiers import find_intents
from convengine.engine.text.compare import code
from convengine.engine.text.wording import join_names
from convengine.engine.turn import rows
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.understanding.phrases.matching import match_phrases
from convengine.engine.understanding.phrases.models import Making, choose_making
from convengine.play.first_message import list_reached_intents, play_first_message
from convengine.server.admin_site.phrase_reasons import describe_match
from convengine.server.interfaces.turn_reader import ExplainedMessage, turn_reader

#: How many sentences are played at once, and how many stored messages are suggested.
MAX_SENTENCES, MAX_SUGGESTIONS = 10, 10
#: How many phrases are compared with those of other intents.
MAX_COMPARED = 100


@dataclass(frozen=True)
class PlayedSentence:
    """What a sentence leads to."""

    text: str
    #: own, other, several or nobody.
    outcome: str
    headline: str
    explained: ExplainedMessage


@dataclass(frozen=True)
class SuggestedMessage:
    """A stored message that no intent understood, and that is near to the flow."""

    text: str
    reason: str


def lay_flow_over(snapshot: Snapshot, reading: FlowReading | None, flow: Document) -> Snapshot:
    """The configuration as if a flow were saved. `reading`: the flow that it changes. Raises FlowRefused."""
    return lay_rows_over(snapshot, place_rows(plan_flow(snapshot, reading, flow)).wanted)


@choose_making(Making.PREVIEW)
def play_sentences(snapshot: Snapshot, flow_code: str, sentences: Sequence[str], at: datetime) -> list[PlayedSentence]:
    """Play each sentence as the first message of a conversation, with a flow laid over; at most `MAX_SENTENCES`."""
    played = []
    for text in sentences[:MAX_SENTENCES]:
        turn = play_first_message(snapshot, text, at)
        outcome, headline = _describe_outcome(snapshot, flow_code, list_reached_intents(turn))
        explained = turn_reader().explain_unstored_message(turn.turn)
        played.append(PlayedSentence(text, outcome, headline, explained))
    return played


def _describe_outcome(snapshot: Snapshot, flow_code: str, intents: Sequence[str]) -> tuple[str, str]:
    """Where a first message leads, as a class and a text: to this flow, another intent, several or none."""
    names = [get_intent_name(snapshot, intent) for intent in intents]
    match intents:
        case []:
            return "nobody", "Not understood"
        case [intent] if intent == flow_code:
            return "own", "This flow"
        case [intent] if intent in list_question_codes(snapshot, flow_code):
            return "own", f"Answered in between: “{names[0]}”"
        case [_]:
            return "other", f"Another intent: {names[0]}"
    return "several", f"The user is asked: {join_names(names)}"


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
