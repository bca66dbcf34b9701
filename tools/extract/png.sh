#!/bin/sh
# A picture of text to text by character recognition; copy it as jpg.sh, jpeg.sh or tiff.sh.
#
# Contract: the document is the one argument, its text goes to stdout as UTF-8, a failure is a non-zero exit with its
# reason on stderr. KB_OCR_LANGUAGES names tesseract's languages, such as por+eng (eng without it).
# Needs: tesseract (Debian: tesseract-ocr; macOS: brew install tesseract)
set -eu
command -v tesseract >/dev/null || { echo "$(basename "$0"): tesseract is not on PATH" >&2; exit 127; }
exec tesseract "$1" stdout -l "${KB_OCR_LANGUAGES:-eng}"
