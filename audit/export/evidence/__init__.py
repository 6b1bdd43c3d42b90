"""Evidence: turns as one HTML file that people read and print, and that `audit_verify --evidence` checks by itself."""
