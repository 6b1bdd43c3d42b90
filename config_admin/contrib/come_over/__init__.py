"""A bot of Rasa or Dialogflow becomes flows: what comes along, what does not and why (docs/come_over.md)."""
