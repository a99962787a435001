# Python: format, lints, types.
source .ci/common.sh
use_tools
make_environment "$(ioukit dev)"
ruff format --check .
ruff check .
mypy
