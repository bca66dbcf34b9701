#!/bin/sh
# An old Word document to text with LibreOffice; copy it as ppt.sh, pptx.sh or wpd.sh for those.
#
# Contract: the document is the one argument, its text goes to stdout as UTF-8, a failure is a non-zero exit with its
# reason on stderr. It goes by way of PDF, which every kind of document can become.
# Needs: soffice (LibreOffice) and pdftotext
set -eu
for program in soffice pdftotext; do
  command -v "$program" >/dev/null || { echo "$(basename "$0"): $program is not on PATH" >&2; exit 127; }
done
# kb runs this in an empty folder of its own; the profile is made there too, so that an open LibreOffice is not disturbed.
soffice -env:UserInstallation="file://$PWD/profile" --headless --convert-to pdf --outdir out "$1" >&2
exec pdftotext -layout -enc UTF-8 out/*.pdf -
