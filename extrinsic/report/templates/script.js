"use strict";
(() => {
  const text = (value) => value.replace(/\u2212/g, "-");
  const compare = (a, b) => {
    const x = parseFloat(text(a)), y = parseFloat(text(b));
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
    return a.localeCompare(b);
  };
  const mark = (heads, chosen, up) => heads.forEach((head) => {
    if (head === chosen) head.setAttribute("aria-sort", up ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
  const onPress = (head, act) => {
    head.classList.add("sorts");
    head.tabIndex = 0;
    head.addEventListener("click", act);
    head.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); }
    });
  };

  // A name opens its definition, by mouse, key or finger.
  const open = (event) => {
    const term = event.target.closest?.(".term");
    if (!term || (event.type === "keydown" && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    event.stopPropagation();
    document.getElementById(`term-${term.dataset.term}`).showPopover();
  };
  document.addEventListener("click", open, true);
  document.addEventListener("keydown", open, true);
  const menu = document.getElementById("menu");
  menu.open = matchMedia("(min-width: 1120px)").matches;
  menu.addEventListener("click", (event) => { if (event.target.closest("a") && innerWidth < 1120) menu.open = false; });

  // Tables of the page: their rows are sorted in place.
  document.querySelectorAll("table.sortable").forEach((table) => {
    const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
    heads.forEach((head, column) => onPress(head, () => {
      const up = head.getAttribute("aria-sort") === "descending" || !head.classList.contains("number") && !head.hasAttribute("aria-sort");
      const rows = [...body.rows];
      const cell = (row) => row.cells[column].textContent;
      rows.sort((a, b) => (up ? 1 : -1) * compare(cell(a), cell(b)));
      body.append(...rows);
      mark(heads, head, up);
    }));
  });

  // Folded parts are printed, too, except long lists of details.
  addEventListener("beforeprint", () => document.querySelectorAll("details:not([open], .aside)").forEach((details) => {
    details.open = true;
    details.dataset.printed = "";
  }));
  addEventListener("afterprint", () => document.querySelectorAll("details[data-printed]").forEach((details) => {
    details.open = false;
    delete details.dataset.printed;
  }));

  // What choosing by each metric loses, with its coefficients: whole numbers in columns.
  const explorer = document.getElementById("explorer");
  if (!explorer) return;
  const { names, titles, columns, help } = JSON.parse(document.getElementById("numbers").textContent);
  const count = columns.metric.length;
  const IN_POINTS = ["lost", "bound", "lost_hard", "lost_of_3", "lost_of_5", "lost_of_10"];
  const minus = (value, text) => (value < 0 && /[1-9]/.test(text) ? "\u2212" : "") + text;
  const number = (key, value) => {
    if (value === null) return "\u2013";
    if (IN_POINTS.includes(key)) return minus(value, (Math.abs(value) / 100).toFixed(Math.abs(value) < 10 ? 2 : 1));
    return minus(value, (Math.abs(value) / 1000).toFixed(3).replace(/^0/, ""));
  };
  const shown = (key, row) => {
    const value = columns[key][row];
    return titles[key] ? titles[key][value] : names[key] ? names[key][value] : number(key, value);
  };

  // The heat map: another measure or target fills the same cells.
  const measures = document.getElementById("measures");
  if (measures) {
    const place = (key, name) => names[key].indexOf(name);
    const cells = [...document.querySelectorAll(".heat td[data-row]")];
    const systems = place("systems", measures.dataset.systems);
    const cases = new Map(), rowOf = new Map();
    for (let row = 0; row < count; row++) {
      if (columns.systems[row] !== systems) continue;
      const which = `${columns.target[row]} ${columns.variant[row]}`;
      const parts = [["target", row], ["variant", row]].filter(([key]) => names[key].length > 1).map(([key]) => shown(key, row)).filter(Boolean);
      if (!cases.has(which)) cases.set(which, parts.join(", "));
      rowOf.set(`${which} ${columns.metric[row]} ${columns.schedule[row]} ${columns.component[row]}`, row);
    }
    const choice = (title, options, chosen) => {
      const label = document.createElement("label"), select = document.createElement("select");
      options.forEach(([value, text]) => select.append(new Option(text, value)));
      select.value = chosen;
      select.addEventListener("input", fill);
      label.append(title, select);
      measures.append(label);
      return select;
    };
    function fill() {
      for (const cell of cells) {
        const row = rowOf.get(`${target.value} ${cell.dataset.row}`);
        const value = row === undefined ? null : columns[measure.value][row];
        const full = value === null ? 0 : Math.min(100, Math.round(value * value / 1e4));
        // Only exactly 1 is shown as 1.
        const digits = Math.abs(value) > 994 && Math.abs(value) < 1000 ? 3 : 2;
        cell.textContent = value === null ? "" : minus(value, Math.abs(value / 1000).toFixed(digits).replace(/^0/, ""));
        cell.style.setProperty("--full", `${full}%`);
        cell.classList.toggle("full", full > 60);
        cell.classList.toggle("bad", value < 0);
      }
    }
    const measure = choice("measure", [["share", "share of what a perfect choice earns"], ["pearson", "Pearson\u2019s r"], ["spearman", "Spearman\u2019s \u03c1"], ["kendall", "Kendall\u2019s \u03c4"]], "share");
    const target = choice("target", [...cases], `${place("target", measures.dataset.target)} ${place("variant", measures.dataset.variant)}`);
    target.parentElement.hidden = cases.size < 2;
    measures.hidden = false;
  }

  // The table of all numbers: only visible rows become elements.
  const shownColumns = [
    ["metric", "metric"], ["schedule", "schedule"], ["component", "component"], ["group", "group"], ["lost", "lost", 1],
    ["bound", "at most", 1], ["share", "share kept", 1], ["pearson", "r", 1], ["low", "low", 1], ["high", "high", 1],
    ["spearman", "\u03c1", 1], ["kendall", "\u03c4", 1], ["lost_hard", "lost, hard pairs", 1],
    ["lost_of_3", "best of 3", 1], ["lost_of_5", "best of 5", 1], ["lost_of_10", "best of 10", 1], ["target", "target"], ["systems", "trackers"], ["variant", "variant"],
    ["family", "family"], ["carried_by", "r carried by"],
  ];
  const CHOSEN = ["target", "systems", "variant", "component", "group", "family"];
  const STEP = 60;
  let sortKey = "lost", up = true, limit = STEP;

  const form = explorer.querySelector("form"), controls = {};
  const field = (title, element) => {
    const label = document.createElement("label");
    label.append(title, element);
    form.append(label);
    element.addEventListener("input", () => { limit = STEP; draw(); });
    return element;
  };
  const preferred = { target: explorer.dataset.target, systems: names.systems.includes("core") ? "core" : "all", variant: names.variant[0] };
  for (const key of CHOSEN) {
    if (names[key].length < 2) continue;
    const select = document.createElement("select");
    select.name = key;
    select.append(new Option("any", ""));
    (titles[key] ?? names[key]).forEach((name, number) => select.append(new Option(name || "(none)", String(number))));
    const wanted = names[key].indexOf(preferred[key]);
    if (wanted >= 0) select.value = String(wanted);
    controls[key] = field(key, select);
  }
  const search = document.createElement("input");
  search.type = "search";
  search.name = "text";
  search.placeholder = "e.g. avgp last turn";
  field("metric, component or schedule", search);
  form.addEventListener("submit", (event) => event.preventDefault());

  const heads = shownColumns.map(([key, title, number]) => {
    const head = document.createElement("th");
    head.scope = "col";
    head.textContent = title;
    head.title = help[key];
    if (number) head.className = "number";
    onPress(head, () => {
      up = sortKey === key ? !up : !number || IN_POINTS.includes(key);
      sortKey = key;
      draw();
    });
    return head;
  });
  explorer.querySelector("thead tr").append(...heads);

  // A column whose value was chosen is the same in every row, and is hidden.
  const hidden = () => new Set(shownColumns.map(([key]) => key).filter((key) => key === "carried_by" ? names[key].length < 2 :
    CHOSEN.includes(key) && (!controls[key] || controls[key].value !== "")));

  const chosen = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fixed = Object.entries(controls).filter(([, control]) => control.value !== "").map(([key, control]) => [columns[key], Number(control.value)]);
    const found = [];
    for (let row = 0; row < count; row++) {
      if (!fixed.every(([column, value]) => column[row] === value)) continue;
      if (words.length) {
        const told = ["metric", "component", "schedule"].map((key) => `${names[key][columns[key][row]]} ${titles[key][columns[key][row]]}`).join(" ").toLowerCase();
        if (!words.every((word) => told.includes(word))) continue;
      }
      found.push(row);
    }
    const column = columns[sortKey], named = names[sortKey], sign = up ? 1 : -1;
    return found.sort((a, b) => {
      if (named) return sign * named[column[a]].localeCompare(named[column[b]]) || a - b;
      if (column[a] === null || column[b] === null) return (column[a] === null) - (column[b] === null) || a - b;
      return sign * (column[a] - column[b]) || a - b;
    });
  };
  const draw = () => {
    const rows = chosen(), without = hidden();
    const made = rows.slice(0, limit).map((row) => {
      const line = document.createElement("tr");
      shownColumns.filter(([key]) => !without.has(key)).forEach(([key, , number]) => {
        const cell = line.insertCell();
        cell.textContent = shown(key, row);
        if (titles[key]) cell.title = names[key][columns[key][row]];
        if (number) cell.className = "number";
      });
      return line;
    });
    explorer.querySelector("tbody").replaceChildren(...made);
    explorer.querySelector(".count").textContent = `${made.length.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown.`;
    explorer.querySelector(".more button").hidden = rows.length <= limit;
    heads.forEach((head, number) => { head.hidden = without.has(shownColumns[number][0]); });
    mark(heads, heads[shownColumns.findIndex(([key]) => key === sortKey)], up);
  };
  explorer.querySelector(".more button").addEventListener("click", () => { limit += 4 * STEP; draw(); });
  draw();
})();
