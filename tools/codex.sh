#!/bin/sh
# Asks the `codex` command line, without a conversation.
#
#   in fleet.txt:   reviewer = tools/codex.sh reviewer [MODEL]
#
# Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
# stderr. The role (classifier, answerer, promoter, reviewer) is for the reader of fleet.txt: all are asked alike.
# Isolation: a read-only sandbox, no MCP servers, nothing kept of the session, and the empty folder that kb starts it in,
# so that it finds no instructions of a project.
set -eu
case ${1:-} in
  classifier | answerer | promoter | reviewer) ;;
  *) echo "codex.sh: the first argument is a role: classifier, answerer, promoter or reviewer" >&2; exit 2 ;;
esac
command -v codex >/dev/null || { echo "codex.sh: codex is not on PATH" >&2; exit 127; }
exec codex exec --sandbox read-only --skip-git-repo-check --ephemeral --color never -c 'mcp_servers={}' \
  ${2:+--model "$2"} -
