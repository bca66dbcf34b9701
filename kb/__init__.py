"""kb: which of my notes should this question open, and does the library hold the answer at all?"""

__version__ = "0.1.0"
