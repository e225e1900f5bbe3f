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

  // The table of all correlations: rows are numbers in columns, and only visible ones become elements.
  const explorer = document.getElementById("explorer");
  if (!explorer) return;
  const { names, titles, columns, help } = JSON.parse(document.getElementById("correlations").textContent);
  const count = columns.r.length;
  const shownColumns = [
    ["metric", "metric"], ["schedule", "schedule"], ["component", "component"], ["r", "r", 1], ["low", "low", 1],
    ["high", "high", 1], ["p_max_t", "p, all at once", 1], ["n", "points", 1], ["target", "target"],
    ["trackers", "trackers"], ["variant", "variant"], ["scope", "scope"], ["coefficient", "coefficient"],
    ["carried_by", "carried by"],
  ];
  const STEP = 60;
  let sortKey = "r", up = false, limit = STEP;

  const point = (value) => {
    if (value === null) return "\u2013";
    const digits = (Math.abs(value) / 10000).toFixed(3).replace(/^0/, "");
    return (value < 0 && /[1-9]/.test(digits) ? "\u2212" : "") + digits;
  };
  const shown = (key, row) => {
    const value = columns[key][row];
    if (titles[key]) return titles[key][value];
    if (names[key]) return names[key][value];
    if (key === "p_max_t" && value !== null && value < 10) return "< .001";
    if (key === "n") return value === null ? "\u2013" : String(value);
    return point(value);
  };

  const form = explorer.querySelector("form"), controls = {};
  const field = (title, element) => {
    const label = document.createElement("label");
    label.append(title, element);
    form.append(label);
    element.addEventListener("input", () => { limit = STEP; draw(); });
    return element;
  };
  const preferred = { target: explorer.dataset.target, coefficient: explorer.dataset.coefficient, scope: "within", trackers: names.trackers.includes("core") ? "core" : "all", variant: names.variant[0] };
  for (const key of ["target", "trackers", "scope", "coefficient", "variant", "component"]) {
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
      up = sortKey === key ? !up : !number;
      sortKey = key;
      draw();
    });
    return head;
  });
  explorer.querySelector("thead tr").append(...heads);

  // A column whose value was chosen is the same in every row, and is hidden.
  const hidden = () => new Set(shownColumns.map(([key]) => key).filter((key) => key === "carried_by" ? names[key].length < 2 :
    ["target", "trackers", "scope", "coefficient", "variant", "component"].includes(key) && (!controls[key] || controls[key].value !== "")));

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
