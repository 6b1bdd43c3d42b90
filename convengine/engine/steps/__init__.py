"""The steps of the pipeline, one package per topic."""
