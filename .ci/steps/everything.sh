# With PyTorch, JAX and all that a test compares with: the tests that skipped before; no test may skip in both.
source .ci/common.sh
use_tools
need_space 12 # most of it the libraries of CUDA, which PyPI gives with PyTorch
use_system java default-jre-headless # for Spark
make_environment "${torch[@]}" --excludes .ci/environments/excludes.txt \
  -r .ci/environments/everything.txt "$(ioukit "fsspec,jax,onnx,opencv,pandas,polars,ray,test,torch,wandb")"
chosen=(tests --ignore-glob="*/test_ray*")
reports=("$scratch/everything.xml" "$scratch/ray.xml") # of two reasons to skip, the one in the later report counts
if [[ -f $work/readme.xml ]]; then # else all; those that passed run beside PyTorch in the step `lowest`
  python .ci/skips.py tests "$work/readme.xml" > "$scratch/skipped"
  mapfile -t chosen < <(grep -v /test_ray "$scratch/skipped")
  reports=("$work/readme.xml" "${reports[@]}")
fi
pytest --junitxml="$scratch/everything.xml" --durations=10 "${chosen[@]}"
# Ray starts processes of its own, for which importing everything takes long, and looks at what other tests leave behind.
RAY_raylet_start_wait_time_s=200 pytest -n 0 --junitxml="$scratch/ray.xml" tests/scale/test_ray*.py
python .ci/skips.py check "${reports[@]}"
