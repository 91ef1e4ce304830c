# The commands of every day; `just` alone lists them. Each is a plain command that runs without just as well.

_default:
    @just --list

# The built-in example: builds the program and compares policies
compare:
    cargo run --release -- compare

# All tests of the workspace
test:
    cargo test --workspace --locked

# Format, and clippy without warnings
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --features drystone-generators/all --locked -- -D warnings

# The site of the documents
docs:
    docs/build

# The package for Python: built and tested
python:
    python/test

# What must hold before a change lands
ci:
    .ci/run
