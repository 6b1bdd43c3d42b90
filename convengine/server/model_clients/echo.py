"""A model that answers with its prompt, to see prompts without a service (`CE_LLM_PROVIDER=stub`)."""

from convengine.engine.turn.ports import LlmAnswer, LlmRequest


class EchoModel:
    """Text is the user's prompt, JSON an empty object."""

    configured = True

    def complete(self, request: LlmRequest) -> LlmAnswer:
        return LlmAnswer(request.user if request.json_schema is None else "{}", "stub", "stub")

    def allows(self, name: str) -> bool:
        return True

    def sum_cost(self, conversation_id: str) -> float:
        return 0.0
