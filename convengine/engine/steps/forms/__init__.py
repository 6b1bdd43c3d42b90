"""Collecting a form: reading values from a message, by the engine or by a model."""
