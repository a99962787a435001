# The lowest versions that pyproject.toml allows, on the lowest Python at hand.
source .ci/common.sh
use_tools
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.10.*/bin/python3.10 python3.10 python3; do
  "$python" --version 2> "$work/python.log" && break
done
# Wheels alone: an old version without one for this Python does not build on every machine.
make_environment lowest "${torch[@]}" --resolution lowest-direct --only-binary :all: \
  --constraint .ci/environments/lowest.txt \
  "$(ioukit "fsspec,jax,mlflow,onnx,opencv,pandas,polars,ray,test,torch,wandb")"
# Old packages use what newer ones, which they allow, have deprecated since.
pytest -m "not slow" --durations=10 \
  -W default::DeprecationWarning -W default::PendingDeprecationWarning -W default::FutureWarning
