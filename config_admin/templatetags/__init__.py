"""Template tags of the configuration's pages."""
