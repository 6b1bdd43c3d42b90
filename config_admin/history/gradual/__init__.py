"""The pages and the guard of a release that is given to a part of the conversations."""
