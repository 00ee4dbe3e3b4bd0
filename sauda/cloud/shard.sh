set -euo pipefail
export PYTHONUNBUFFERED=1 HF_HUB_DISABLE_PROGRESS_BARS=1 GIT_TERMINAL_PROMPT=0

parts=$work/$name
child='' # the process that plays

# Whatever ended the script, the pieces that were played are kept; its code stays what it was. Other
# shards write to the same results, and of two at a time the Hub refuses one.
finish() {
  local code=$? pause
  trap - EXIT HUP INT TERM
  set +e
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null
    wait "$child"
  fi
  if [ ! -e "$parts/plan.json" ]; then
    exit "$code"
  fi
  for pause in 5 10 20 40 80; do
    if "$python" -m sauda jobs upload "$parts" --to "$results"; then
      exit "$code"
    fi
    echo "that upload failed; the next is in $pause s" >&2
    sleep "$pause"
  done
  exit "$((code ? code : 1))"
}

# ARGUMENT...: plays the pieces that an earlier attempt has not kept.
play() {
  "$python" -m sauda jobs download "$name" --from "$results" --into "$work"
  "$python" -m sauda shards play --folder "$parts" --workers "$(nproc)" "$@" &
  child=$!
  wait "$child" # not in the foreground: a signal is answered at once
  child=''
}

trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$work"
