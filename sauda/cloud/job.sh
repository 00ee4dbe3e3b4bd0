set -euo pipefail
set -m # every child leads a process group, so that it can be ended together with its own children
export PYTHONUNBUFFERED=1 HF_HUB_DISABLE_PROGRESS_BARS=1 GIT_TERMINAL_PROMPT=0

folder=''   # of the stage under way
children=() # of the stage under way: what uploads its folder, and its training

# FOLDER: one without a run is never sent, for it would replace what is kept.
upload() {
  if [ -e "$1/run.json" ]; then
    "$python" -m sauda jobs upload "$1" --to "$results"
  fi
}

# FOLDER: ends with the script, even where that is killed.
keep_uploading() {
  while sleep "$every" && kill -0 $$ 2>/dev/null; do
    upload "$1" || echo "that upload failed; the next is in $every s" >&2
  done
}

end_children() {
  for child in "${children[@]}"; do
    kill -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  done
  children=()
}

# Whatever ended the script, the last state of the stage is kept; its code stays that of the stage.
finish() {
  local code=$?
  trap - EXIT HUP INT TERM
  set +e
  end_children
  upload "$folder" || code=$((code ? code : 1))
  exit "$code"
}

# STAGE NAME [OPTION...]: trains it, or resumes it; NAME is what its artifact is called.
train() {
  local stage=$1 name=$2 run=$work/runs/$1
  shift 2
  if [ ! -e "$run/run.json" ]; then
    "$python" -m sauda jobs download "$stage" --from "$results" --into "$work/runs"
  fi
  if [ -e "$run/run.json" ]; then
    echo "resuming the run of $stage"
    set -- "$@" --resume
  fi
  folder=$run
  keep_uploading "$run" &
  children=("$!")
  "$python" -m sauda train "$stage" --model "$model" --out "$run" "$@" &
  children+=("$!")
  wait "$!" # not in the foreground: a signal is answered at once
  end_children
  if [ "$model" != toy ]; then # a toy's artifact is in its folder
    mkdir -p "$run/training"
    cp "artifacts/training/$name.json" "$run/training/"
  fi
  upload "$run"
  folder=''
}

trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

mkdir -p "$work/runs"
