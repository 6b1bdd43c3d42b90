"""The record of turns: what a turn leaves is one row of `ce_conversation_history`.

The row has a header (texts, intent, state, status, times, cost) and three columns that no turn reads:

- `events`: everything that happened, as one JSON list, verbatim. `document` describes and writes it. The first event
  holds the whole session, each later one what it changed (`session_state`).
- `recording`: everything that the turn read and was answered, for replay (`convengine.server.turns.stored_recording`).
- `seal`: one SHA-256 over the whole row, the hash of its release and the seal before it, made in the turn's commit
  (`audit.seal`). It covers the row once more by parts, so that it stays valid when a part is
  removed. The conversation's row holds the hash of its newest seal.

Write   `turn_log` makes the statements of the turn's commit: `document` says which events are stored, `model_calls`
        and `prompts` what of a model call. `turn_index` makes the turn findable by deciding
        rows and rare stages. `running` stores the events of a turn that runs, if somebody watches; the commit deletes
        them.
Add     Events after the commit, and events outside of turns, are rows of their own (ADDITION), with their own chain.
Read    `queries` selects rows page by page; `events` makes events of their documents, with the session of each moment.
        `sql_views` defines `ce_audit` and `ce_llm_call_log` for SQL tools.
        What cannot be read of one row is an event EVENTS_UNREADABLE, and keeps nobody from reading the others.
Remove  `document_parts` splits a document into the parts that `retention` removes, each sealed on its own;
        `removals` records what is absent lawfully.
Verify  `audit.integrity` computes the seals again.
"""
