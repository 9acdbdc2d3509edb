// SPDX-License-Identifier: Apache-2.0
//! Lets the tests of this crate find the prebuilt libz3 that they are linked with, without LD_LIBRARY_PATH.

fn main() {
    println!("cargo:rerun-if-env-changed=Z3_LIBRARY_PATH_OVERRIDE");
    if let Ok(folder) = std::env::var("Z3_LIBRARY_PATH_OVERRIDE") {
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
