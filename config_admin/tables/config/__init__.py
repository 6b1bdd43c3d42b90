"""Settings: values that replace defaults."""
