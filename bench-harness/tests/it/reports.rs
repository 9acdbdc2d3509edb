// SPDX-License-Identifier: Apache-2.0
//! Tables, plots, scores and the page, made of runs of several configurations.

use std::{env, fs, path::PathBuf, process::Command};

use expect_test::expect;

use crate::{Bench, SAFE, UNSAFE, stderr, stdout};

const UNKNOWN: &str = "echo 'Verification result: UNKNOWN, x'";

/// `first.jsonl` and `second.jsonl`: two tools on three tasks.
fn two_tools(name: &str) -> Bench {
    let bench = Bench::new(name);
    for (file, scripts) in [("first.jsonl", [SAFE, UNSAFE, UNKNOWN]), ("second.jsonl", [SAFE, UNKNOWN, UNSAFE])] {
        let _ = fs::remove_file(bench.folder.join("all.set"));
        bench.task("a/1", true, scripts[0]).task("a/2", false, scripts[1]).task("b/3", true, scripts[2]);
        bench.run(&["--output", file]);
    }
    // What differs from run to run is made equal.
    for file in ["first.jsonl", "second.jsonl"] {
        let path = bench.folder.join(file);
        let text = fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(|line| {
            let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["cpu_s"] = 0.25.into();
            record["wall_s"] = 0.5.into();
            record["memory_bytes"] = 2_000_000.into();
            record["statistics"] =
                serde_json::json!({ "Number of CEGAR refinements": record["task"].as_str().unwrap().len() });
            record.to_string() + "\n"
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
    }
    bench
}

fn output(bench: &Bench, arguments: &[&str]) -> String {
    let output = bench.command(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    stdout(&output)
}

#[test]
fn the_table() {
    let bench = two_tools("the_table");
    expect![[r#"
        task                                         first         second
        -----------------------------------------------------------------
        a/1                                           .250           .250
        a/2                                           .250              ?
        b/3                                              ?          WRONG
        -----------------------------------------------------------------
        tasks                                            3              3
        correct results                                  2              1
        correct proofs                                   1              1
        correct alarms                                   1              0
        wrong proofs                                     0              0
        wrong alarms                                     0              1
        timeouts                                         0              0
        out of memory                                    0              0
    "#]]
    .assert_eq(&{
        let text = output(&bench, &["table", "first.jsonl", "second.jsonl"]);
        text.lines().take(14).map(|line| line.to_string() + "\n").collect::<String>()
    });
    let different =
        output(&bench, &["table", "--rows", "different", "--style", "verdict", "first.jsonl", "second.jsonl"]);
    assert!(!different.contains("a/1") && different.contains("a/2") && different.contains("WRONG false .250"));
    assert!(different.contains("solved by only this one") && different.contains("average Number of CEGAR refinements"));
    let raw =
        output(&bench, &["table", "--format", "csv", "--raw", "--columns", "second", "first.jsonl", "second.jsonl"]);
    assert!(raw.lines().nth(1).unwrap().starts_with("a/1,unreach-call,true,correct,true,0.25,0.5,2000000,3"), "{raw}");
    let none = output(&bench, &["table", "--with", "Number of CEGAR refinements=4..", "first.jsonl"]);
    assert!(!none.contains("a/1"));
}

#[test]
fn scores() {
    let bench = two_tools("scores");
    expect![[r#"
        category           tasks  first  second
        ---------------------------------------
        a                      2      3       2
        b                      1      0     -16
        ---------------------------------------
        total                  3      3     -14
        weighted               3      2     -22
        greatest possible      3      5       5
    "#]]
    .assert_eq(&output(&bench, &["score", "first.jsonl", "second.jsonl"]));
}

#[test]
fn plots() {
    let bench = two_tools("plots");
    let quantile = output(&bench, &["plot", "quantile", "first.jsonl", "second.jsonl"]);
    assert!(quantile.starts_with("<svg") && quantile.ends_with("</svg>\n"));
    // Two results of the first tool and one of the second have a mark, and each tool one in the legend.
    assert_eq!(quantile.matches("<polygon").count(), 3 + 2);
    let scatter = output(&bench, &["plot", "scatter", "first.jsonl", "second.jsonl"]);
    assert!(scatter.contains("<title>a/2: 0.25, unknown</title>"), "{scatter}");
    output(&bench, &["plot", "quantile", "first.jsonl", "--output", "plots/q.png"]);
    assert!(fs::read(bench.folder.join("plots/q.png")).unwrap().starts_with(b"\x89PNG"));
    let wrong = bench.command(&["plot", "scatter", "first.jsonl"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("needs two configurations"), "{}", stderr(&wrong));
}

#[test]
fn slower_is_a_regression_if_asked_for() {
    let bench = two_tools("slower");
    let text = fs::read_to_string(bench.folder.join("first.jsonl")).unwrap();
    fs::write(bench.folder.join("slow.jsonl"), text.replace("\"cpu_s\":0.25", "\"cpu_s\":1.0")).unwrap();
    let code = |arguments: &[&str]| bench.command(arguments).output().unwrap().status.code();
    assert_eq!(code(&["compare", "first.jsonl", "slow.jsonl"]), Some(0));
    assert_eq!(code(&["compare", "--slower", "2", "first.jsonl", "slow.jsonl"]), Some(2));
    assert_eq!(code(&["compare", "--slower", "5", "first.jsonl", "slow.jsonl"]), Some(0));
}

/// Clicks and types, and leaves what is seen then in an attribute of the body.
const DRIVER: &str = r##"
const seen = {};
const names = () => [...document.querySelectorAll("#rows tr")].map((row) => row.children[0].textContent).join(" ");
const summary = (line) => [...document.querySelectorAll("#summary tr")][line].textContent;
seen.start = names();
const head = document.querySelectorAll("#head th");
head[2].click(); seen.sorted = names();
head[0].click(); head[0].click(); seen.descending = names();
const text = document.getElementById("text");
text.value = "a/"; text.dispatchEvent(new Event("input")); seen.filtered = names(); seen.summary = summary(0);
const kind = document.querySelectorAll("#filters select")[1];
kind.value = "unknown"; kind.dispatchEvent(new Event("change")); seen.kind = names();
document.querySelector("#rows td:nth-child(3)").click();
seen.detail = document.getElementById("facts").textContent.includes("result: unknown")
  && !document.getElementById("detail").hidden;
document.body.setAttribute("data-seen", JSON.stringify(seen).replaceAll('"', "'"));
"##;

#[test]
fn the_page_in_a_browser() {
    let bench = two_tools("the_page");
    let page = output(&bench, &["table", "--format", "html", "--title", "a <title>", "first.jsonl", "second.jsonl"]);
    // Nothing is loaded from elsewhere.
    assert!(!page.contains("src=") && !page.contains("<link") && page.contains("<h1>a &lt;title&gt;</h1>"));
    let watch = "<script>window.onerror = (m) => document.documentElement.setAttribute('data-error', m);</script>";
    let page = page.replacen("<head>", &format!("<head>{watch}"), 1);
    let page = page.replacen("</body>", &format!("<script>{{{DRIVER}}}</script></body>"), 1);
    let path = bench.folder.join("page.html");
    fs::write(&path, page).unwrap();
    let Some(dom) = browse(&path) else {
        eprintln!("SKIPPED: the page was not opened: no chromium, google-chrome, or node with jsdom in PATH/NODE_PATH");
        return;
    };
    assert!(!dom.contains("data-error=\""), "{dom}");
    let seen = dom.split_once("data-seen=\"").and_then(|(_, rest)| rest.split_once('"')).map(|(seen, _)| seen);
    expect!["{'start':'a/1 a/2 b/3','sorted':'a/1 a/2 b/3','descending':'b/3 a/2 a/1','filtered':'a/2 a/1','summary':'correct21','kind':'a/2','detail':true}"]
        .assert_eq(seen.expect("the script has come to its end"));
}

/// The document after its scripts have run, in the first browser that there is; none if there is none.
fn browse(page: &PathBuf) -> Option<String> {
    let browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = env::var_os("PATH").unwrap_or_default();
    if let Some(browser) =
        browsers.iter().find(|name| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
    {
        let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"];
        let output = Command::new(browser).args(arguments).arg(page).output().ok()?;
        return Some(stdout(&output));
    }
    let script = "const { JSDOM } = require('jsdom');\
        const text = require('fs').readFileSync(process.argv[1], 'utf8');\
        console.log(new JSDOM(text, { runScripts: 'dangerously' }).serialize());";
    let output = Command::new("node").args(["-e", script]).arg(page).output().ok()?;
    output.status.success().then(|| stdout(&output))
}
