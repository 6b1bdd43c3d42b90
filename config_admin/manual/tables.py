"""Chapters of the tables: every column with the help of its form field, or of `COLUMNS`."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from django.apps import apps
from django.db import models

from config_admin.manual.entry import Chapter, PossibleValue, ReferenceEntry, plain
from config_admin.validation.columns import NaturalKey, get_column_spec
from convengine.engine.rules.vocabulary import list_actions
from convengine.engine.turn.enums import RuleAction, Vocabulary
from convengine.engine.turn.rows import ROW_TYPE_OF
from convengine.server.admin_site.layout import list_sections

CONFIGURATION, RECORD = "Tables of the configuration", "Tables of the audit trail and sessions"


def make_table_chapters() -> Iterator[Chapter]:
    """A chapter for each table, those of the configuration first."""
    models_with_history = (model for model in apps.get_models() if model._meta.db_table.startswith("ce_"))
    ours = [model for model in models_with_history if not hasattr(model, "history_type")]
    for model in sorted(ours, key=lambda model: (model._meta.db_table not in ROW_TYPE_OF, model._meta.db_table)):
        table = model._meta.db_table
        about = " ".join(filter(None, [_read_menu_help().get(model._meta.label, ""), plain(model.__doc__)]))
        part = CONFIGURATION if table in ROW_TYPE_OF else RECORD
        title = f"{str(model._meta.verbose_name)[:1].upper()}{str(model._meta.verbose_name)[1:]}"
        key: NaturalKey | None = getattr(model, "natural_key", None)
        facts = (("Natural key in files", ", ".join(key.columns)),) if key else ()
        itself = ReferenceEntry(table, title, about, table, facts, chapters=RELATED_CHAPTERS.get(table, ()))
        yield Chapter(
            table,
            title,
            about,
            (itself, *(_make_column_entry(model, column) for column in model._meta.concrete_fields)),
            part,
        )


@cache
def _read_menu_help() -> Mapping[str, str]:
    """The help of each model's page in the sidebar."""
    return {entry.model: entry.help for section in reversed(list_sections()) for entry in reversed(section.entries)}


def _make_column_entry(model: type[models.Model], field: Any) -> ReferenceEntry:
    table = model._meta.db_table
    vocabulary = _get_vocabulary(field)
    help = str(field.help_text) or get_column_spec(field).help
    text = help or (plain(vocabulary.__doc__) if vocabulary else "") or get_column_help(table, field.name)
    if not text and field.primary_key:
        text = "The number of the row."
    title = str(field.verbose_name)
    return ReferenceEntry(
        f"{table}.{field.name}",
        f"{title[:1].upper()}{title[1:]}",
        text,
        field.column,
        tuple(_list_facts(field)),
        tuple(_list_choices(vocabulary)),
        RELATED_CHAPTERS.get(f"{table}.{field.name}") or RELATED_CHAPTERS.get(table, ()),
    )


def _list_choices(vocabulary: type[Vocabulary] | None) -> Iterator[PossibleValue]:
    if vocabulary is RuleAction:
        yield from (PossibleValue(action.name, action.label, action.help) for action in list_actions().values())
    else:
        yield from (PossibleValue(word.value, word.label, word.help) for word in vocabulary or ())


def _get_vocabulary(field: Any) -> type[Vocabulary] | None:
    source = getattr(getattr(field.choices, "func", None), "__self__", None)
    return source if isinstance(source, type) and issubclass(source, Vocabulary) else None


#: The types of columns in files.
_TYPES: Sequence[tuple[type[Any], str]] = (
    (models.JSONField, "JSON document"),
    (models.BooleanField, "true or false"),
    (models.IntegerField, "whole number"),
    (models.DecimalField, "number"),
    (models.DateTimeField, "time (ISO 8601)"),
)


def _list_facts(field: Any) -> Iterator[tuple[str, str]]:
    if field.model._meta.db_table in ROW_TYPE_OF:
        yield "Type", next((name for kind, name in _TYPES if isinstance(field, kind)), "text")
        if _is_required(field):
            yield "Required", "yes"
    if default := _describe_default(field):
        yield "Default", default
    if field.unique and not field.primary_key:
        yield "Unique", "Values must be unique."
    if not field.choices and (getattr(field, "max_length", None) or 999) <= 200:
        yield "Maximum length", f"{field.max_length} characters"


def _is_required(field: Any) -> bool:
    may_be_left_out = field.null or field.blank or field.has_default() or field.primary_key
    return bool(get_column_spec(field).required) or not may_be_left_out


def _describe_default(field: Any) -> str:
    """Blank without a default, and for one that is made for each row."""
    if not field.has_default() or callable(field.default) or field.default is None:
        return ""
    return {True: "on", False: "off"}[field.default] if isinstance(field.default, bool) else str(field.default)


#: By table, and by table and column if that differs.
RELATED_CHAPTERS: Mapping[str, Sequence[str]] = {
    "ce_intent": ("first_hour_analyst", "understanding"),
    "ce_intent_classifier": ("understanding", "rules"),
    "ce_intent_classifier.pattern": ("rules",),
    "ce_rule": ("rules",),
    "ce_policy": ("understanding",),
    "ce_policy.pattern": ("rules", "understanding"),
    "ce_output_schema": ("forms",),
    "ce_prompt_template": ("models", "rules"),
    "ce_response": ("rules", "models"),
    "ce_verbose": ("rules",),
    "ce_container_config": ("extending",),
    "ce_pending_action": ("actions",),
    "ce_tool": ("tools",),
    "ce_mcp_tool": ("tools",),
    "ce_mcp_db_tool": ("tools",),
    "ce_mcp_http_tool": ("tools",),
    "ce_mcp_sql_guardrail": ("tools",),
    "ce_mcp_planner": ("tools",),
    "ce_mcp_server": ("extending",),
    "ce_config": ("workplace",),
    "ce_conversation": ("sessions",),
    "ce_thread": ("sessions",),
    "ce_session_unit": ("sessions",),
    "ce_memory": ("models",),
    "ce_job": ("operations",),
    "ce_job_run": ("operations",),
    "ce_phrase_model": ("understanding",),
    "ce_phrase_vector": ("understanding",),
    "ce_api_key": ("api",),
    "ce_release": ("workplace",),
}


#: By column, for every table that does not override it.
COMMON_COLUMNS: Mapping[str, str] = {
    "attempt": "The number of the attempt, starting at 1.",
    "channel": "The channel of the user.",
    "config_version": "The release that it ran on.",
    "content_hash": "The hash of the content.",
    "conversation": "The conversation that it belongs to.",
    "conversation_id": "The conversation that it belongs to.",
    "created_at": "When the row was made.",
    "duration_ms": "How long it took, in milliseconds.",
    "error": "The error, if there was one.",
    "error_code": "The code of the error, if there was one.",
    "error_message": "The error message.",
    "expires_at": "When it expires.",
    "finished_at": "When it ended.",
    "intent_code": "The intent at that moment.",
    "lease_expires_at": "When the lock expires.",
    "lease_token": "The current owner of the lock.",
    "remote_jid": "Who the user is on that channel.",
    "started_at": "When it began.",
    "state_code": "The state at that moment.",
    "status": "The status.",
    "turn_id": "The turn that it belongs to.",
    "turn_no": "Which message of the conversation this was; the first is 1.",
    "updated_at": "When the row was changed last.",
    "updated_by": "Who changed the row last.",
    "workspace_id": "The workspace. API keys of other workspaces have no access.",
    "write_counter": "The number of writes to the tables, used to detect direct database changes.",
}

#: By table and column.
COLUMNS: Mapping[str, str] = {
    "ce_api_key.created": "When the key was made.",
    "ce_api_key.hashed_key": "The hash of the key. The key itself is not stored.",
    "ce_api_key.prefix": "The first characters of the key.",
    "ce_audit.payload_json": "The data of the event.",
    "ce_audit.seq": "The position of the event in its turn.",
    "ce_audit.stage": "The stage of the event.",
    "ce_config_head.config_version": "The release in force.",
    "ce_config_head.released_counter": "How often the tables had been written when that release was made.",
    "ce_conversation.context_json": "What was collected and fetched: the facts that last.",
    "ce_conversation.context_summary": "The conversation so far, summed up.",
    "ce_conversation.input_params_json": "Params that last beyond their turn.",
    "ce_conversation.last_assistant_json": "The last answer.",
    "ce_conversation.last_message_at": "When the last message came.",
    "ce_conversation.last_user_text": "The last message.",
    "ce_conversation.lease_interrupted_by": "The message that wants the running turn stopped.",
    "ce_conversation.lifecycle": "The status of the session: running, waiting, complete or aborted.",
    "ce_conversation.lifecycle_detail": "The reason for the status.",
    "ce_conversation.mounted_kb_id": "The knowledge base that it uses.",
    "ce_conversation.preferences": "The model and the knowledge base that it prefers.",
    "ce_conversation.previous_session": "The session of the thread before it.",
    "ce_conversation_history.assistant_output": "What was answered.",
    "ce_conversation_history.audit_incomplete": "Events of this turn could not be stored. A marker replaces them.",
    "ce_conversation_history.context_epoch": "The number of resets of the conversation.",
    "ce_conversation_history.intent_before": "The intent before the turn.",
    "ce_conversation_history.model_calls": "How many calls of models its events have.",
    "ce_conversation_history.modified_at": "When the record was changed last.",
    "ce_conversation_history.replay_note": "Why the turn cannot be run again as it was.",
    "ce_conversation_history.replayable": "Whether the turn can be run again as it was.",
    "ce_conversation_history.state_before": "The state before the turn.",
    "ce_conversation_history.user_input": "What the user wrote.",
    "ce_document.collection": "The collection that the document belongs to.",
    "ce_document.hash": "The hash of the text, used to detect changes.",
    "ce_document.vector": "What the text means, as numbers, where texts are compared by meaning.",
    "ce_first_step.done_at": "When they did it.",
    "ce_first_step.step": "The step of the list on Home.",
    "ce_first_step.user": "Who did it.",
    "ce_idempotency.answer": "The stored answer.",
    "ce_idempotency.body_hash": "The hash of the request.",
    "ce_idempotency.key": "The key that the caller sent.",
    "ce_job.due_at": "When it runs next.",
    "ce_job.last_run": "Its last run.",
    "ce_job_run.job_name": "The job that ran.",
    "ce_llm_call_log.cost": "What the call cost, by the prices of the deployment.",
    "ce_llm_call_log.input_tokens": "How many tokens were sent.",
    "ce_llm_call_log.latency_ms": "How long the model took, in milliseconds.",
    "ce_llm_call_log.model": "The model that was asked.",
    "ce_llm_call_log.output_tokens": "How many tokens came back.",
    "ce_llm_call_log.prompt_text": "What the model was asked.",
    "ce_llm_call_log.provider": "The service that was asked.",
    "ce_llm_call_log.purpose": "The purpose of the call.",
    "ce_llm_call_log.response_text": "What the model answered.",
    "ce_llm_call_log.success": "Whether the answer could be used.",
    "ce_llm_call_log.temperature": "The temperature of the model.",
    "ce_llm_call_log.template_id": "The prompt template that it was asked with.",
    "ce_llm_call_log.user_context": "The message that it was about.",
    "ce_mcp_server.cached_at": "When its tools were last listed.",
    "ce_mcp_server.last_status": "The result of the last check.",
    "ce_mcp_server.tool_cache_json": "The tools that it offered last.",
    "ce_memory.detail_json": "What the summary was made of.",
    "ce_memory.from_turn": "The first turn that it sums up.",
    "ce_memory.memory_type": "What kind of summary it is.",
    "ce_memory.source": "Who wrote it: the engine, or a model.",
    "ce_memory.summary_text": "The summary.",
    "ce_memory.to_turn": "The last turn that it sums up.",
    "ce_notification.body": "The message.",
    "ce_notification.channel": "E-mail or webhook.",
    "ce_notification.key": "The key that prevents sending twice.",
    "ce_notification.recipient": "Who it went to.",
    "ce_notification.sent_at": "When it was sent, if it was sent.",
    "ce_notification.subject": "Its subject.",
    "ce_notification.tool_code": "The tool that sent it.",
    "ce_extension_fault.kind": "What raised the exception, such as a task, a tool or a hook.",
    "ce_extension_fault.name": "The registered name of that code.",
    "ce_extension_fault.error_type": "The class of the exception.",
    "ce_extension_fault.message": "The text of the exception.",
    "ce_extension_fault.traceback": "The calls that led to it, without local variables.",
    "ce_pending_action_execution.action_key": "The action; `tool:` with a tool, or `rule:` with a rule.",
    "ce_pending_action_execution.action_ref": "The task that it runs.",
    "ce_pending_action_execution.request_hash": "The arguments, used to detect a repetition.",
    "ce_pending_action_execution.result_json": "What the task gave.",
    "ce_pending_action_execution.runtime_nonce": "The confirmed proposal, or the run of a rule's task; each runs once.",
    "ce_release.author": "Who made the change.",
    "ce_release.change_set": "What was saved together.",
    "ce_release.content_hash": "The hash of the configuration.",
    "ce_release.origin": "How the change was made.",
    "ce_release.parent": "The release before it.",
    "ce_release.reason": "Why the change was made.",
    "ce_release_blob.codec": "How the data is packed.",
    "ce_release_blob.data": "The rows, packed.",
    "ce_session_unit.claim": "What is said.",
    "ce_session_unit.committed_at": "When it was recorded.",
    "ce_session_unit.kind": "A fact, a constraint, a definition or guidance.",
    "ce_session_unit.phases": "The phases of a turn in which it is useful.",
    "ce_session_unit.source_turn": "The turn that it was taken from.",
    "ce_session_unit.topic": "The topic.",
    "ce_session_unit.utility": "How useful it is, from 0 to 1.",
    "ce_thread.created_at": "When the participant first wrote.",
    "ce_thread_part.part": "A part of the participant's name or number.",
    "ce_thread_part.thread": "The thread of the participant.",
    "ce_turn_ticket.arrived_at": "When the turn started to wait.",
}


def get_column_help(table: str, column: str) -> str:
    """The help of a column, or blank."""
    return COLUMNS.get(f"{table}.{column}") or COMMON_COLUMNS.get(column, "")
