"""SQL guardrails: functions and keywords that are allowed or blocked."""
