#!/bin/sh
# A tour in three questions: a hit, a guess and a refusal, on a copy of examples/demo so that nothing here is written.
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
printf '\nThe refusal was counted: kb misses shows it. Ask your own: kb route "<question>" examples/demo\n'
