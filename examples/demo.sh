#!/bin/sh
# A tour in three questions: a hit, a guess and a refusal, then the list of what was missed. It works on a copy of
# examples/demo that is removed at the end, so nothing here is written.
set -eu
KB=$(command -v "${KB:-kb}") || { echo "kb is not installed: run make demo" >&2; exit 1; }
case $KB in /*) ;; *) KB=$PWD/$KB ;; esac
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp -R "$here/demo" "$scratch/demo"
cd "$scratch/demo"

run() {
  printf '\n$ kb'
  for word in "$@"; do
    case $word in *" "*) printf " '%s'" "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "$KB" "$@"
}

run index .
run route 'my sourdough starter smells of acetone, is it dead?'
run route 'what comes after the harvest?'
run route 'how do I renew my passport?'
run misses
cat <<'END'

That was a copy. To ask questions of your own, copy these lines:

    export PATH="$PWD/.venv/bin:$PATH"
    kb index examples/demo
    kb route 'when do I feed the bees?' examples/demo

Then open docs/tutorial/first-fleet.md, which makes a fleet of your own in ten minutes.
END
