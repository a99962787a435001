# The README's commands for the tests: what a user runs, without PyTorch.
source .ci/common.sh
use_system chromium chromium # for tests/browser, and to print PDF
use_system chromium-headless-shell chromium-headless-shell # for tests/browser, in two thirds of the time
# The very block of the README, in an environment of its own, whatever stands in .venv.
awk '/^<!-- test -->$/ { found = 1; next } found && /^```/ { if (inside) exit; inside = 1; next } inside' README.md \
  | sed "s|\.venv|$scratch/environment|g" > "$scratch/readme.sh"
cat "$scratch/readme.sh"
[[ -s $scratch/readme.sh ]] || { echo "README.md has no block behind the line <!-- test -->" >&2; exit 1; }
# The report tells the step `everything` which tests skipped.
export PYTEST_ADDOPTS="--junitxml=$work/readme.xml --durations=10"
bash -euo pipefail "$scratch/readme.sh" | tee "$scratch/readme.log"
tail -n 1 "$scratch/readme.log" > "$work/closing_line"
