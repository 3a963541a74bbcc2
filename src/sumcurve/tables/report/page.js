"use strict";
(() => {
  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;
  const make = (tag, attributes = {}, ...inside) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...inside);
    return element;
  };

  // --- tables: sorted by a click on a heading, filtered, copied, and a cell traced

  const copy = async (text, said) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = make("textarea", { value: text });
      said.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    said.textContent = "copied";
  };
  const textOf = (cell) => cell.textContent.trim();
  const numberOf = (cell) => {
    const text = textOf(cell).replace(/,/g, "").replace(/−/g, "-").match(/-?\d+(\.\d+)?(e-?\d+)?/);
    return text ? Number(text[0]) : NaN;
  };
  const csv = (rows) => rows.map((row) => row.map((text) => (/[",\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text)).join(",")).join("\n");

  const titleOf = (head) => head.querySelector("[data-column]");

  const sort = (table, at) => {
    const head = table.tHead.rows[0].cells[at];
    const isNumber = titleOf(head).classList.contains("number");
    const falling = head.ariaSort ? head.ariaSort === "ascending" : isNumber;
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.ariaSort = falling ? "descending" : "ascending";
    const sign = falling ? -1 : 1;
    const key = isNumber ? numberOf : textOf;
    const order = (one, two) => {
      const [first, second] = [key(one.cells[at]), key(two.cells[at])];
      if (key === textOf) return sign * first.localeCompare(second);
      if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second);
      return sign * (first - second);
    };
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(order));
    table.classList.add("sorted");
  };

  const prepare = (details) => {
    const table = details.querySelector("table");
    const rows = [...table.tBodies[0].rows];
    const heads = [...table.tHead.rows[0].cells];
    const words = make("input", { type: "search", placeholder: "filter rows", ariaLabel: "Filter rows" });
    const chosen = [];
    heads.forEach((head, at) => {
      if (["corpus", "metric"].includes(titleOf(head).dataset.column)) {
        const values = [...new Set(rows.map((row) => textOf(row.cells[at])))];
        const every = make("option", { value: "" }, `every ${textOf(head)}`);
        const select = make("select", { ariaLabel: textOf(head) }, every, ...values.map((text) => make("option", {}, text)));
        chosen.push([select, at]);
      }
      const button = make("button", { type: "button", className: "sort" }, ...head.childNodes);
      button.addEventListener("click", () => sort(table, at));
      head.append(button);
    });
    const said = make("span", { role: "status" });
    const shown = () => [heads, ...[...table.tBodies[0].rows].filter((row) => !row.hidden).map((row) => [...row.cells])]
      .map((row) => row.map(textOf));
    const asCsv = make("button", { type: "button" }, "Copy CSV");
    asCsv.addEventListener("click", () => copy(csv(shown()), said));
    const filter = () => {
      const wanted = words.value.toLowerCase().split(/\s+/);
      let count = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !wanted.every((word) => text.includes(word)) ||
          !chosen.every(([select, at]) => !select.value || textOf(row.cells[at]) === select.value);
        count += !row.hidden;
      }
      said.textContent = `${count} of ${rows.length} rows`;
    };
    const bar = make("div", { className: "tools" }, words, ...chosen.map(([select]) => select), asCsv, said);
    bar.addEventListener("input", filter);
    details.querySelector(".wide").before(bar);

    const trace = details.querySelector(".trace");
    const button = make("button", { type: "button" }, "Copy");
    button.addEventListener("click", () => copy(trace.textContent, said));
    trace.after(" ", button, " (choose a cell)");
    rows.forEach((row, at) => { row.dataset.number = at + 1; });
    table.tBodies[0].addEventListener("click", ({ target }) => {
      const cell = target.closest("td");
      if (!cell) return;
      table.querySelector(".traced")?.classList.remove("traced");
      cell.classList.add("traced");
      const place = [details.dataset.table, cell.parentElement.dataset.number, titleOf(heads[cell.cellIndex]).dataset.column];
      trace.textContent = trace.textContent.replace(/trace \S+/, `trace ${place.join(":")}`);
    });
  };
  for (const details of document.querySelectorAll("details.table")) {
    details.addEventListener("toggle", () => prepare(details), { once: true });
  }

  // --- summaries

  const form = document.getElementById("filter");
  const FIRST = 3, STEP = 10;
  let limit = FIRST;
  const more = document.getElementById("more");
  const sections = [...document.querySelectorAll("section.corpus")];
  const checked = (part, name) =>
    new Set([...part.querySelectorAll(`input[name=${name}]:checked`)].map((input) => input.value));

  const scoresOf = (cell) => JSON.parse(cell.dataset.scores);
  const scoreOf = (item, system, metric) => {
    const scores = [...item.querySelectorAll(".cell")].map((cell) => scoresOf(cell)[system]).find(Boolean);
    return scores ? scores[metric] : null;
  };

  const arrange = (section, part) => {
    const value = (name) => part.querySelector(`select[name=${name}]`).value;
    const items = [...section.querySelectorAll(".item")];
    if (!part.querySelector("select[name=metric]")) return items;
    const metric = Number(value("metric"));
    const system = value("cell");
    const [by] = part.querySelector("select[name=metric]").selectedOptions;
    const sign = Number(by.dataset.sign);
    for (const cell of section.querySelectorAll(".cell")) {
      const score = Object.values(scoresOf(cell))[0][metric] ?? null;
      cell.querySelector(".score-of-item").textContent = score === null ? "" : `${by.textContent} ${score.toFixed(by.dataset.decimals)}`;
    }
    const against = value("against");
    const order = value("order");
    const key = (item) => {
      if (!order) return Number(item.dataset.place);
      const score = scoreOf(item, system, metric);
      const other = against ? scoreOf(item, `${against}|`, metric) : 0;
      if (score == null || other == null) return Infinity;
      return (order === "best" ? -1 : 1) * sign * (score - other);
    };
    const keys = new Map(items.map((item) => [item, key(item)]));
    items.sort((one, two) => keys.get(one) - keys.get(two) || one.dataset.place - two.dataset.place);
    section.querySelector(".items").append(...items);
    return items;
  };

  const show = () => {
    const chosen = form.querySelector("input[name=corpus]:checked");
    for (const section of sections) {
      section.hidden = Boolean(chosen) && section.dataset.corpus !== chosen.value;
    }
    for (const part of form.querySelectorAll(".of-corpus")) {
      const section = sections.find((one) => one.dataset.corpus === part.dataset.corpus);
      part.hidden = section.hidden;
      if (section.hidden) continue;
      const systems = checked(part, "system");
      const sizes = checked(part, "size");
      const every = !part.querySelector("input[name=size]");
      const items = arrange(section, part);
      items.forEach((item, place) => {
        item.hidden = place >= limit;
      });
      for (const block of section.querySelectorAll(".system")) {
        let seen = false;
        for (const cell of block.querySelectorAll(".cell")) {
          cell.hidden = !Object.keys(scoresOf(cell)).some((one) => {
            const [system, size] = one.split("|");
            return systems.has(system) && (every || !size || sizes.has(size));
          });
          seen ||= !cell.hidden;
        }
        block.hidden = !seen;
      }
      const count = Math.min(limit, items.length);
      document.getElementById("count").textContent = `${count} of ${items.length} items are shown.`;
      more.parentElement.hidden = count === items.length;
    }
  };

  form?.addEventListener("change", () => {
    document.getElementById("summaries").classList.toggle("tokens", form.elements.tokens.checked);
    limit = FIRST;
    show();
  });
  form?.addEventListener("submit", (event) => event.preventDefault());
  more?.addEventListener("click", () => {
    limit += STEP;
    show();
  });

  // a link to a closed table opens it, one to an item that is not shown shows it
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target instanceof HTMLDetailsElement) target.open = true;
    const section = target && target.closest("section.corpus");
    if (!section) return;
    const choice = form.querySelector(`input[name=corpus][value="${CSS.escape(section.dataset.corpus)}"]`);
    if (choice) choice.checked = true;
    limit = Math.max(limit, [...section.querySelectorAll(".item")].indexOf(target) + 1);
    show();
    target.scrollIntoView();
  };
  addEventListener("hashchange", open);
  if (form) show();
  open();
})();
