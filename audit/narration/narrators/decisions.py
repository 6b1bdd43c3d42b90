"""Decisions that no other stage reports."""

from collections.abc import Iterator, Mapping

from audit.narration.narrate import NarratedTurn, Narrator, build_sentence, fill_template
from audit.narration.sentence import Sentence
from convengine.engine.turn.enums import DecisionKind
from convengine.engine.turn.stages import DECISION


def narrate_choice(template: str) -> Narrator:
    """Describes a decision that chose a row, once; nothing for one that chose none."""

    def tell(turn: NarratedTurn, index: int) -> Iterator[Sentence]:
        event = turn.events[index]
        again = turn.before(index, event.name, kind=event.payload["kind"], winner=event.payload.get("winner"))
        if not again and (parts := fill_template(event, template)):
            yield build_sentence(event, parts)

    return tell


NARRATORS: Mapping[str, Narrator] = {
    f"{DECISION}:{DecisionKind.CONTAINER}": narrate_choice("Selected {winner:row ce_container_config} to fetch data."),
    f"{DECISION}:{DecisionKind.PENDING_ACTION}": narrate_choice("Selected {winner:row ce_pending_action}."),
}
