"use strict";
(function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const make = (tag, cls, text) => {
    const node = document.createElement(tag);
    if (cls) node.className = cls;
    if (text !== undefined) node.textContent = text;
    return node;
  };

  // Tabs.
  const sections = [...document.querySelectorAll("section")];
  const tabs = document.getElementById("tabs");
  const buttons = sections.map((section) => {
    const button = make("button", "", section.dataset.title);
    button.onclick = () => show(section);
    tabs.append(button);
    return button;
  });
  // Wide graphs begin with their first block in the middle.
  function start(box) {
    const first = box.querySelector(".block rect");
    if (!first || box.dataset.seen || !box.clientWidth) return;
    box.dataset.seen = "yes";
    const at = first.getBoundingClientRect();
    box.scrollLeft += at.left + at.width / 2 - box.getBoundingClientRect().left - box.clientWidth / 2;
  }
  for (const part of document.querySelectorAll("details")) {
    part.addEventListener("toggle", () => part.querySelectorAll(".graph").forEach(start));
  }
  function show(section) {
    sections.forEach((other, at) => {
      other.classList.toggle("on", other === section);
      buttons[at].classList.toggle("on", other === section);
    });
    section.querySelectorAll(".graph").forEach(start);
  }

  // The source, with a place for values behind each line.
  const lines = new Map();
  const source = document.getElementById("source");
  for (const file of data.files) {
    source.append(make("h2", "", file.name));
    const block = document.createDocumentFragment();
    file.text.split("\n").forEach((text, at) => {
      const line = make("div", "line");
      const value = make("span", "value");
      line.append(make("span", "no", at + 1), text, value);
      lines.set(file.name + ":" + (at + 1), { line, value });
      block.append(line);
    });
    source.append(block);
  }
  const lineOf = (place) => lines.get(place.file + ":" + place.line);
  for (const invariant of data.invariants) {
    const at = lineOf(invariant);
    if (at) at.line.append(make("span", "invariant", "invariant: " + invariant.text));
  }

  // The way to the error.
  const panel = document.getElementById("steps");
  let current = -1;
  const rows = [];
  function go(to) {
    if (to < 0 || to >= rows.length) return;
    if (current >= 0) {
      rows[current].classList.remove("on");
      const old = lineOf(data.steps[current]);
      if (old) old.line.classList.remove("on");
    }
    const latest = new Map();
    for (let at = 0; at <= to; at++) {
      const step = data.steps[at];
      if (step.values.length) latest.set(lineOf(step), step.values.map((pair) => pair[0] + " = " + pair[1]).join(", "));
    }
    for (const entry of lines.values()) entry.value.textContent = "";
    for (const [entry, text] of latest) if (entry) entry.value.textContent = text;
    current = to;
    rows[to].classList.add("on");
    rows[to].scrollIntoView({ block: "nearest" });
    const now = lineOf(data.steps[to]);
    if (now) {
      now.line.classList.add("on");
      now.line.scrollIntoView({ block: "center" });
    }
  }
  function move(by) {
    let to = current + by;
    while (to > 0 && to < rows.length - 1 && panel.classList.contains("only") && !data.steps[to].matters) to += by;
    go(to);
  }
  if (data.steps.length) {
    const bar = make("div", "bar");
    const button = (text, action) => {
      const made = make("button", "", text);
      made.onclick = action;
      bar.append(made);
      return made;
    };
    button("Start", () => go(0));
    button("Back", () => move(-1));
    button("Next", () => move(1));
    button("End", () => go(rows.length - 1));
    button("All steps / those that matter", () => panel.classList.toggle("only"));
    panel.append(bar);
    panel.classList.add("only");
    data.steps.forEach((step, at) => {
      const place = step.line ? step.line + ": " : "";
      const values = step.values.map((pair) => pair[0] + " = " + pair[1]).join(", ");
      const row = make("div", "step" + (step.matters ? "" : " minor"), place + step.text + (values ? "  (" + values + ")" : ""));
      row.title = step.function;
      row.onclick = () => go(at);
      rows.push(row);
      panel.append(row);
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "ArrowRight" || event.key === "n") move(1);
      if (event.key === "ArrowLeft" || event.key === "p") move(-1);
    });
  }
  show(sections[0]);
  if (rows.length) go(rows.length - 1);

  // Graphs are moved by dragging, grow and shrink by buttons and with the wheel while Ctrl is held, around the pointer. A
  // click on a block leads to its place in the source.
  for (const box of document.querySelectorAll(".graph")) {
    const svg = box.querySelector("svg");
    const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
    let scale = 1;
    const zoom = (to, x, y) => {
      const old = scale;
      scale = Math.min(4, Math.max(0.05, to));
      svg.setAttribute("width", width * scale);
      svg.setAttribute("height", height * scale);
      box.scrollLeft = (box.scrollLeft + x) * scale / old - x;
      box.scrollTop = (box.scrollTop + y) * scale / old - y;
    };
    box.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const frame = box.getBoundingClientRect();
      zoom(scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15), event.clientX - frame.left, event.clientY - frame.top);
    }, { passive: false });
    const bar = make("div", "bar");
    const button = (text, action) => {
      const made = make("button", "", text);
      made.onclick = action;
      bar.append(made);
    };
    button("+", () => zoom(scale * 1.3, box.clientWidth / 2, box.clientHeight / 2));
    button("−", () => zoom(scale / 1.3, box.clientWidth / 2, box.clientHeight / 2));
    button("Width", () => zoom(box.clientWidth / width, 0, 0));
    button("1:1", () => zoom(1, 0, 0));
    box.before(bar);
    let drag = null;
    let moved = false;
    box.addEventListener("pointerdown", (event) => {
      drag = [event.clientX + box.scrollLeft, event.clientY + box.scrollTop];
      moved = false;
    });
    box.addEventListener("pointermove", (event) => {
      if (!drag) return;
      const [x, y] = [drag[0] - event.clientX, drag[1] - event.clientY];
      moved = moved || Math.abs(x - box.scrollLeft) + Math.abs(y - box.scrollTop) > 4;
      [box.scrollLeft, box.scrollTop] = [x, y];
    });
    for (const end of ["pointerup", "pointerleave"]) box.addEventListener(end, () => (drag = null));
    box.addEventListener("click", (event) => {
      const block = event.target.closest(".block");
      const at = block && !moved && /(?:(\S+):(\d+):\d+| line (\d+))/.exec(block.querySelector("title").textContent);
      const first = data.files.length ? data.files[0].name : "";
      const named = at && at[1] && data.files.find((file) => ("/" + file.name).endsWith("/" + at[1]));
      const target = at && lines.get((named ? named.name : first) + ":" + (at[2] || at[3]));
      if (!target) return;
      show(sections[0]);
      target.line.scrollIntoView({ block: "center" });
      target.line.classList.add("found");
      setTimeout(() => target.line.classList.remove("found"), 2000);
    });
  }
})();
