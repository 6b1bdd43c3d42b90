"""What is kept of every turn, append-only (tables 6.3, 6.4; R58, R84), and of who reads it; what finding needs."""

from audit.models.access import CeAccessLog
from audit.models.chain import CeChainBase, CeChainCut, CeChainLink
from audit.models.erasure import CeErasure
from audit.models.finding import CeSavedSearch, CeTurnText
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
    "CeSavedSearch",
    "CeTurnRow",
    "CeTurnText",
]
