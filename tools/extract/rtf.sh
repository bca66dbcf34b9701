#!/bin/sh
# Whatever pandoc reads to markdown: rtf as it stands; copy or link it as rst.sh, org.sh, tex.sh, ipynb.sh, fb2.sh.
#
# Contract: the document is the one argument, its text goes to stdout as UTF-8, a failure is a non-zero exit with its
# reason on stderr. The sandbox keeps a document from pulling in other files.
# Needs: pandoc
set -eu
command -v pandoc >/dev/null || { echo "$(basename "$0"): pandoc is not on PATH" >&2; exit 127; }
exec pandoc --sandbox --to=markdown --wrap=none -- "$1"
