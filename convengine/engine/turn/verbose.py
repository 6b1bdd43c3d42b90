"""A progress or error text for people who wait for an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

INFO = "INFO"
ERROR = "ERROR"


@dataclass(frozen=True)
class VerboseLine:
    """One rendered text. Its metadata contains only what may leave the server."""

    step_name: str
    determinant: str
    intent: str | None
    state: str | None
    level: str
    text: str
    #: The row of the text. None for the general text and for texts of code.
    verbose_id: int | None = None
    rule_id: Any = None
    tool_code: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The line for clients: the text is in `message` or `errorMessage`, depending on its level."""
        failed = self.level == ERROR
        return {
            "verboseId": self.verbose_id,
            "eventType": "VERBOSE_PROGRESS",
            "stepName": self.step_name,
            "determinant": self.determinant,
            "intent": self.intent,
            "state": self.state,
            "ruleId": self.rule_id,
            "toolCode": self.tool_code,
            "level": self.level,
            "text": self.text,
            "message": None if failed else self.text,
            "errorMessage": self.text if failed else None,
            "metadata": dict(self.metadata),
        }


#: Gets each text when it is published.
VerboseListener = Callable[[VerboseLine], None]
