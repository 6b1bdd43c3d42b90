"""No model: the engine works without one (law 6)."""

from convengine.engine.turn.ports import LlmAnswer, LlmRequest


class NoModel:
    """The model port of a deployment without a model."""

    configured = False

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return LlmAnswer(error_code="LLM_NOT_CONFIGURED", error_message="No model is configured.")

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0
