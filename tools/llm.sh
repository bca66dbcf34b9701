#!/bin/sh
# Asks the `llm` command line, which speaks to many hosted and local models.
#
#   in fleet.txt:   answerer = tools/llm.sh answerer [MODEL]
#
# Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
# stderr. The role (classifier, answerer, promoter, reviewer) is for the reader of fleet.txt; without MODEL llm uses its
# own default. Nothing is kept in llm's log of conversations, and it gets no tools.
set -eu
case ${1:-} in
  classifier | answerer | promoter | reviewer) ;;
  *) echo "llm.sh: the first argument is a role: classifier, answerer, promoter or reviewer" >&2; exit 2 ;;
esac
command -v llm >/dev/null || { echo "llm.sh: llm is not on PATH" >&2; exit 127; }
exec llm prompt --no-stream --no-log ${2:+--model "$2"}
