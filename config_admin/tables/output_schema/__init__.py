"""Forms: the fields to collect for an intent."""
