#!/bin/sh
# PDF to text with poppler's pdftotext, which keeps columns and tables better than the built-in reader.
#
# Contract of every file here: the document is the one argument, its text goes to stdout as UTF-8, a failure is a
# non-zero exit with its reason on stderr. Copy it into tools/extract/ of a fleet and approve it with: kb trust
# Needs: pdftotext (Debian: poppler-utils; macOS: brew install poppler)
set -eu
command -v pdftotext >/dev/null || { echo "pdf.sh: pdftotext is not on PATH; install poppler" >&2; exit 127; }
exec pdftotext -layout -enc UTF-8 "$1" -
