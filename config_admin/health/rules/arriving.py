"""Whether a turn with this session comes to a phase of rules at all: it may be over before, or go by."""

from config_admin.health.rules import dry, phases
from config_admin.validation import relations
from config_admin.validation.world import World
from convengine.containers.select import choose_containers
from convengine.domain import rows, settings
from convengine.domain.catalogue.dialogue import RESET_ACT_RESETS
from convengine.domain.catalogue.intents import RESET_INTENT_CODES
from convengine.domain.enums import DialogueAct, RulePhase
from convengine.domain.params import engine_owned
from convengine.domain.scope import INTENT_COLLISION
from convengine.domain.session import Session
from convengine.domain.snapshot import Snapshot
from convengine.domain.text import blank, code, truthy
from convengine.intents.classifiers import classifier_bank
from convengine.intents.policies import policy_bank
from convengine.schemas.form import form_of
from convengine.schemas.status import meaningful
from convengine.steps.reset_conversation import is_reset_command

#: Phases that a model leads to.
_BY_MODEL = (RulePhase.POST_AGENT_INTENT, RulePhase.POST_AGENT_MCP)


def arrives(snapshot: Snapshot, world: World, phase: RulePhase, session: Session, act: DialogueAct) -> bool:
    """False where the engine is known not to come to the phase so. `act` is what it reads out of the text."""
    if policy_bank(snapshot).hits(session.user_text) or _starts_over(snapshot, session, act):
        return False
    if phase in _BY_MODEL and not world.model_configured:
        return False
    if phases.knows_containers(phase) and _resets(snapshot, session.intent):
        return False
    if session.container_data is not None and not choose_containers(snapshot, session.intent, session.state).chosen:
        return False
    if phase == RulePhase.POST_TOOL_EXECUTION and truthy(session.input_params.get("skip_tool_execution")):
        return False
    if phase == RulePhase.POST_SCHEMA_EXTRACTION and not _collects(session):
        return False
    if session.resolved_schema is not None and not _is_sound(snapshot, session, session.resolved_schema):
        return False
    return phase != RulePhase.POST_CLASSIFIER_INTENT or _classified(snapshot, session)


def _starts_over(snapshot: Snapshot, session: Session, act: DialogueAct) -> bool:
    """A text that means nothing but to start over lets no rule run (R35)."""
    turn = dry.turn(snapshot)
    by_act = act is DialogueAct.RESET and turn.config(session, RESET_ACT_RESETS)
    return by_act or is_reset_command(session, turn)


def _resets(snapshot: Snapshot, intent: str | None) -> bool:
    """An intent that starts the conversation over as soon as it is resolved."""
    return code(intent) in settings.read(snapshot, RESET_INTENT_CODES).value


def _collects(session: Session) -> bool:
    """Whether the message is read into a form, which the rules of the phase follow."""
    by_others = truthy(session.input_params.get("skip_schema_extraction")) or code(session.state) == INTENT_COLLISION
    return session.resolved_schema is not None and not by_others and not blank(session.user_text)


def _is_sound(snapshot: Snapshot, session: Session, schema: rows.OutputSchema) -> bool:
    """Whether the values of the form are such as collecting leaves: valid, and filled from params of their names."""
    form = form_of(snapshot, schema)
    seeds = any(
        meaningful(session.input_params.get(field.path)) and not meaningful(session.context.get(field.path))
        for field in form.fields
        if not engine_owned(field.path)
    )
    return not seeds and not form.status(session.context).invalid


def _classified(snapshot: Snapshot, session: Session) -> bool:
    """Whether the text means this intent by its classifiers, and no other."""
    by_pk = snapshot.table(rows.Classifier).by_pk
    hits = {relations.intent_key(by_pk[pk]) for pk in classifier_bank(snapshot).hits(session.user_text)}
    active = {intent for intent in hits if snapshot.is_active(intent)}
    if active:
        return active == {code(session.intent)}
    return any(row.is_semantic for row in relations.of_intent(snapshot, rows.Classifier, code(session.intent)))
