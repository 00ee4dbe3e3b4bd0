# The source at its commit, an environment for it, and the small model where one is needed.
if [ -n "$revision" ]; then
  rm -rf "$work/source"
  git clone --quiet -- "$source" "$work/source"
  git -C "$work/source" checkout --quiet --detach "$revision"
  source=$work/source
fi
cd -- "$source"

python=${SAUDA_PYTHON:-}
if [ -z "$python" ]; then
  python3 -m venv "$work/venv"
  python=$work/venv/bin/python
  "$python" -m pip install --quiet --editable ".$extras"
  if [ -n "$small" ]; then
    "$python" -m pip install --quiet --no-deps "$small"
  fi
fi
if [ "$device" = cuda ]; then
  "$python" -c 'import sys, torch; sys.exit(None if torch.cuda.is_available() else "torch sees no GPU here")'
fi
case $model in
toy | mini) "$python" -m sauda weights ;;
esac
