"""Every stage with who writes it and what its payload holds (api-and-audit 9); what it says is `stage_help`."""

from collections.abc import Mapping

from convengine.domain.stage_facts.answering import ANSWERING
from convengine.domain.stage_facts.doing import DOING
from convengine.domain.stage_facts.told import Told, label
from convengine.domain.stage_facts.understanding import UNDERSTANDING
from convengine.domain.stages import Stage

__all__ = ["FACTS", "Told", "label"]
FACTS: Mapping[Stage, Told] = {**UNDERSTANDING, **DOING, **ANSWERING}
