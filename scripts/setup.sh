#!/bin/sh
# Makes sure that this machine has what a target needs: `setup.sh build|test`.
# As root on a Debian-like host it installs what is missing; anywhere else it says exactly what to install.
set -eu

purpose=${1:-build}
missing=""    # Debian package names
manual=""     # what apt cannot give

need() { # need COMMAND PACKAGE
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}

at_least() { # at_least HAVE WANT
    [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

need cc gcc
need make make
need taskset util-linux
need dpkg-deb dpkg
need python3 python3
python3 -c 'import venv, ensurepip' 2>/dev/null || missing="$missing python3-venv"
if [ "$purpose" = test ]; then
    need chromium chromium
    need openssl openssl
fi

if [ -n "$missing" ]; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing$missing" >&2
        apt-get update -qq >&2 || true
        # shellcheck disable=SC2086 # a list of words
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
    else
        manual="$manual
  packages:$missing   (Debian names; e.g. sudo apt-get install$missing)"
    fi
fi

python_version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || echo 0)
at_least "$python_version" 3.11 || manual="$manual
  Python 3.11 or newer (found $python_version)"

rust_version=$(cargo --version 2>/dev/null | cut -d' ' -f2 || true)
at_least "${rust_version:-0}" 1.88 || manual="$manual
  Rust 1.88 or newer (found ${rust_version:-none}): https://rustup.rs"

node_version=$(node --version 2>/dev/null | tr -d v || true)
at_least "${node_version:-0}" 20 || manual="$manual
  Node.js 20 or newer with npm (found ${node_version:-none}): https://nodejs.org"

if [ -n "$manual" ]; then
    printf 'error: this machine lacks what Dyno is built with\nhint: install%s\n' "$manual" >&2
    exit 1
fi
