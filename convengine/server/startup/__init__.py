"""What happens once per process: system checks, and preparation."""
