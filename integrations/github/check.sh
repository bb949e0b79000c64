#!/usr/bin/env bash
# The steps of the GitHub Action: runs wmfix and leaves SARIF for the upload.
# Reads WMFIX_PATH, WMFIX_OPTIONS, WMFIX_SARIF, WMFIX_COMMAND; the last is one
# shell command that replaces the test command. Ends as wmfix does.
set -u
path=${WMFIX_PATH:-.}
sarif=${WMFIX_SARIF:-wmfix.sarif}
# Options are words, as on a command line.
read -r -a options <<<"${WMFIX_OPTIONS:-}"
test=()
if [ -n "${WMFIX_COMMAND:-}" ]; then
  test=(-- sh -c "$WMFIX_COMMAND")
fi
wmfix check "$path" ${options[@]+"${options[@]}"} --format sarif ${test[@]+"${test[@]}"} >"$sarif"
status=$?
# Without a report there is nothing to upload: an empty file would fail there.
[ -s "$sarif" ] || rm -f "$sarif"
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  [ -e "$sarif" ] && echo "sarif=$sarif" >>"$GITHUB_OUTPUT"
  echo "status=$status" >>"$GITHUB_OUTPUT"
fi
case $status in
  0) echo "wmfix: no findings" ;;
  1) echo "wmfix: there are findings: $sarif" ;;
  *) echo "::error title=wmfix::wmfix ended with $status; see the log" ;;
esac
exit "$status"
