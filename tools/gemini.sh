#!/bin/sh
# Asks the `gemini` command line, without a conversation.
#
#   in fleet.txt:   promoter = tools/gemini.sh promoter [MODEL]
#
# Contract: the whole prompt comes on stdin, the reply goes to stdout, a failure is a non-zero exit with its reason on
# stderr. The role (classifier, answerer, promoter, reviewer) only chooses a model. It signs in as `gemini` itself does,
# by GEMINI_API_KEY or an earlier login.
# Isolation: a settings file of its own, above the user's, turns off tools, MCP servers, hooks and context files; no
# extensions. The file goes into the empty folder that kb starts it in and that kb removes afterwards.
set -eu
case ${1:-} in
  classifier | answerer | promoter) model=gemini-2.5-flash ;;
  reviewer) model=gemini-2.5-pro ;;
  *) echo "gemini.sh: the first argument is a role: classifier, answerer, promoter or reviewer" >&2; exit 2 ;;
esac
command -v gemini >/dev/null || { echo "gemini.sh: gemini is not on PATH" >&2; exit 127; }
cat > "$PWD/kb-gemini-settings.json" <<'SETTINGS'
{"tools": {"core": [], "enableHooks": false}, "hooks": {"enabled": false}, "mcp": {"allowed": []}, "mcpServers": {},
 "context": {"fileName": "kb-no-such-context-file", "includeDirectoryTree": false}, "telemetry": {"enabled": false}}
SETTINGS
GEMINI_CLI_SYSTEM_SETTINGS_PATH=$PWD/kb-gemini-settings.json
export GEMINI_CLI_SYSTEM_SETTINGS_PATH
exec gemini --model "${2:-$model}" --extensions none --output-format text
