#!/bin/sh
# SessionEnd: the session's record becomes a deposit at once; the index and the promoters follow in the background, so
# that the host does not wait for a model. What they say is in .kb/hooks.log of the fleet.
[ -n "${KB_INSIDE_MODEL:-}" ] && exit 0
payload=$(cat)
root=${KB_FLEET:-${CLAUDE_PROJECT_DIR:-$(dirname "$0")/../..}}
kb=${KB_BIN:-kb}
command -v "$kb" >/dev/null 2>&1 || exit 0
[ -d "$root/fleet" ] || [ -f "$root/fleet.txt" ] || exit 0
[ -d "$root/.kb" ] || exit 0 # no message of any session was ever recorded here

log=$root/.kb/hooks.log
if [ -f "$log" ] && [ "$(wc -c < "$log")" -gt 400000 ]; then
  tail -c 100000 "$log" > "$log.$$" && mv "$log.$$" "$log"
fi
{
  printf '\n=== %s session ended\n' "$(date -u '+%Y-%m-%d %H:%M:%S')"
  top=$(git -C "$root" rev-parse --show-toplevel 2>/dev/null)
  if [ -n "$top" ] && [ -d "$top/.ai" ]; then # the lifecycle's boundary first: it knows how the session ended
    (cd "$root" && printf '%s' "$payload" | "$kb" session hook --provider claude-code --event end)
  fi
  printf '%s' "$payload" | "$kb" capture "$root"
} >> "$log" 2>&1

promote=
grep -q '^[[:space:]]*promoter[[:space:]]*=' "$root/fleet.txt" 2>/dev/null &&
  grep -q '^[[:space:]]*reviewer[[:space:]]*=' "$root/fleet.txt" && promote=yes
KB_HOOK_PROMOTE=$promote nohup sh -c '
  "$1" index "$2"
  if [ -n "$KB_HOOK_PROMOTE" ]; then
    "$1" promote "$2" --lock --max 3 && "$1" index "$2"
  fi
' kb-after "$kb" "$root" >> "$log" 2>&1 < /dev/null &
exit 0
