"""A third party's plugin for kb: a check, an extractor and a scorer."""
