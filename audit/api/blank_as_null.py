"""Answers of the API whose blank texts are null, where the schema allows it."""

from typing import Any

from rest_framework import serializers


class BlankAsNullSerializer(serializers.Serializer[Any]):
    """The base of such answers."""

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """With null in place of blank."""
        answer = super().to_representation(instance)
        return {name: None if value == "" and self.fields[name].allow_null else value for name, value in answer.items()}
