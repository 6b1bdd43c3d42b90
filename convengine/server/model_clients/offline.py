"""Models without a service: none at all, and one that answers with its prompt (`CE_LLM_PROVIDER=stub`)."""

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


class EchoModel:
    """Text is the user's prompt, JSON an empty object."""

    configured = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return LlmAnswer(request.user if request.json_schema is None else "{}", "stub", "stub")

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0
