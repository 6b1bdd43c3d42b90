"""Container data: reference data that is fetched for an intent and state."""
