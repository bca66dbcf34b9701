"""Extractors: documents to text, by file extension."""
