# The lowest versions that pyproject.toml allows, on the lowest Python at hand.
source .ci/common.sh
use_tools
need_space 12 # most of it the libraries of CUDA, which PyPI gives with PyTorch
for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.10.*/bin/python3.10 python3.10 python3; do
  "$python" --version 2> "$scratch/python.log" && break
done
# Of a wheel, uv would take the newest versions: only what the file itself asks for is direct. And wheels alone: an old
# version without one for this Python does not build on every machine.
extras=(fsspec jax mlflow onnx opencv pandas polars ray test torch wandb)
make_environment "${torch[@]}" --resolution lowest-direct --only-binary :all: \
  --constraint .ci/environments/lowest.txt -r pyproject.toml "${extras[@]/#/--extra=}"
uv pip install --quiet --python "$scratch/environment" --no-deps "$(ioukit test)"
python -c "import jax, numpy, torch; print(f'NumPy {numpy.__version__}, PyTorch {torch.__version__}, JAX {jax.__version__}')"
# Old packages use what newer ones, which they allow, have deprecated since; JAX warned of every fork.
old=(default::DeprecationWarning default::PendingDeprecationWarning default::FutureWarning)
PYTHONWARNINGS=$(IFS=, && echo "${old[*]}") # of programs
export PYTHONWARNINGS
options=("${old[@]/#/-W}" "-Wdefault:os.fork() was called:RuntimeWarning")
# The pictures of the pages are those of the newest matplotlib.
pytest -m "not slow" --durations=10 "${options[@]}" --ignore tests/browser --ignore-glob "*/test_ray*" \
  --deselect tests/test_docs.py::test_committed_figures_are_up_to_date
# As in `everything`: Ray apart.
RAY_raylet_start_wait_time_s=200 pytest -n 0 "${options[@]}" tests/scale/test_ray*.py
