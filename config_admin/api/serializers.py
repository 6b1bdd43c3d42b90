"""Shapes of the configuration endpoints, for the API's own description."""

from typing import Any

from rest_framework import serializers


class TableSerializer(serializers.Serializer[Any]):
    """A table of the configuration."""

    table = serializers.CharField()
    rows = serializers.IntegerField()


class TablesSerializer(serializers.Serializer[Any]):
    """The tables of the release in force."""

    configVersion = serializers.IntegerField()
    tables = TableSerializer(many=True)


class RowsSerializer(serializers.Serializer[Any]):
    """Some rows of a table of the release in force; `next` is `after` of the next page, null at the end."""

    configVersion = serializers.IntegerField()
    table = serializers.CharField()
    next = serializers.CharField(allow_null=True)
    rows = serializers.ListField(child=serializers.JSONField())
