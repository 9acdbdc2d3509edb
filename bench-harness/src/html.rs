// SPDX-License-Identifier: Apache-2.0
//! One page with everything: table, summary, plots and logs. It needs no network and no other file.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use serde_json::{Map, Value, json};

use crate::{
    matrix::{Matrix, Source},
    plot::{self, scene::escape},
    result::Record,
    table::common_statistics,
};

/// The most of one log that goes into the page: its end, where the verdict is.
const LONGEST_LOG: u64 = 16_000;
/// The most of all logs together; later ones are left out.
const ALL_LOGS: usize = 40_000_000;

/// The page. Logs are looked up beside the files that the results come from.
pub fn page(matrix: &Matrix, sources: &[Source], title: &str) -> String {
    let mut logs = Logs::default();
    let rows: Vec<Value> = matrix
        .rows
        .iter()
        .zip(&matrix.cells)
        .map(|(row, cells)| {
            let cells: Vec<Value> = cells
                .iter()
                .zip(&matrix.columns)
                .map(|(record, column)| {
                    record.as_ref().map_or(Value::Null, |r| cell(r, &sources[column.source].folder, &mut logs))
                })
                .collect();
            json!({
                "task": row.task, "category": row.category, "property": row.property, "expected": row.expected,
                "cells": cells,
            })
        })
        .collect();
    let columns: Vec<Value> = matrix
        .columns
        .iter()
        .map(|c| json!({ "label": c.label, "tool": c.tool, "options": c.options, "timelimit": c.timelimit_s }))
        .collect();
    let mut properties: Vec<&str> = matrix.rows.iter().map(|row| row.property.as_str()).collect();
    properties.sort_unstable();
    properties.dedup();
    let data = json!({
        "columns": columns, "rows": rows, "statistics": common_statistics(matrix), "logs": logs.texts,
        "properties": properties.len(),
    });
    // Inside a script element only `<` can do harm; in JSON it can always be written as an escape.
    let data = data.to_string().replace('<', "\\u003c");
    let plots: String = plot::for_page(matrix)
        .into_iter()
        .map(|(name, svg)| format!("<figure aria-label=\"{}\">{svg}</figure>\n", escape(&name)))
        .collect();
    let (style, script) = (include_str!("page/page.css"), include_str!("page/page.js"));
    let title = escape(title);
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<h1>{title}</h1>
<h2>Summary</h2>
<table><thead><tr id="summaryhead"></tr></thead><tbody id="summary"></tbody></table>
<h2>Plots</h2>
{plots}
<h2>Results</h2>
<p><input id="text" type="search" placeholder="words in the name of the task" aria-label="filter">
<select id="category" aria-label="category"></select> <select id="metric" aria-label="what to show"></select>
<span id="count"></span></p>
<table id="table"><thead><tr id="head"></tr><tr id="filters"></tr></thead><tbody id="rows"></tbody></table>
<div id="detail" hidden><button id="close">close</button><pre id="facts"></pre><pre id="log"></pre></div>
<script id="data" type="application/json">{data}</script>
<script>
{script}</script>
</body>
</html>
"#
    )
}

fn cell(record: &Record, folder: &Path, logs: &mut Logs) -> Value {
    let mut cell = Map::new();
    cell.insert("s".into(), json!(record.status));
    cell.insert("v".into(), json!(record.verdict));
    cell.insert("c".into(), json!(record.cpu_s));
    cell.insert("w".into(), json!(record.wall_s));
    cell.insert("m".into(), json!(record.memory_bytes));
    if let Some(reason) = &record.reason {
        cell.insert("r".into(), json!(reason));
    }
    if !record.statistics.is_empty() {
        cell.insert("n".into(), json!(record.statistics));
    }
    if let Some(index) = record.log.as_ref().and_then(|log| logs.add(&folder.join(log))) {
        cell.insert("l".into(), json!(index));
    }
    Value::Object(cell)
}

/// The logs of the page; equal ones only once.
#[derive(Default)]
struct Logs {
    texts: Vec<String>,
    places: BTreeMap<String, usize>,
    size: usize,
}

impl Logs {
    /// Its number, or nothing if it cannot be read or there is no room.
    fn add(&mut self, path: &Path) -> Option<usize> {
        let text = end_of(path).ok()?;
        if let Some(place) = self.places.get(&text) {
            return Some(*place);
        }
        if self.size + text.len() > ALL_LOGS {
            return None;
        }
        self.size += text.len();
        self.places.insert(text.clone(), self.texts.len());
        self.texts.push(text);
        Some(self.texts.len() - 1)
    }
}

fn end_of(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let skipped = length.saturating_sub(LONGEST_LOG);
    file.seek(SeekFrom::Start(skipped))?;
    let mut bytes = Vec::new();
    file.take(LONGEST_LOG).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(if skipped > 0 { format!("[{skipped} bytes left out]\n{text}") } else { text.into_owned() })
}
