"""Several intents match and none decides: ask which one is meant, and read the reply."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from convengine.engine.clarification.agent_answer import Score
from convengine.engine.clarification.stages import (
    INTENT_COLLISION_DETECTED,
    INTENT_COLLISION_RESOLVED,
    RESOLVE_RESPONSE_LLM_ERROR,
    RESOLVE_RESPONSE_LLM_INPUT,
    RESOLVE_RESPONSE_LLM_OUTPUT,
)
from convengine.engine.forms.asking import find_form_language, get_texts, quote_sentence
from convengine.engine.forms.single_field import choose_option
from convengine.engine.forms.user_answer import says_only
from convengine.engine.prompts.fill import ask_for_text
from convengine.engine.text.compare import blank, code
from convengine.engine.turn import rows
from convengine.engine.turn.facts import collect_schema_values
from convengine.engine.turn.live_settings import declare, prompt
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import Clarification, Session
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.turn import Turn
from convengine.engine.understanding.moves import MoveKind
from convengine.json_value import Json

COLLISION_FAMILY = "AgentIntentCollisionResolver"

COLLISION_SYSTEM_PROMPT = declare(
    COLLISION_FAMILY,
    "SYSTEM_PROMPT",
    prompt(),
    "A message may mean several things. You write one short, friendly question that lets the user choose between them, "
    "in plain words and without internal codes.",
    "Instruction to the model for the question after a collision of intents.",
)
COLLISION_USER_PROMPT = declare(
    COLLISION_FAMILY,
    "USER_PROMPT",
    prompt(),
    "Message:\n{{ user_input }}\n\nMost likely meanings: {{ intent_top3 }}\nSuggested questions: {{ followups }}",
    "What the model is shown for the question after a collision.",
)
COLLISION_DERIVATION_HINT = declare(
    COLLISION_FAMILY,
    "DERIVATION_HINT",
    prompt(),
    "One sentence that ends with a question mark.",
    "Appended to the prompts of that question.",
    label="Hint for the question",
)

#: Reasons of a question: phrases collided, or the agent was unsure.
CLASSIFIER = "CLASSIFIER"
AGENT = "AGENT"
#: How often the engine asks before the state becomes UNKNOWN.
_MAX_ASKS = 2
#: How many intents the question names if there are no candidates.
_NAMED = 3
_STAGES = (RESOLVE_RESPONSE_LLM_INPUT, RESOLVE_RESPONSE_LLM_OUTPUT, RESOLVE_RESPONSE_LLM_ERROR)


def build_question(session: Session, turn: Turn, names: Sequence[str]) -> str:
    """The built question in the language of the conversation: "Do you mean A or B?"."""
    texts = get_texts(find_form_language(session, turn))
    names = [quote_sentence(name, texts) for name in names]
    listed = [*([", ".join(names[:-1])] if len(names) > 1 else []), names[-1]]
    return str(texts["candidates"]).format(candidates=f" {texts['or']} ".join(listed))


def ask_user(session: Session, turn: Turn, hits: Sequence[rows.Classifier]) -> Session:
    """Ask which of the matching intents is meant; the state becomes INTENT_COLLISION."""
    snapshot = turn.snapshot
    first_of: dict[str, rows.Classifier] = {}
    for row in hits:
        first_of.setdefault(code(row.intent_code), row)
    candidates: list[dict[str, Any]] = [
        {
            "intent": intent,
            "state": code(row.state_code),
            "label": get_intent_name(snapshot, intent),
            "classifierId": row.classifier_id,
        }
        for intent, row in first_of.items()
    ]
    clarification = Clarification(
        build_question(session, turn, [option["label"] for option in candidates]), CLASSIFIER, tuple(candidates)
    )
    return session.move_to(state=INTENT_COLLISION, cause="INTENT_RESOLUTION").evolve(clarification=clarification)


def list_options(snapshot: Snapshot, close: Sequence[Score]) -> tuple[dict[str, Any], ...]:
    """The options of the agent's question: the intents whose scores are too close."""
    return tuple({"intent": score.intent, "label": get_intent_name(snapshot, score.intent)} for score in close)


def repeat_question(session: Session) -> Session | None:
    """Repeat the question. Returns None when it was asked often enough."""
    before = session.clarification
    if before is None or before.asks >= _MAX_ASKS:
        return None
    again = Clarification(before.question, before.reason, before.options, asks=before.asks + 1)
    return session.evolve(clarification=again)


def find_chosen_row(session: Session, turn: Turn) -> rows.Classifier | None:
    """The classifier row that the reply chooses by number or name. Returns None if there is none."""
    option, snapshot = _find_chosen(session, turn, CLASSIFIER), turn.snapshot
    row = snapshot.row(rows.Classifier, option.get("classifierId")) if option else None
    return row if row is not None and row.enabled and snapshot.is_active(row.intent_code) else None


def list_offered_rows(session: Session, snapshot: Snapshot) -> list[rows.Classifier]:
    """The classifier rows between which an open question of an earlier turn asks, the likelier first."""
    open_question = session.clarification
    if open_question is None or not open_question.from_previous_turn or open_question.reason != CLASSIFIER:
        return []
    keys = [option.get("classifierId") for option in open_question.options if isinstance(option, dict)]
    offered = [row for key in keys if (row := snapshot.row(rows.Classifier, key)) is not None]
    return [row for row in offered if row.enabled and snapshot.is_active(row.intent_code)]


def find_chosen_intent(session: Session, turn: Turn) -> str | None:
    """The intent that the reply chooses among the agent's options. Returns None if there is none."""
    option = _find_chosen(session, turn, AGENT)
    return code(str(option.get("intent") or "")) or None if option else None


def is_pending(session: Session) -> bool:
    """True while a question of an earlier turn is open."""
    return session.clarification is not None and session.clarification.from_previous_turn


def drop_questions(session: Session) -> Session:
    """Drop all questions and their reply, because an intent was accepted."""
    reply = session.reply_override
    repeated = reply is not None and reply.source == "DISAMBIGUATION"
    return session.evolve(clarification=None, reply_override=None if repeated else reply)


def get_intent_name(snapshot: Snapshot, intent: str) -> str:
    row = snapshot.row(rows.Intent, intent)
    return row.name if row else intent


def has_name(snapshot: Snapshot, intent: str) -> bool:
    """True for an intent with a display name, which users may be asked about."""
    row = snapshot.row(rows.Intent, intent)
    return row is not None and not blank(row.display_name)


def find_chosen_option(session: Session, turn: Turn) -> dict[str, Any] | None:
    """The option of an earlier turn's question that the reply chooses: by number or name, or by a yes to the only one.

    Returns None if there is none.
    """
    offered = _map_offered(session)
    labels = {intent: str(option.get("label", "")) for intent, option in offered.items()}
    chosen = choose_option(session, turn, labels, [*labels])
    if chosen is None and len(offered) == 1 and says_only(session, turn, MoveKind.AFFIRM):
        (chosen,) = offered
    return None if chosen is None else offered[chosen]


def list_offered_intents(session: Session) -> frozenset[str]:
    """The intents between which an open question of an earlier turn asks."""
    return frozenset(map(code, _map_offered(session)))


def _map_offered(session: Session) -> dict[str, dict[str, Any]]:
    """The options of an earlier turn's question, by intent."""
    options = session.clarification.options if session.clarification and is_pending(session) else ()
    return {str(option["intent"]): option for option in options if isinstance(option, dict) and option.get("intent")}


def _find_chosen(session: Session, turn: Turn, reason: str) -> dict[str, Any] | None:
    is_asked = session.clarification is not None and session.clarification.reason == reason
    return find_chosen_option(session, turn) if is_asked else None


def is_askable(session: Session, snapshot: Snapshot) -> bool:
    clarification = session.clarification
    return bool((clarification and not blank(clarification.question)) or _list_choices(session, snapshot))


def ask_collision_question(session: Session, turn: Turn) -> tuple[Session, str]:
    """Write the question with its two stages and store it in the session.

    If the model fails or a prompt cannot be rendered, the built question is used.
    """
    turn.audit(session, INTENT_COLLISION_DETECTED, **session.where)
    choices = _list_choices(session, turn.snapshot)
    text = ask_for_text(
        session,
        turn,
        "COLLISION",
        _STAGES,
        system=COLLISION_SYSTEM_PROMPT,
        user=COLLISION_USER_PROMPT,
        hint=COLLISION_DERIVATION_HINT,
        context=session.context,
        intent_top3=choices,
        followups=session.routing.followups or [],
    )
    stored = session.clarification.question if session.clarification else ""
    text = (
        text or ("" if blank(stored) else stored) or build_question(session, turn, [each["name"] for each in choices])
    )
    if session.clarification:
        session = session.evolve(clarification=replace(session.clarification, question=text))
    turn.audit(
        session,
        INTENT_COLLISION_RESOLVED,
        output=text,
        **session.where,
        context=session.context,
        schemaJson=collect_schema_values(session),
    )
    return session, text


def _list_choices(session: Session, snapshot: Snapshot) -> list[dict[str, Json]]:
    """The intents to choose from, with display names: the offered ones, else the best scored ones, else the first
    ones.
    """
    clarification = session.clarification
    for listed in (session.routing.intent_top3, clarification.options if clarification else ()):
        choices = [
            entry
            for entry in listed or ()
            if isinstance(entry, Mapping) and snapshot.row(rows.Intent, _read_code(entry))
        ]
        if choices:
            return [{**entry, "name": get_intent_name(snapshot, _read_code(entry))} for entry in choices]
    shown = [intent.intent_code for intent in snapshot.allowed_intents if not blank(intent.display_name)]
    return [{"intent": intent, "name": get_intent_name(snapshot, intent)} for intent in shown[:_NAMED]]


def _read_code(entry: Mapping[str, Json]) -> str:
    return code(str(entry.get("intent") or ""))
