# What steps share; a step sources it.

# Runs a command that fetches packages. Without a network it fails after some minutes, and says so.
fetch() {
  timeout 15m "$@" && return
  echo "failed, or took longer than 15 minutes: $*" >&2
  return 1
}

# Makes an environment of Python that has the tool uv, and puts it first on the PATH.
use_tools() {
  [[ -d $work/tools ]] || { python3 -m venv "$work/tools" && fetch "$work/tools/bin/pip" install --quiet uv; }
  PATH=$work/tools/bin:$PATH
  # What PyPI offers of PyTorch is for CUDA: gigabytes that no test needs here. PyTorch's own index has it without.
  cpu=https://download.pytorch.org/whl/cpu
  torch=()
  if python3 -c "import urllib.request as r; r.urlopen('$cpu/torch/', timeout=10)" 2> "$work/index.log"; then
    torch=(--torch-backend cpu)
  fi
}

# Makes the step's environment of Python, installs into it, and puts it first on the PATH.
make_environment() { # options and requirements of `uv pip install`
  uv venv --quiet --python "${python:-python3}" "$scratch/environment"
  fetch uv pip install --quiet --python "$scratch/environment" "$@"
  PATH=$scratch/environment/bin:$PATH
  python --version
}

# Ends the step if the disk cannot hold it. A full disk would fail tests that have nothing to do with it.
need_space() { # gigabytes
  local free
  free=$(df -Pk "$work" | awk 'NR == 2 { print int($4 / 1e6) }')
  ((free >= $1)) && return
  echo "this step needs $1 GB of disk, and $work has $free GB: make room, or set TMPDIR to a folder that has" >&2
  return 1
}

# The wheel of this tree with some extras, as a requirement: `ioukit[test] @ file:...`. It is built once per run.
ioukit() {
  [[ -d $work/wheel ]] || fetch uvx --quiet maturin build --quiet --release --locked --out "$work/wheel" >&2
  echo "ioukit[$1] @ file://$(ls "$work"/wheel/*.whl)"
}

# Installs a package of the system where one may, if a command is missing. The tests that need it say so where they skip.
use_system() { # command, package
  if command -v "$1"; then
    return
  elif [[ $(id -u) == 0 ]] && command -v apt-get > "$work/apt.log" && DEBIAN_FRONTEND=noninteractive timeout 5m bash -c \
    "apt-get -q update && apt-get -qy install --no-install-recommends $2" < /dev/null >> "$work/apt.log" 2>&1; then
    echo "installed $(command -v "$1")"
  else
    tail -n 3 "$work/apt.log"
    echo "there is no $1, and it could not be installed: its tests will skip or take longer"
  fi
}
