# With PyTorch, JAX and all that a test compares with: the tests that skipped before; no test may skip in both.
source .ci/common.sh
use_tools
use_system java default-jre-headless # for Spark
make_environment everything "${torch[@]}" --excludes .ci/environments/excludes.txt \
  -r .ci/environments/everything.txt "$(ioukit "fsspec,jax,onnx,opencv,pandas,polars,ray,test,torch,wandb")"
files=()
reports=("$work/everything.xml")
if [[ -f $work/readme.xml ]]; then # else all files
  python .ci/skips.py files "$work/readme.xml" > "$work/files"
  mapfile -t files < "$work/files"
  reports+=("$work/readme.xml")
fi
pytest --junitxml="$work/everything.xml" --durations=10 "${files[@]}"
python .ci/skips.py check "${reports[@]}"
