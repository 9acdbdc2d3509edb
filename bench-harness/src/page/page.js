// SPDX-License-Identifier: Apache-2.0
// The result page: a table that sorts and filters, a summary of what is shown, the log of a cell.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const state = { sort: null, descending: false, text: "", category: "", kinds: data.columns.map(() => ""), metric: "cpu" };

function element(tag, text, className) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

// Three significant digits, as in the tables on paper.
function digits(value) {
  if (value === 0) return "0";
  const magnitude = Math.floor(Math.log10(Math.abs(value)));
  return value.toFixed(Math.max(0, 2 - magnitude));
}

function value(cell) {
  if (!cell) return null;
  if (state.metric === "cpu") return cell.c;
  if (state.metric === "wall") return cell.w;
  if (state.metric === "memory") return cell.m / 1e6;
  const number = cell.n ? cell.n[state.metric] : undefined;
  return number === undefined ? null : number;
}

function label(cell) {
  if (!cell) return "-";
  const number = value(cell);
  const shown = number === null ? "-" : state.metric === "memory" ? digits(number) + " MB" : digits(number);
  return (cell.s === "correct" ? cell.v : cell.s === "wrong" ? "WRONG " + cell.v : cell.s) + " " + shown;
}

function shown() {
  const words = state.text.toLowerCase().split(/\s+/).filter((word) => word);
  const rows = data.rows.filter((row) =>
    words.every((word) => (row.task + " " + row.property).toLowerCase().includes(word))
    && (!state.category || row.category === state.category)
    && state.kinds.every((kind, column) => matches(row.cells[column], kind)));
  if (state.sort === null) return rows;
  const key = (row) => {
    if (state.sort < 0) return row.task;
    const cell = row.cells[state.sort];
    // Solved ones first, by what is looked at; then the others by status.
    if (!cell) return [9, "", 0];
    return [cell.s === "correct" ? 0 : 1, cell.s === "correct" ? "" : cell.s, value(cell) ?? Infinity];
  };
  const compare = (a, b) => {
    if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;
    for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
  };
  const sorted = rows.map((row) => [key(row), row]).sort((a, b) => compare(a[0], b[0])).map((pair) => pair[1]);
  return state.descending ? sorted.reverse() : sorted;
}

function matches(cell, kind) {
  if (!kind) return true;
  if (!cell) return kind === "missing";
  if (kind === "proof" || kind === "alarm") return cell.s === "correct" && (cell.v === "true") === (kind === "proof");
  return cell.s === kind;
}

function render() {
  const rows = shown();
  const body = document.getElementById("rows");
  body.replaceChildren(...rows.map((row) => {
    const line = element("tr");
    line.append(element("td", data.properties > 1 ? row.task + " (" + row.property + ")" : row.task, "task"));
    row.cells.forEach((cell, column) => {
      const place = element("td", label(cell), cell ? cell.s : "missing");
      if (cell) place.addEventListener("click", () => detail(row, column));
      line.append(place);
    });
    return line;
  }));
  document.getElementById("count").textContent = rows.length + " of " + data.rows.length + " tasks";
  document.querySelectorAll("#head th").forEach((head, index) => {
    head.dataset.sorted = state.sort === index - 1 ? (state.descending ? "down" : "up") : "";
  });
  summary(rows);
}

function summary(rows) {
  const lines = [["correct", (c) => c.s === "correct"], ["proofs", (c) => c.s === "correct" && c.v === "true"],
    ["alarms", (c) => c.s === "correct" && c.v !== "true"], ["wrong", (c) => c.s === "wrong"],
    ["unknown", (c) => c.s === "unknown"], ["timeout", (c) => c.s === "timeout"],
    ["memory", (c) => c.s === "memory"], ["error, crash", (c) => c.s === "error" || c.s === "crash"]];
  const cells = (column) => rows.map((row) => row.cells[column]).filter((cell) => cell);
  const made = lines.map(([name, test]) => [name, data.columns.map((_, c) => cells(c).filter(test).length)]);
  const points = (cell) => cell.s === "correct" ? (cell.v === "true" ? 2 : 1)
    : cell.s === "wrong" ? (cell.v === "true" ? -32 : -16) : 0;
  made.push(["score", data.columns.map((_, c) => cells(c).reduce((sum, cell) => sum + points(cell), 0))]);
  const seconds = (list) => digits(list.reduce((sum, cell) => sum + cell.c, 0));
  made.push(["CPU s, correct", data.columns.map((_, c) => seconds(cells(c).filter((cell) => cell.s === "correct")))]);
  made.push(["CPU s, all", data.columns.map((_, c) => seconds(cells(c)))]);
  made.push(["solved by only this one", data.columns.map((_, c) => rows.filter((row) =>
    row.cells.every((cell, other) => (cell !== null && cell.s === "correct") === (other === c))).length)]);
  document.getElementById("summary").replaceChildren(...made.map(([name, values]) => {
    const line = element("tr");
    line.append(element("td", name, "task"), ...values.map((v) => element("td", String(v))));
    return line;
  }));
}

function detail(row, column) {
  const cell = row.cells[column];
  const about = data.columns[column];
  const lines = [about.tool + " " + about.options.join(" "), "task: " + row.task + " (" + row.property + ")",
    "expected: " + (row.expected ?? "not known"), "result: " + cell.s + (cell.v ? ", verdict " + cell.v : "")];
  if (cell.r) lines.push("reason: " + cell.r);
  lines.push("CPU time " + cell.c + " s, wall time " + cell.w + " s, memory " + digits(cell.m / 1e6) + " MB");
  for (const [name, number] of Object.entries(cell.n ?? {})) lines.push(name + ": " + number);
  document.getElementById("facts").textContent = lines.join("\n");
  document.getElementById("log").textContent = cell.l === undefined ? "No log was kept." : data.logs[cell.l];
  document.getElementById("detail").hidden = false;
}

function start() {
  const head = document.getElementById("head");
  const filters = document.getElementById("filters");
  const title = (text, column) => {
    const cell = element("th", text);
    cell.title = column < 0 ? "" : data.columns[column].tool + " " + data.columns[column].options.join(" ");
    cell.addEventListener("click", () => {
      state.descending = state.sort === column ? !state.descending : false;
      state.sort = column;
      render();
    });
    return cell;
  };
  head.append(title("task", -1), ...data.columns.map((column, index) => title(column.label, index)));
  filters.append(element("td"));
  const kinds = ["", "correct", "proof", "alarm", "wrong", "unjudged", "unknown", "timeout", "memory", "error", "crash", "missing"];
  data.columns.forEach((_, index) => {
    const select = element("select");
    kinds.forEach((kind) => { const option = element("option", kind || "any"); option.value = kind; select.append(option); });
    select.addEventListener("change", () => { state.kinds[index] = select.value; render(); });
    const cell = element("td");
    cell.append(select);
    filters.append(cell);
  });
  const summaryHead = document.getElementById("summaryhead");
  summaryHead.append(element("th", "of the tasks shown"), ...data.columns.map((column) => element("th", column.label)));
  const metric = document.getElementById("metric");
  ["cpu", "wall", "memory", ...data.statistics].forEach((name) => metric.append(element("option", name)));
  metric.addEventListener("change", () => { state.metric = metric.value; render(); });
  const category = document.getElementById("category");
  const categories = [...new Set(data.rows.map((row) => row.category))].sort();
  const any = element("option", "all categories");
  any.value = "";
  category.append(any, ...categories.map((name) => element("option", name)));
  category.addEventListener("change", () => { state.category = category.value; render(); });
  const text = document.getElementById("text");
  text.addEventListener("input", () => { state.text = text.value; render(); });
  document.getElementById("close").addEventListener("click", () => { document.getElementById("detail").hidden = true; });
  render();
}

start();
