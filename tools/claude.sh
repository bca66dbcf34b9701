#!/bin/sh
# Asks the `claude` command line (Claude Code in print mode).
#
#   in fleet.txt:   classifier = tools/claude.sh classifier
#                   answerer   = tools/claude.sh answerer [MODEL]
#
# Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
# stderr. The role (classifier, answerer, promoter, reviewer) only chooses a model and how many turns it may take.
# Isolation, so that it answers and does nothing else:
#   no hooks        or it would run the fleet's own prompt hook, which would ask the classifier again, without end
#   no MCP servers  a judge that can search the library becomes a second agent
#   no tools, and a bound on its turns
set -eu
case ${1:-} in
  classifier) model=claude-haiku-4-5-20251001 turns=1 ;;
  answerer)   model=claude-sonnet-5 turns=2 ;;
  promoter)   model=claude-sonnet-5 turns=1 ;;
  reviewer)   model=claude-opus-5 turns=2 ;;
  *) echo "claude.sh: the first argument is a role: classifier, answerer, promoter or reviewer" >&2; exit 2 ;;
esac
command -v claude >/dev/null || { echo "claude.sh: claude is not on PATH" >&2; exit 127; }
exec claude -p --output-format text --model "${2:-$model}" --max-turns "$turns" \
  --strict-mcp-config --mcp-config '{"mcpServers":{}}' \
  --settings '{"hooks":{},"disableAllHooks":true}' \
  --disallowedTools 'Bash,Read,Edit,Write,NotebookEdit,Glob,Grep,WebFetch,WebSearch,Task'
