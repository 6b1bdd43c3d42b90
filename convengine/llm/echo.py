"""A model that answers with what it was asked: to see prompts without a service (`CE_LLM_PROVIDER=stub`)."""

from convengine.domain.ports import LlmAnswer, LlmRequest


class EchoModel:
    """Text is the user's prompt, JSON an empty object."""

    configured = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Say it again."""
        return LlmAnswer(request.user if request.json_schema is None else "{}", "stub", "stub")

    def allows(self, name: str) -> bool:
        """There is nothing to choose."""
        return True

    def spent(self, conversation_id: str) -> float:
        """Nothing."""
        return 0.0
