# SPDX-License-Identifier: Apache-2.0
# Shared by verify, test, .ci/run and scripts/setup; to be sourced. Sets `root` and offers what all of them need.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# rustup installs here and leaves it to the login shell to put it into PATH.
if ! command -v cargo >/dev/null 2>&1 && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
  export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
fi

say() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf 'error: %s\n' "$1" >&2
  shift
  for line in "$@"; do printf '       %s\n' "$line" >&2; done
  exit 1
}

# Cargo reads .cargo/config.toml of the folder it is started in, so it always starts in the root.
in_root() { (cd "$root" && "$@"); }

# Where cargo puts what it builds; a relative CARGO_TARGET_DIR counts from the root, as cargo is started there.
target_dir() {
  local dir=${CARGO_TARGET_DIR:-target}
  case $dir in /*) printf '%s\n' "$dir" ;; *) printf '%s\n' "$root/$dir" ;; esac
}
