"""Tables of the record, append-only: of every turn, of its readers and of feedback."""

from audit.models.access import CeAccessLog
from audit.models.alert import CeAlert, CeAlertMessage, CeAlertRule
from audit.models.count import CeCountProgress, CeOutcome, CeTurnCount
from audit.models.feedback import CeMcpUserFeedback
from audit.models.finding import CeSavedSearch, CeTurnText
from audit.models.inbox import CeInboxGroup, CeInboxMessage
from audit.models.ledger import CeChainBase, CeChainCut, CeErasure, CeLedger, CeSealedState
from audit.models.replay_job import CeReplayJob
from audit.models.sealed import AppendOnly, CeChain
from audit.models.trail import CeAudit, CeLlmCallLog, CeRunningEvent, CeTurnIndex
from audit.models.what_if import CeWhatIf, CeWhatIfTurn

__all__ = [
    "AppendOnly",
    "CeAccessLog",
    "CeAlert",
    "CeAlertMessage",
    "CeAlertRule",
    "CeAudit",
    "CeChain",
    "CeChainBase",
    "CeChainCut",
    "CeCountProgress",
    "CeErasure",
    "CeInboxGroup",
    "CeInboxMessage",
    "CeLedger",
    "CeLlmCallLog",
    "CeMcpUserFeedback",
    "CeOutcome",
    "CeReplayJob",
    "CeRunningEvent",
    "CeSavedSearch",
    "CeSealedState",
    "CeTurnCount",
    "CeTurnIndex",
    "CeTurnText",
    "CeWhatIf",
    "CeWhatIfTurn",
]
