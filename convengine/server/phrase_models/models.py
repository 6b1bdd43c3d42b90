"""What was learned of phrases. Every row can be made again from a release, so nothing is lost with it."""

from django.db import models


class CePhraseModel(models.Model):
    """What a classifier learned, or who is making it. It has no texts: those are in the release."""

    name = models.CharField(max_length=64, primary_key=True, help_text="The hash of all that it is made from.")
    weights = models.BinaryField(null=True, help_text="Arrays of numbers; null while it is being made.")
    claimed_until = models.DateTimeField(null=True, help_text="Until then, one process is making it.")
    used_at = models.DateTimeField("used", help_text="When a process loaded it last, to the hour.")

    class Meta:
        db_table = "ce_phrase_model"
        verbose_name = "classifier of phrases"
        verbose_name_plural = "classifiers of phrases"
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.name)[:12]


class CePhraseVector(models.Model):
    """What a text means, as numbers, so that an edit encodes only what is new."""

    name = models.CharField(max_length=64, primary_key=True, help_text="The hash of the text and of the encoder.")
    vector = models.BinaryField(help_text="Numbers of two bytes.")
    made_at = models.DateTimeField("made", help_text="When it was stored.")

    class Meta:
        db_table = "ce_phrase_vector"
        verbose_name = "vector of a phrase"
        verbose_name_plural = "vectors of phrases"
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.name)[:12]
