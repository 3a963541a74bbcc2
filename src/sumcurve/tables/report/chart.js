"use strict";
// A chart of a panel (see chart.py) as a Vega-Lite specification. Data are rows; names of methods stand at line ends.
const X_TITLES = {
  records: "training records",
  updates: "updates to the scored checkpoint",
  seconds: "training seconds",
  parameters: "parameters of the model",
};
const GREY = "#7a828a";

// the rising heights moved apart so that neighbours are at least `gap` from each other
function apart(rows, gap, least, most) {
  rows.sort((one, two) => one.score - two.score);
  rows.forEach((row, at) => {
    row.place = at ? Math.max(row.score, rows[at - 1].place + gap) : Math.max(row.score, least);
  });
  let top = most;
  for (const row of [...rows].reverse()) {
    row.place = Math.min(row.place, top);
    top = row.place - gap;
  }
  return rows;
}

function specification(corpus, panel, x, hidden, small) {
  const shown = Object.entries(corpus.methods).filter(([name]) => !hidden.has(name));
  const title = Object.fromEntries(shown.map(([name, [text]]) => [name, text]));
  const height = small ? 150 : 330;
  const span = (score, low, high) => {
    const text = (value) => value.toFixed(panel.decimals).replace("-", "−");
    return low === null ? text(score) : `${text(score)} [${text(low)}, ${text(high)}]`;
  };
  const row = (name, at, score, low, high, reads, records, fitted) => ({
    name: title[name], x: at, score, low: low ?? score, high: high ?? score, reads,
    records: records.toLocaleString("en") + (fitted ? " (fitted, not measured)" : ""), value: span(score, low, high),
  });
  const points = panel.points.flatMap(([name, place, score, low, high, reads, records]) => {
    const at = x === "records" ? place : (corpus.costs[`${name}|${records}`] ?? {})[x];
    return name in title && at ? [row(name, at, score, low, high, reads, records)] : [];
  });
  const fitted = (x === "records" ? panel.fitted : []).flatMap(([name, at, score, low, high]) =>
    name in title ? [row(name, at, score, low, high, true, at, true)] : []);
  const levels = panel.levels.filter(([text], at) => !at || text === "Lead").map(([name, score]) => ({ name, score }));
  points.forEach((one, step) => { one.step = step; });
  if (!points.length) return null;

  const scores = [...points.flatMap((one) => [one.low, one.high]), ...levels.map((one) => one.score),
    ...fitted.map((one) => one.score)];
  const room = (Math.max(...scores) - Math.min(...scores)) * 0.05 || 1;
  const [least, most] = [Math.min(...scores) - room, Math.max(...scores) + room];
  const ends = new Map();
  for (const one of [...points, ...fitted].sort((first, second) => first.x - second.x)) ends.set(one.name, one);
  const labels = apart([...[...ends.values()].map(({ name, score }) => ({ name, score })),
    ...levels.map((one) => ({ ...one, level: true }))], (16 / height) * (most - least), least, most);
  const names = shown.map(([, [text]]) => text);
  const color = { field: "name", type: "nominal", legend: null,
    scale: { domain: names, range: shown.map(([, [, colour]]) => colour) } };
  const shape = { field: "name", type: "nominal", legend: null,
    scale: { domain: names, range: shown.map(([, [, , form]]) => form) } };
  const places = [...points, ...fitted].map((one) => one.x);
  const axis = x === "records" ? { values: panel.ticks, labelOverlap: "greedy" } : { tickCount: 4 };
  const first = panel.zero && x === "records" ? `datum.value <= ${panel.zero} ? '0' : ` : "";
  const X = { field: "x", type: "quantitative", title: small ? null : `${X_TITLES[x]} (logarithmic)`,
    scale: { type: "log", nice: false, domain: [Math.min(...places) / 1.08, Math.max(...places) * 1.08] },
    axis: { ...axis, labelExpr: `${first}format(datum.value, datum.value < 10000 ? ',~r' : '.2~s')`, grid: false } };
  const Y = { field: "score", type: "quantitative", title: small ? null : `${panel.title} (${panel.unit})`,
    scale: { domain: [least, most], nice: false, zero: false }, axis: { tickCount: small ? 3 : 6, domain: false, ticks: false } };
  const band = (opacity) => ({ x: X, y: { ...Y, field: "low" }, y2: { field: "high" }, color, opacity: { value: opacity } });
  const costs = x !== "records"; // lines may turn back, so that intervals are bars
  const tooltip = [{ field: "name", title: "method" }, { field: "records", title: "records" },
    { field: "value", title: panel.title }];
  const layers = [
    { data: { values: points }, mark: { type: costs ? "rule" : "area", clip: true }, encoding: band(costs ? 0.5 : 0.14) },
    { data: { values: levels }, mark: { type: "rule", color: GREY, strokeDash: [4, 3] }, encoding: { y: Y } },
    { data: { values: fitted }, mark: { type: "area", clip: true }, encoding: band(0.07) },
    { data: { values: fitted }, mark: { type: "line", clip: true, strokeDash: [5, 3], size: 1.3 }, encoding: { x: X, y: Y, color } },
    { data: { values: points }, mark: { type: "line", size: small ? 1.5 : 2 }, encoding: { x: X, y: Y, color, order: { field: "step" } } },
  ];
  for (const reads of [true, false]) {
    const mark = { type: "point", size: small ? 18 : 46, opacity: 1, filled: reads, ...(reads ? {} : { fill: "Canvas" }) };
    const values = points.filter((one) => one.reads === reads);
    layers.push({ data: { values }, mark, encoding: { x: X, y: Y, color, shape } });
  }
  if (!small) {
    const text = { type: "text", align: "left", baseline: "middle", dx: 8 };
    const beside = { x: { value: "width" }, y: { ...Y, field: "place" }, text: { field: "name" } };
    layers.push({ data: { values: labels.filter((one) => one.level) }, mark: { ...text, color: GREY }, encoding: beside });
    layers.push({ data: { values: labels.filter((one) => !one.level) }, mark: { ...text, fontWeight: "bold" },
      encoding: { ...beside, color } });
    layers.push({ data: { values: [...fitted, ...points] }, mark: { type: "circle", opacity: 0, size: 420 },
      encoding: { x: X, y: Y, tooltip } });
  }
  const longest = Math.max(...labels.map((one) => one.name.length));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: "container", height, background: "transparent",
    title: small ? { text: panel.title, anchor: "start", fontWeight: "normal" } : undefined,
    padding: { left: 5, top: 5, bottom: 5, right: small ? 8 : Math.min(170, 16 + 7 * longest) },
    autosize: { type: "fit-x", contains: "padding" },
    layer: layers.filter((layer) => layer.data.values.length),
    config: {
      font: "system-ui, sans-serif", view: { stroke: null }, aria: false,
      axis: { labelColor: "currentColor", titleColor: "currentColor", gridColor: "currentColor", tickColor: "currentColor",
        domainColor: "currentColor", gridOpacity: 0.12, labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal" },
      title: { color: "currentColor", fontSize: 12 }, text: { fontSize: 12 },
    },
  };
}
