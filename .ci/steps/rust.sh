# The core: format, lints, tests.
cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
cargo check --locked --manifest-path fuzz/Cargo.toml # a workspace of its own, which the step fuzz runs
# The core alone, which is the default member: the binding needs a Python around it, and is tested from there.
cargo test --locked --release # debug builds hardly use wide registers
