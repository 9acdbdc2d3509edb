// SPDX-License-Identifier: Apache-2.0
//! Paths as they are written into files that lie elsewhere.

use std::path::{Component, Path, PathBuf};

/// The path as seen from the folder; both may be relative to the working directory.
pub(crate) fn relative(path: &Path, folder: &Path) -> PathBuf {
    // An empty path is the working directory.
    let absolute = |path: &Path| std::path::absolute(Path::new(".").join(path)).unwrap_or_else(|_| path.to_path_buf());
    let (path, folder) = (absolute(path), absolute(folder));
    let common = path.components().zip(folder.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(common).map(|_| Component::ParentDir);
    up.chain(path.components().skip(common)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_folders() {
        let relative = |path: &str, folder: &str| super::relative(Path::new(path), Path::new(folder));
        assert_eq!(relative("/a/logs/x.log", "/a"), Path::new("logs/x.log"));
        assert_eq!(relative("/a/logs/x.log", "/a/out/xml"), Path::new("../../logs/x.log"));
        assert_eq!(relative("logs/x.log", ""), Path::new("logs/x.log"));
        assert_eq!(relative("logs/x.log", "./out"), Path::new("../logs/x.log"));
    }
}
