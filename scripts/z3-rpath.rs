// SPDX-License-Identifier: Apache-2.0
//! Build script of every crate whose programs or tests are linked with Z3 (`build = "../scripts/z3-rpath.rs"`):
//! writes the places of libz3 into them, so that they run from any folder without environment variables.
//!
//! A build script's link arguments reach the programs and tests of its own package only, hence one line in each crate;
//! `cargo xtask tidy` says where it is missing.

use std::{env, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=../scripts/z3-rpath.rs");
    println!("cargo::rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    // Built from source, Z3 is linked statically and there is nothing to find.
    if env::var_os("CARGO_FEATURE_VENDORED").is_some() {
        return;
    }
    // Set by .cargo/config.toml, unless the user points to a library of their own.
    let Some(folder) = env::var_os("Z3_LIBRARY_PATH_OVERRIDE") else { return };
    let library = Path::new(&folder).join("libz3.so");
    println!("cargo::rerun-if-changed={}", library.display());
    if !library.exists() {
        println!("cargo::warning={} is missing, so linking will fail; scripts/setup fetches it", library.display());
    }
    // Beside an installed program, in a clone that was moved as a whole, and where it is now.
    for place in ["$ORIGIN/../lib", "$ORIGIN/../../third_party/z3/lib", &folder.to_string_lossy()] {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{place}");
    }
}
