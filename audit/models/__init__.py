"""Tables of the record, append-only: of every turn, of its readers and of feedback (tables 6.3, 6.4; R58, R84)."""

from audit.models.access import CeAccessLog
from audit.models.chain import CeChainBase, CeChainCut, CeChainLink
from audit.models.erasure import CeErasure
from audit.models.feedback import CeMcpUserFeedback
from audit.models.finding import CeSavedSearch, CeTurnText
from audit.models.replay_job import CeReplayJob
from audit.models.sealed import AppendOnly
from audit.models.trail import CeAudit, CeLlmCallLog, CeTurnRow

__all__ = [
    "AppendOnly",
    "CeAccessLog",
    "CeAudit",
    "CeChainBase",
    "CeChainCut",
    "CeChainLink",
    "CeErasure",
    "CeLlmCallLog",
    "CeMcpUserFeedback",
    "CeReplayJob",
    "CeSavedSearch",
    "CeTurnRow",
    "CeTurnText",
]
