"""What the calls of the API about the record share: who may read what, parameters and runs; and the list of stages."""
