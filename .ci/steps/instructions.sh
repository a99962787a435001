# Instructions that calls take, beside stored counts: a clock on a shared machine does not see a few per cent.
source .ci/common.sh
use_tools
use_system valgrind valgrind
command -v valgrind || { echo "left out: this needs valgrind"; exit; }
numpy=$(python3 -c "import json; print(json.load(open('benchmarks/instructions.json'))['versions']['numpy'])")
make_environment "$(ioukit plots)" "numpy==$numpy"
python benchmarks/instructions.py
