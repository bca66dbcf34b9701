#!/bin/sh
# PreCompact: the host is about to forget the conversation. kb's own record of it is on disk already, so all that is
# left to do is the lifecycle's checkpoint, where the fleet lies in a repository that has one (.ai/).
[ -n "${KB_INSIDE_MODEL:-}" ] && exit 0
payload=$(cat)
root=${KB_FLEET:-${CLAUDE_PROJECT_DIR:-$(dirname "$0")/../..}}
kb=${KB_BIN:-kb}
command -v "$kb" >/dev/null 2>&1 || exit 0
top=$(git -C "$root" rev-parse --show-toplevel 2>/dev/null) || exit 0
[ -d "$top/.ai" ] || exit 0
cd "$root" && printf '%s' "$payload" | "$kb" session hook --provider claude-code --event compact
exit 0
