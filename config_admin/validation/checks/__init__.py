"""The save checks, a module a table; `FORM` judges the row by itself, `FIT` how it goes with the others."""
