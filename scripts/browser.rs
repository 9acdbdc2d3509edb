// SPDX-License-Identifier: Apache-2.0
//! Pages in a real browser, for tests: Chromium without a window opens the page, a script of the test uses it, and what the
//! script says comes back with all errors. Where there is no Chromium, tests that need it say so and are skipped.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A browser that does not come back is ended then.
const PATIENCE: Duration = Duration::from_secs(90);

/// What came back.
pub(crate) struct Seen {
    /// The value of the script, as JSON.
    pub(crate) value: String,
    /// Errors of scripts and on the console.
    pub(crate) errors: String,
    /// Milliseconds from the start of the navigation until the page was loaded.
    pub(crate) loaded_ms: f64,
}

/// The browser that `CPA_BROWSER` names, or the first one of the usual names in `PATH`.
fn find() -> Option<PathBuf> {
    let named = env::var_os("CPA_BROWSER").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = env::var_os("PATH").unwrap_or_default();
    named.or_else(|| names.iter().find_map(|name| env::split_paths(&path).map(|p| p.join(name)).find(|f| f.is_file())))
}

/// Opens a page and evaluates an expression in it when it is loaded; none if there is no browser. The folder gets a picture
/// of the page, `screen.png`.
pub(crate) fn open(folder: &Path, page: &str, expression: &str) -> Option<Seen> {
    let Some(browser) = find() else {
        eprintln!("SKIPPED: there is no Chromium in PATH, so the page is not looked at; CPA_BROWSER can name one");
        return None;
    };
    let first = "<script>window.failures = []; window.onerror = (m) => { window.failures.push(String(m)); };\n\
        console.error = console.warn = (m) => { window.failures.push(String(m)); };</script>";
    let last = format!(
        "<script>window.addEventListener('load', () => {{ const loaded = performance.now(); let value = null;\n\
         try {{ value = ({expression}); }} catch (e) {{ window.failures.push(String(e)); }}\n\
         const seen = document.createElement('pre'); seen.id = 'seen-by-test';\n\
         seen.textContent = [JSON.stringify(value), loaded, window.failures.join('; ')].join('\\n@@\\n');\n\
         document.body.append(seen); }});</script>"
    );
    let page = page.replacen("<head>", &format!("<head>{first}"), 1).replacen("</body>", &format!("{last}</body>"), 1);
    fs::create_dir_all(folder).expect("the folder of the test can be made");
    let file = folder.canonicalize().expect("it is there").join("page.html");
    fs::write(&file, page).expect("the page can be written");
    let run = |extra: &str| {
        let mut command = Command::new(&browser);
        command.args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1400,1000",
        ]);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display())).arg(extra);
        command.arg(format!("file://{}", file.display())).current_dir(folder);
        let out = folder.join("dom.html");
        let output = fs::File::create(&out).expect("the output can be written");
        let mut child =
            command.stdout(output).stderr(Stdio::null()).stdin(Stdio::null()).spawn().expect("the browser starts");
        let start = Instant::now();
        while child.try_wait().expect("the browser is a child").is_none() {
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the browser does not come back");
            }
            thread::sleep(Duration::from_millis(20));
        }
        fs::read_to_string(out).expect("the output can be read")
    };
    let dom = run("--dump-dom");
    run("--screenshot=screen.png");
    let plain =
        |text: &str| text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    let seen = dom.split("id=\"seen-by-test\">").nth(1).expect("the script of the test ran").split("</pre>").next();
    let seen = plain(seen.unwrap_or_default());
    let parts: Vec<&str> = seen.split("\n@@\n").collect();
    let [value, loaded, errors] = parts[..] else { panic!("the script said something else: {seen}") };
    let loaded_ms = loaded.parse().expect("a number of milliseconds");
    Some(Seen { value: value.to_string(), errors: errors.to_string(), loaded_ms })
}
