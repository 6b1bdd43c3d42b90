"""Which events are stored. Evidence is stored whatever the settings say (api-and-audit 10, settings 2.11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from convengine.engine.pipeline.stages import STEP_ENTER, STEP_EXIT
from convengine.engine.stages import ALWAYS_RECORDED, base_name
from convengine.engine.turn import audit_settings as catalogue
from convengine.engine.turn import live_settings
from convengine.engine.turn.snapshot import Snapshot
from convengine.engine.turn.stage import is_error
from convengine.engine.turn.trail import AuditEvent


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
        """The options of a snapshot, cached."""

        def build() -> AuditFilter:
            def value(setting: live_settings.Setting[Any]) -> Any:
                return live_settings.read(snapshot, setting).value

            return cls(
                value(catalogue.LEVEL),
                _to_upper(value(catalogue.INCLUDE_STAGES)),
                _to_upper(value(catalogue.EXCLUDE_STAGES)),
                _to_upper(value(catalogue.INCLUDE_INTENTS)),
                _to_upper(value(catalogue.EXCLUDE_INTENTS)),
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
        return self.keeps_everything or base_name(event.stage) in ALWAYS_RECORDED or self._admits(event)

    def _admits(self, event: AuditEvent) -> bool:
        name, intent = event.stage.upper(), (event.session.intent or "").upper()
        if self.level == "NONE" or (self.level == "ERROR_ONLY" and not is_error(name)):
            return False
        if self.level == "STANDARD" and base_name(name) in (STEP_ENTER, STEP_EXIT):
            return False
        names = (name, base_name(name))
        return (
            (not self.include_stages or _matches_any(names, self.include_stages))
            and not _matches_any(names, self.exclude_stages)
            and (not self.include_intents or _matches_any((intent,), self.include_intents))
            and not _matches_any((intent,), self.exclude_intents)
        )


def _to_upper(values: Sequence[str]) -> tuple[str, ...]:
    return tuple(value.upper() for value in values)


def _matches_any(names: Sequence[str], patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for name in names for pattern in patterns)
