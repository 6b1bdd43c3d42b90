"""What verifying the record covers, in plain words, and its findings: a sentence for people, and names for programs."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The codes of findings. They are stable.
CODES = {
    "EVENT_CHANGED": "An event was changed.",
    "EVENT_MISSING": "An event was removed.",
    "EVENT_ADDED": "An event was added.",
    "EVENTS_SWAPPED": "Two events were swapped.",
    "EVENTS_UNREADABLE": "The events of a turn are damaged: nobody can read them.",
    "DECIDING_ROWS_CHANGED": "The index of used rows and stages was changed.",
    "RECORD_CHANGED": "The turn record was changed.",
    "RECORD_MISSING": "A turn record was removed.",
    "SEAL_MISSING": "A turn record or an addition has no valid seal.",
    "CHAIN_BROKEN": "A seal does not follow from the previous one.",
    "END_CUT": "The end of a conversation's chain was removed or replaced.",
    "CONVERSATION_MISSING": "A conversation was removed.",
    "CONVERSATION_CHANGED": "The participant, the channel or the workspace of a conversation was changed.",
    "ERASED_WITHOUT_RECORD": "Content was removed, but no erasure is recorded.",
    "RELEASE_CHANGED": "A release was changed.",
    "RELEASE_MISSING": "A release was removed.",
    "HEAD_CHANGED": "The row that says which release is in force was changed.",
    "BLOB_CHANGED": "A part of a release's content was changed.",
    "BLOB_MISSING": "A part of a release's content was removed.",
    "HISTORY_CHANGED": "An entry of a row's history was changed.",
    "HISTORY_MISSING": "An entry of a row's history was removed.",
    "HISTORY_ADDED": "An entry of a row's history was added.",
    "LOG_CHANGED": "An entry of a chained table was changed.",
    "LOG_MISSING": "Entries of a chained table were removed.",
    "ROW_CHANGED": "A row that only the product may change was changed, such as a draft or a run of an action.",
    "ROW_MISSING": "A row that only the product may change was removed, such as a draft or a run of an action.",
    "ROW_ADDED": "A row that only the product may change was added, such as a draft or a run of an action.",
    "LEDGER_DIFFERS": "The chain does not match the ledger.",
    "LEDGER_MISSING": "Something that the ledger lists was removed.",
    "VIEW_CHANGED": "The definition of a view was changed.",
    "ANCHOR_DIFFERS": "The chain does not match the anchor.",
    "ANCHOR_MISSING": "A part of the chain that the anchor lists was removed.",
}


_TURNS, _CONVERSATIONS = "ce_conversation_history", "ce_conversation"
#: The tables of findings about conversations, besides the turns.
_TABLES = {
    "DECIDING_ROWS_CHANGED": "ce_turn_index",
    "END_CUT": _CONVERSATIONS,
    "CONVERSATION_MISSING": _CONVERSATIONS,
    "CONVERSATION_CHANGED": _CONVERSATIONS,
}


@dataclass(frozen=True)
class IntegrityFinding:
    code: str
    #: None for a finding about another table, which `other_table` and `other_row` name.
    conversation_id: uuid.UUID | None
    message: str
    turn_no: int | None = None
    seq: int | None = None
    stage: str | None = None
    other_table: str = ""
    other_row: str = ""

    @property
    def table(self) -> str:
        return self.other_table or _TABLES.get(self.code, _TURNS)

    @property
    def row(self) -> str:
        """The changed row: its key, or the conversation with the turn."""
        if self.conversation_id is None:
            return self.other_row
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        return f"{self.conversation_id}{turn}"

    def as_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "table": self.table,
            "row": self.row,
            "conversation_id": str(self.conversation_id) if self.conversation_id else None,
            "message": self.message,
            "turn_no": self.turn_no,
            "seq": self.seq,
            "stage": self.stage,
        }

    def __str__(self) -> str:
        if self.conversation_id is None:
            return f"{self.code}: {self.table}, row {self.row}: {self.message}"
        turn = "" if self.turn_no is None else f", turn {self.turn_no}"
        event = "" if self.seq is None else f", event {self.seq}{f' {self.stage}' if self.stage else ''}"
        return f"{self.code}: {self.table}: conversation {self.conversation_id}{turn}{event}: {self.message}"


def create_table_finding(code: str, table: str, row: object, message: str) -> IntegrityFinding:
    """A finding about a row of another table than those of conversations and turns."""
    return IntegrityFinding(code, None, message, other_table=table, other_row=str(row))


#: Said where the ledger has no root.
NO_ROOT = "No daily root has been written yet, so nobody would notice that a whole conversation was removed."
#: A change of any of these by SQL is reported.
COVERED = (
    "Each turn: its columns, its events and recording, and the content of its release.",
    "What remains of a turn after retention or an erasure removed a part, with the first seal of the turn.",
    "The index of deciding rows and stages.",
    "The order of the turns of a conversation, missing turns, and events outside of turns.",
    "Releases: their content, author, reason and time, their order, and which one is in force for whom.",
    "The history of rows, compared with the releases that made it.",
    "The access log, feedback and the ledger, entry by entry.",
    "Participant, channel and workspace of each conversation, the API key that opened it, and the session before it.",
    "Drafts with their editors, reviews with their approvals, schedules of drafts, gradual releases, test runs with "
    "their results, webhooks with their addresses, and channels with their settings.",
    "Runs of actions, also compared with the events of their turns; deliveries of webhooks, participants of threads, "
    "and stored answers. A removed one is missed once a daily root lists it, a removed run of an action at once.",
    "Stored classifiers and vectors of phrases. A removed one is made again.",
    "Whole conversations, once a daily root lists them.",
    "What was erased or removed by age: only if the product recorded it. A false record of it is reported, too.",
    "The ledger as a whole: erasures and runs of its job say what it must have.",
    "The definitions of the views ce_audit and ce_llm_call_log.",
)
#: What nothing seals, with its tables. Of each other table of the product, the check reports a changed row.
UNSEALED: Mapping[str, Sequence[str]] = {
    "Memory, with the facts and summaries of conversations": ("ce_memory", "ce_session_unit"),
    "Running turns, and those that wait": ("ce_turn_ticket", "ce_running_event"),
    "Messages that wait or were sent, and who wants no more": (
        *("ce_queued_message", "ce_channel_message", "ce_channel_opt_out", "ce_notification"),
    ),
    "Alerts, with their rules and messages": ("ce_alert", "ce_alert_message", "ce_alert_rule", "ce_alert_rule_users"),
    "Users, groups, permissions and API keys": (
        *("auth_user", "auth_group", "auth_permission", "auth_user_groups", "auth_group_permissions"),
        *("auth_user_user_permissions", "ce_api_key", "rest_framework_api_key_apikey", "django_content_type"),
    ),
    "What Django keeps for itself": ("django_session", "django_admin_log", "django_migrations"),
    "What users of the admin keep for themselves": ("ce_saved_search", "ce_first_step"),
    "Jobs and their runs, limits of calls, and faults of extensions": (
        *("ce_job", "ce_job_run", "ce_throttle", "ce_extension_fault"),
    ),
    "Counts of reports and outcomes of conversations, which can be counted again from the record": (
        *("ce_turn_count", "ce_count_progress", "ce_outcome"),
    ),
    "The indexes of words and of names of people": ("ce_turn_text", "ce_thread_part"),
    "The edits of drafts, and how releases move open conversations": (
        *("ce_draft_edit", "ce_release_move", "ce_release_source"),
    ),
    "Tests, evaluations, replays and what-if runs": (
        *("ce_test_case", "ce_test_case_tag", "ce_evaluation", "ce_replay_job", "ce_what_if", "ce_what_if_turn"),
    ),
    "The inbox and the findings of Health": (
        *("ce_inbox_group", "ce_inbox_message", "ce_health_finding", "ce_health_acknowledgement", "ce_health_report"),
    ),
    "Documents that tools search": ("ce_document", "ce_document_collection"),
}
NOT_COVERED = (
    "Turns that were rewritten with all later turns of their conversation before the next daily root.",
    "Conversations that began and were removed between two daily roots.",
    "Entries of a chained table that were removed with its row in ce_chain before the next daily root.",
    "A removal of the newest ledger entries together with all that they list, without an anchor file or command.",
    "Changes by a person who has the secret of this installation (CE_SECRET_KEY), without an anchor elsewhere.",
    "The present rows of the configuration: a change of them by SQL becomes a release of its own, at the latest with "
    "the next one. The triggers and counters that note such changes, and the triggers that refuse changes of sealed "
    "rows.",
    "The state of conversations: all columns but those named above.",
    "Of turns: the request ID, the time of the last change and the row's number; of their index, the time.",
    "Of other sealed rows: the description of a draft, the failures, answers and times of a test result, the "
    "knowledge that feedback counted, the counts of an erasure, the user's number in the row history, when a thread "
    "began, and when a classifier or vector was made, used, claimed or refused.",
    "Deliveries, threads and stored answers that were written and removed between two daily roots, and an earlier "
    "state of one of them that was put back with its proof. Attempts of deliveries.",
    "What was never written: see masking and the level of the audit in the manual.",
    *(f"{rows} ({', '.join(tables)})." for rows, tables in UNSEALED.items()),
)
