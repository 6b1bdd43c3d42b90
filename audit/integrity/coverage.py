"""What verifying the record covers, and what it does not, in plain words for the page and the command."""

#: Said where the ledger has no root.
NO_ROOT = "No daily root has been written yet, so nobody would notice that a whole conversation was removed."
#: A change of any of these by SQL is reported.
COVERED = (
    "Each turn: all its columns but the request ID, its events and recording, and the content of its release.",
    "What remains of a turn after retention or an erasure removed a part, with the first seal of the turn.",
    "The index of deciding rows and stages.",
    "The order of the turns of a conversation, missing turns, and events outside of turns.",
    "Releases: their content, author, reason and time, and their order.",
    "The history of rows, compared with the releases that made it.",
    "The access log, feedback and the ledger, entry by entry.",
    "Participant, channel and workspace of each conversation, the API key that opened it, and the session before it.",
    "Drafts with their editors, reviews with their approvals, gradual releases, test runs with their results, and "
    "webhooks with their addresses.",
    "Runs of actions, also compared with the events of their turns; deliveries of webhooks, participants of threads, "
    "and stored answers. A removed one is missed once a daily root lists it, a removed run of an action at once.",
    "Stored classifiers and vectors of phrases.",
    "Whole conversations, once a daily root lists them.",
    "What was erased or removed by age: only if the product recorded it.",
    "The ledger as a whole: erasures and runs of its job say what it must have.",
    "The definitions of the views ce_audit and ce_llm_call_log.",
)
NOT_COVERED = (
    "Turns that were rewritten with all later turns of their conversation before the next daily root.",
    "Conversations that began and were removed between two daily roots.",
    "Entries of a chained table that were removed with its row in ce_chain before the next daily root.",
    "The edits of a draft, and the words of tests and of their results.",
    "A removal of the newest ledger entries together with all that they list, without an anchor file or command.",
    "Changes by a person who has the secret of this installation (CE_SECRET_KEY), without an anchor elsewhere.",
    "The present rows of the configuration: a change of them by SQL becomes a release of its own.",
    "The state of open conversations, memory, users, groups, API keys and runs of jobs.",
    "Deliveries, threads and stored answers that were written and removed between two daily roots, and an earlier "
    "state of one of them that was put back with its proof. Attempts of deliveries, and the index of names of people.",
    "The counts of reports and the outcomes of conversations: they can be counted anew from the record.",
    "What was never written: see masking and the level of the audit in the manual.",
)
