"""Whether a turn with this session reaches a phase of rules at all."""

from config_admin.health.rules import dry, phases
from config_admin.validation import relations
from config_admin.validation.world import World
from convengine.engine.dialogue.settings import RESET_ACT_RESETS
from convengine.engine.forms.form import get_form
from convengine.engine.forms.status import is_meaningful
from convengine.engine.steps.containers.step import choose_containers
from convengine.engine.steps.conversation.step import is_reset_command
from convengine.engine.steps.intents.classifiers import get_classifier_bank
from convengine.engine.steps.intents.settings import RESET_INTENT_CODES
from convengine.engine.steps.policy.policies import get_policy_bank
from convengine.engine.text.compare import blank, code, truthy
from convengine.engine.turn import live_settings, rows
from convengine.engine.turn.enums import DialogueAct, RulePhase
from convengine.engine.turn.params import is_engine_owned
from convengine.engine.turn.scope import INTENT_COLLISION
from convengine.engine.turn.session import Session
from convengine.engine.turn.snapshot import Snapshot

#: Phases that need a model.
_BY_MODEL = (RulePhase.POST_AGENT_INTENT, RulePhase.POST_AGENT_MCP)


def arrives(snapshot: Snapshot, world: World, phase: RulePhase, session: Session, act: DialogueAct) -> bool:
    """False if the engine is known not to reach the phase. `act` is the one that it reads from the text."""
    if get_policy_bank(snapshot).hits(session.user_text) or _starts_over(snapshot, session, act):
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
    return phase != RulePhase.POST_CLASSIFIER_INTENT or _leads_to_intent(snapshot, session)


def _starts_over(snapshot: Snapshot, session: Session, act: DialogueAct) -> bool:
    """A text that only asks to start over lets no rule run (R35)."""
    turn = dry.turn(snapshot)
    by_act = act is DialogueAct.RESET and turn.config(session, RESET_ACT_RESETS)
    return by_act or is_reset_command(session, turn)


def _resets(snapshot: Snapshot, intent: str | None) -> bool:
    """An intent that resets the conversation as soon as it is resolved."""
    return code(intent) in live_settings.read(snapshot, RESET_INTENT_CODES).value


def _collects(session: Session) -> bool:
    """Whether the message is read into a form before the phase."""
    by_others = truthy(session.input_params.get("skip_schema_extraction")) or code(session.state) == INTENT_COLLISION
    return session.resolved_schema is not None and not by_others and not blank(session.user_text)


def _is_sound(snapshot: Snapshot, session: Session, schema: rows.OutputSchema) -> bool:
    """Whether the values of the form are possible after collecting: valid, and filled from params of their names."""
    form = get_form(snapshot, schema)
    seeds = any(
        is_meaningful(session.input_params.get(field.path)) and not is_meaningful(session.context.get(field.path))
        for field in form.fields
        if not is_engine_owned(field.path)
    )
    return not seeds and not form.status(session.context).invalid


def _leads_to_intent(snapshot: Snapshot, session: Session) -> bool:
    """Whether the text matches phrases of this intent and of no other."""
    by_pk = snapshot.table(rows.Classifier).by_pk
    hits = {relations.intent_key(by_pk[pk]) for pk in get_classifier_bank(snapshot).hits(session.user_text)}
    active = {intent for intent in hits if snapshot.is_active(intent)}
    if active:
        return active == {code(session.intent)}
    return any(row.is_semantic for row in relations.of_intent(snapshot, rows.Classifier, code(session.intent)))
