"""Intent resolution: classifiers, the intent agent, and the fallback."""
