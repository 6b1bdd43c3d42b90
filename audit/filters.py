"""Which events are stored (api-and-audit 10, settings 2.11). The evidence is stored whatever the settings say."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from audit.stage_names import base_name
from convengine.domain import settings
from convengine.domain.catalogue import audit as catalogue
from convengine.domain.snapshot import Snapshot
from convengine.domain.stages import NEVER_FILTERED, Stage, is_error
from convengine.domain.trail import AuditEvent


@dataclass(frozen=True)
class AuditFilter:
    """The recording options of one release."""

    level: str
    include_stages: Sequence[str]
    exclude_stages: Sequence[str]
    include_intents: Sequence[str]
    exclude_intents: Sequence[str]
    persist_meta: bool

    @classmethod
    def of(cls, snapshot: Snapshot) -> "AuditFilter":
        """The options in force on a snapshot; read once a snapshot."""

        def build() -> AuditFilter:
            def value(setting: settings.Setting[Any]) -> Any:
                return settings.read(snapshot, setting).value

            return cls(
                value(catalogue.LEVEL),
                _upper(value(catalogue.INCLUDE_STAGES)),
                _upper(value(catalogue.EXCLUDE_STAGES)),
                _upper(value(catalogue.INCLUDE_INTENTS)),
                _upper(value(catalogue.EXCLUDE_INTENTS)),
                value(catalogue.PERSIST_META),
            )

        return snapshot.memo.get("audit filter", build)

    @property
    def keeps_everything(self) -> bool:
        """True when no event is left out."""
        return self.level == "ALL" and not (
            self.include_stages or self.exclude_stages or self.include_intents or self.exclude_intents
        )

    def keeps(self, event: AuditEvent) -> bool:
        """True when the event is stored."""
        return self.keeps_everything or base_name(event.stage) in NEVER_FILTERED or self._admitted(event)

    def _admitted(self, event: AuditEvent) -> bool:
        name, intent = event.stage.upper(), (event.session.intent or "").upper()
        if self.level == "NONE" or (self.level == "ERROR_ONLY" and not is_error(name)):
            return False
        if self.level == "STANDARD" and base_name(name) in (Stage.STEP_ENTER, Stage.STEP_EXIT):
            return False
        names = (name, base_name(name))
        return (
            (not self.include_stages or _any(names, self.include_stages))
            and not _any(names, self.exclude_stages)
            and (not self.include_intents or _any((intent,), self.include_intents))
            and not _any((intent,), self.exclude_intents)
        )


def _upper(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value.upper() for value in values)


def _any(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
