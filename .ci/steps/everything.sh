# With PyTorch, JAX and all that a test compares with: the tests that skipped before; no test may skip in both.
source .ci/common.sh
use_tools
use_system java default-jre-headless # for Spark
make_environment everything "${torch[@]}" --excludes .ci/environments/excludes.txt \
  -r .ci/environments/everything.txt "$(ioukit "fsspec,jax,onnx,opencv,pandas,polars,ray,test,torch,wandb")"
files=(tests --ignore-glob="*/test_ray*")
reports=("$work/everything.xml" "$work/ray.xml") # of two reasons to skip, the one in the later report counts
if [[ -f $work/readme.xml ]]; then # else all files
  python .ci/skips.py files "$work/readme.xml" > "$work/files"
  mapfile -t files < <(grep -v /test_ray "$work/files")
  reports=("$work/readme.xml" "${reports[@]}")
fi
pytest --junitxml="$work/everything.xml" --durations=10 "${files[@]}"
# Ray starts processes of its own, for which importing everything takes long, and looks at what other tests leave behind.
RAY_raylet_start_wait_time_s=200 pytest -n 0 --junitxml="$work/ray.xml" tests/scale/test_ray*.py
python .ci/skips.py check "${reports[@]}"
