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

# Rewrites the expected texts of help and schemas: read the difference before you commit it
snapshots:
    INSTA_UPDATE=always cargo test --locked -p drystone-cli --test cli

# The site of the documents, which has the help of the program
docs:
    cargo build
    docs/build

# The package for Python: built and tested
python:
    python/test

# What must hold before a change lands
ci:
    .ci/run
