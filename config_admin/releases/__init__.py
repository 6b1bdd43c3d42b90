"""Every change of configuration as a release: recorded, published on save, stored by content."""
