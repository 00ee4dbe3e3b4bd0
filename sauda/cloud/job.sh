set -euo pipefail
set -m # every child leads a process group, so that it can be ended together with its own children
export PYTHONUNBUFFERED=1 HF_HUB_DISABLE_PROGRESS_BARS=1 GIT_TERMINAL_PROMPT=0

folder='' # of results under way, which the bucket has under the same path
options=() # of its upload

# A hidden file is one that is being written.
upload() {
  hf buckets sync --quiet --exclude '.*' "${options[@]}" "$folder" "$bucket/$folder"
}

# FOLDER [OPTION...]: brings the folder back from the bucket; from then on it is kept there.
open() {
  close
  mkdir -p "$1"
  hf buckets sync --quiet "$bucket/$1" "$1"
  folder=$1 options=("${@:2}")
  while sleep 300; do
    upload || echo "that upload failed; the next is in 300 s" >&2
  done &
}

close() {
  local child
  for child in $(jobs -p); do
    kill -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  done
  if [ -n "$folder" ]; then
    upload || return 1 # without a number it would be the code from before the trap
    folder=''
  fi
}

# Whatever ended the script, the last state is kept; the exit code stays that of the work.
finish() {
  local code=$?
  trap - EXIT HUP INT TERM
  set +e
  close || code=$((code ? code : 1))
  exit "$code"
}

# COMMAND...: not in the foreground, so that a signal is answered at once.
run() {
  "$@" &
  wait "$!"
}

# STAGE NAME [OPTION...]: trains it, or resumes it; NAME is what its artifact is called.
train() {
  local stage=$1 name=$2
  shift 2
  open "runs/$stage" --delete # checkpoints that training removed
  if [ -e "$folder/run.json" ]; then
    echo "resuming the run of $stage"
    set -- "$@" --resume
  fi
  run python -m sauda train "$stage" --out "$folder" "$@"
  if [ -e "artifacts/training/$name.json" ]; then # that of a toy is in its folder
    mkdir -p "$folder/training"
    cp "artifacts/training/$name.json" "$folder/training/"
  fi
}

trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

git clone --quiet -- "$source" sauda
cd sauda
git checkout --quiet --detach "$revision"
pip install --quiet --editable ".$extras"
