#!/bin/sh
# A scanned PDF to text by character recognition. Install it as tools/extract/pdf.sh in a fleet whose PDFs are scans.
#
# Contract: the document is the one argument, its text goes to stdout as UTF-8, a failure is a non-zero exit with its
# reason on stderr. KB_OCR_LANGUAGES names tesseract's languages, such as por+eng (eng without it).
# Needs: ocrmypdf (Debian: ocrmypdf; macOS: brew install ocrmypdf) and pdftotext
set -eu
for program in ocrmypdf pdftotext; do
  command -v "$program" >/dev/null || { echo "pdf-scanned.sh: $program is not on PATH" >&2; exit 127; }
done
ocrmypdf --quiet --skip-text -l "${KB_OCR_LANGUAGES:-eng}" "$1" read.pdf >&2  # kb runs this in an empty folder of its own
exec pdftotext -layout -enc UTF-8 read.pdf -
