#!/usr/bin/env bash
# Checks for what the build needs, and installs the Debian/Ubuntu packages that are missing.
set -euo pipefail

say() { printf 'cordon: %s\n' "$*" >&2; }

if ! command -v swift >/dev/null 2>&1; then
    say 'Swift is missing. Install Swift 6.2 or later (https://www.swift.org/install), then run this again.'
    exit 1
fi

version=$(swift --version 2>/dev/null | sed -nE 's/.*Swift version ([0-9]+)\.([0-9]+).*/\1 \2/p' | head -n 1)
read -r major minor <<<"${version:-0 0}"
if [ "$major" -lt 6 ] || { [ "$major" -eq 6 ] && [ "$minor" -lt 2 ]; }; then
    say "Swift $major.$minor is too old: Cordon needs 6.2 or later (https://www.swift.org/install)."
    exit 1
fi

[ "$(uname -s)" = Linux ] || exit 0

# A header stands for its package: looking for the file works on every distribution.
missing=()
need() { [ -e "$1" ] || missing+=("$2"); }
need /usr/include/sqlite3.h libsqlite3-dev
need /usr/include/zlib.h zlib1g-dev

[ ${#missing[@]} -eq 0 ] && exit 0

install=(apt-get install -y --no-install-recommends "${missing[@]}")
if ! command -v apt-get >/dev/null 2>&1; then
    say "these C headers are missing: ${missing[*]} (Debian's names). Install them with your package manager."
    exit 1
fi
if [ "$(id -u)" -eq 0 ]; then
    say "installing ${missing[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive "${install[@]}" >/dev/null
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    say "installing ${missing[*]} with sudo"
    sudo -n apt-get update -qq && sudo -n env DEBIAN_FRONTEND=noninteractive "${install[@]}" >/dev/null
else
    say "these packages are missing: ${missing[*]}. Run:"
    printf '  sudo %s\n' "${install[*]}" >&2
    exit 1
fi
