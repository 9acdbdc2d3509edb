// SPDX-License-Identifier: Apache-2.0
//! `cpa-loopabs` as a process: what it writes applies and compiles.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = "#include <limits.h>
#define STEP 2
extern void reach_error(void);
int main(void) {
\tunsigned int x = INT_MAX;   /* formatting   stays */
\twhile (x > 1) {
\t\tx -= 2; // a comment
\t}
\tfor (int i = 0; i < 9; i += STEP) x++;
\tif (x == 0) reach_error();
\treturn 0;
}
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cpa-loopabs-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn loopabs(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cpa-loopabs")).args(arguments).output().unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn patches_apply_to_the_file_of_the_user_and_keep_its_formatting() {
    let folder = Folder::new("patches");
    let program = folder.file("p.c", PROGRAM);
    let patches = folder.0.join("patches");
    let output = loopabs(&["--64", text(&program), "--emit-patches", text(&patches), "--check"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said} {}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("p.c:6 strategies: h n c o p"), "{said}");
    // The macro in the other loop is gone in what was parsed.
    assert!(said.contains("no patch for") && said.contains("p.c:9"), "{said}");
    let patch = fs::read(patches.join("p.c.6.havoc.patch")).unwrap();
    let mut child = Command::new("patch")
        .args(["-s", "-p1", "-d", text(&folder.0)])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("patch is installed");
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), &patch).unwrap();
    assert!(child.wait().unwrap().success());
    let patched = fs::read_to_string(&program).unwrap();
    let expected = PROGRAM.replace(
        "\twhile (x > 1) {\n\t\tx -= 2; // a comment\n\t}",
        "\tif (x > 1) {\n\t  x = __VERIFIER_nondet_uint();\n\t  if (x > 1) abort();\n\t}",
    );
    let declared = "extern void abort(void);\nextern unsigned int __VERIFIER_nondet_uint(void);\n";
    assert_eq!(patched, format!("{declared}{expected}"));
}

#[test]
fn a_program_that_was_proved_is_written() {
    let folder = Folder::new("program");
    let source = "extern void reach_error(void);
int main(void) { unsigned x = 1 << 30; while (x > 0) x -= 2; if (x) reach_error(); return 0; }
";
    let program = folder.file("p.c", source);
    let out = folder.0.join("out.c");
    let output = loopabs(&[text(&program), "--emit-program", text(&out), "--check", "--quiet"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("Verification result: TRUE"), "{said}");
    assert!(!fs::read_to_string(&out).unwrap().contains("while"));
    let unsafe_program = folder.file("q.c", &source.replace("if (x)", "if (!x)"));
    let output = loopabs(&[text(&unsafe_program), "--emit-program", text(&out), "--quiet", "--timelimit", "5s"]);
    assert_eq!(output.status.code(), Some(2), "there is no proof");
}

#[test]
fn wrong_arguments_are_explained() {
    let folder = Folder::new("wrong");
    let program = folder.file("p.c", PROGRAM);
    for (arguments, message) in [
        (vec![text(&program), "--strategies", "x"], "there is no strategy 'x'"),
        (vec![text(&program), "--loops", "p.c:3"], "no loop statement begins there"),
        (vec!["nothing.c"], "cannot read nothing.c"),
    ] {
        let output = loopabs(&[&["--64"], arguments.as_slice()].concat());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(message), "{said}");
    }
}
