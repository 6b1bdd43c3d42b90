"""A model for tests of a bot: the script answers first, then a recording, then the model of the installation."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from convengine.engine.llm.scripted import ScriptedModel
from convengine.engine.turn.ports import LlmAnswer, LlmRequest, ModelPort
from convengine.json_value import Json
from convengine.play.schema import ScenarioFileError

FORMAT, VERSION = "convengine-recording", 1
_EXCERPT = 200


@dataclass
class ModelRecording:
    """The answers of a model by purpose and prompt, as a file."""

    path: Path
    calls: dict[tuple[str, str], Mapping[str, Json]] = field(default_factory=dict)
    is_changed: bool = False

    @classmethod
    def read(cls, path: Path, *, may_be_new: bool) -> "ModelRecording":
        """The recording of a file; an empty one for a new file. Raises ScenarioFileError."""
        if may_be_new and not path.exists():
            return cls(path)
        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            raise ScenarioFileError(
                str(path), f"cannot be read: {error}. Make it with --record, which asks the model."
            ) from error
        if not isinstance(document, dict) or (document.get("format"), document.get("version")) != (FORMAT, VERSION):
            raise ScenarioFileError(str(path), f"is not a {FORMAT} of version {VERSION}.")
        try:
            return cls(path, {(call["purpose"], call["prompt"]): call for call in document.get("calls") or ()})
        except (KeyError, TypeError):
            raise ScenarioFileError(f"{path}, calls", "are objects with `purpose` and `prompt`.") from None

    def find_answer(self, request: LlmRequest) -> LlmAnswer | None:
        """The recorded answer to this prompt. Returns None if there is none."""
        call = self.calls.get((request.purpose, _hash_prompt(request)))
        if call is None:
            return None
        return LlmAnswer(
            call.get("reply", ""),
            provider="recorded",
            model=str(call.get("model", "")),
            error_code=call.get("error_code"),
            error_message=call.get("error"),
        )

    def add(self, request: LlmRequest, answer: LlmAnswer) -> None:
        prompt = _hash_prompt(request)
        failure = {"error": answer.error_message, "error_code": answer.error_code} if answer.error_code else {}
        self.calls[request.purpose, prompt] = {
            "purpose": request.purpose,
            "prompt": prompt,
            "user": request.user[-_EXCERPT:],
            "model": answer.model,
            "reply": answer.text,
            **failure,
        }
        self.is_changed = True

    def save(self) -> None:
        """Write the file if answers were added. Raises OSError."""
        if not self.is_changed:
            return
        document = {"format": FORMAT, "version": VERSION, "calls": list(self.calls.values())}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110), encoding="utf-8")
        self.is_changed = False


def _hash_prompt(request: LlmRequest) -> str:
    return hashlib.sha256(f"{request.system}\0{request.user}\0{request.context_json}".encode()).hexdigest()[:32]


@dataclass
class TestModel(ScriptedModel):
    """The first of script, recording and live model that answers."""

    __test__ = False
    recording: ModelRecording | None = None
    #: The model of the installation, whose answers are recorded; None when it is not asked.
    live: ModelPort | None = None
    #: Calls of purposes without a line are no mistake of the script: the model is unavailable for them.
    is_partial: bool = False

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """The answer of the script, else of the recording, else of the live model, which is recorded."""
        if self.is_partial and not any(request.purpose in line.purposes for line in self.lines):
            return LlmAnswer(error_code="LLM_CALL_FAILED", error_message="The test has no stub for this purpose.")
        if self.has_answer(request):
            return super().complete(request)
        if self.recording and (recorded := self.recording.find_answer(request)):
            return recorded
        if self.live is None:
            return super().complete(request)
        answer = self.live.complete(request)
        if self.recording:
            self.recording.add(request, answer)
        return answer
