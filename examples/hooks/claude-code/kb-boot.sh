#!/bin/sh
# UserPromptSubmit: what kb boot prints is put in front of the model before it sees the message.
# It always ends with 0, because on this event 2 erases the person's message and 1 shows them an error.
#
# Add --all to the line below only where every session is the owner's own: it opens the private layer to the model.
[ -n "${KB_INSIDE_MODEL:-}" ] && exit 0
root=${KB_FLEET:-${CLAUDE_PROJECT_DIR:-$(dirname "$0")/../..}}
kb=${KB_BIN:-kb}
command -v "$kb" >/dev/null 2>&1 || exit 0
[ -d "$root/fleet" ] || [ -f "$root/fleet.txt" ] || exit 0
"$kb" boot "$root" --top 5
exit 0
