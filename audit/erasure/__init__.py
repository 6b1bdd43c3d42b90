"""Erasing the personal data of a participant from the record."""
