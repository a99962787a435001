# What the scripts of this folder share; they source it from here. Sets `host` and the variables for cargo, or leaves.
host=x86_64-unknown-linux-gnu

left_out() {
  printf 'fuzz: left out, because %s\n' "$1"
  exit 0
}

[[ $(uname -sm) == "Linux x86_64" ]] || left_out "this is written for Linux on x86-64"
command -v cargo > /dev/null || left_out "there is no cargo"
runtime() { compgen -G "$(rustc --print sysroot)/lib/rustlib/$host/lib/librustc-*_rt.$1.a" > /dev/null; }
runtime asan || left_out "this Rust has no AddressSanitizer (rustup's toolchains have it)"

# Sanitizers are unstable options, which a stable compiler takes with this.
export RUSTC_BOOTSTRAP=1
# One thread computes: a pool for every input would take most of the time.
export RAYON_NUM_THREADS=1
