"""What verifying the record covers, and what it does not, in plain words for the page and the command."""

from collections.abc import Mapping, Sequence

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
