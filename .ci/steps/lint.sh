# Python: format, lints, types.
source .ci/common.sh
use_tools
make_environment lint "$(ioukit dev)"
ruff format --check .
ruff check .
mypy
