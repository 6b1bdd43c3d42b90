"""Sessions as the pipeline sees them: where one stands, what a message means to it, and how it goes on."""
