"use strict";
(() => {
  for (const part of document.querySelectorAll(".needs-script")) part.hidden = false;

  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const specifications = JSON.parse(document.getElementById("specifications").textContent);
  for (const [name, specification] of Object.entries(specifications)) {
    vegaEmbed(`#${CSS.escape(name)}`, specification, {
      renderer: "svg",
      actions: false,
      tooltip: { theme: dark ? "dark" : "light" },
    }).catch(console.error);
  }

  // a link to a closed table opens it
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  open();

  const form = document.getElementById("filter");
  if (!form) return;
  const STEP = 10;
  let limit = STEP;
  const more = document.getElementById("more");
  const sections = [...document.querySelectorAll("section.corpus")];
  const checked = (part, name) =>
    new Set([...part.querySelectorAll(`input[name=${name}]:checked`)].map((input) => input.value));

  const scoreOf = (item, system, size, metric) => {
    const here = [...item.querySelectorAll(".cell")];
    const cell = here.find((one) => one.dataset.system === system && one.dataset.size === size);
    return cell ? JSON.parse(cell.dataset.scores)[metric] : null;
  };

  const arrange = (section, part) => {
    const value = (name) => part.querySelector(`select[name=${name}]`).value;
    const items = [...section.querySelectorAll(".item")];
    if (!part.querySelector("select[name=metric]")) return items;
    const metric = Number(value("metric"));
    const [system, size] = value("cell").split("|");
    const sign = Number(part.querySelector("select[name=metric]").selectedOptions[0].dataset.sign);
    const against = value("against");
    const order = value("order");
    const key = (item) => {
      if (!order) return Number(item.dataset.place);
      const own = scoreOf(item, system, size, metric);
      const other = against ? scoreOf(item, against, "", metric) : 0;
      if (own === null || other === null || own === undefined || other === undefined) return Infinity;
      return (order === "best" ? -1 : 1) * sign * (own - other);
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
          const { system, size } = cell.dataset;
          cell.hidden = !systems.has(system) || !(every || !size || sizes.has(size));
          seen ||= !cell.hidden;
        }
        block.hidden = !seen;
      }
      const count = Math.min(limit, items.length);
      document.getElementById("count").textContent = `${count} of ${items.length} items are shown.`;
      more.parentElement.hidden = count === items.length;
    }
  };

  form.addEventListener("change", () => {
    limit = STEP;
    show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  more.addEventListener("click", () => {
    limit += STEP;
    show();
  });
  show();
})();
