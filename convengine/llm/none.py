"""No model: the engine works without one (law 6)."""

from convengine.domain.ports import LlmAnswer, LlmRequest


class NoModel:
    """What stands at the model port of a deployment that has none."""

    configured = False

    def complete(self, request: LlmRequest) -> LlmAnswer:
        """Nothing can be asked."""
        return LlmAnswer(error_code="LLM_NOT_CONFIGURED", error_message="No model is configured.")

    def allows(self, name: str) -> bool:
        """There is nothing to choose."""
        return True

    def spent(self, conversation_id: str) -> float:
        """Nothing."""
        return 0.0
