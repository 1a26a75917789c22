"""The page's style sheet and the script that draws its figures; both go into the page as they are."""

CSS = """
:root {
  --ground: #ffffff; --ink: #1c2024; --soft: #5d6670; --rule: #dfe3e8; --code: #f5f7f9;
  --mark: #e6f4ea; --mark-ink: #0b6b3a; color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a; --ink: #e6e9ec; --soft: #9aa4ae; --rule: #2f353b; --code: #1d2125;
    --mark: #173524; --mark-ink: #7ddba3;
  }
}
@media print {
  :root {
    --ground: #ffffff; --ink: #000000; --soft: #444444; --rule: #bbbbbb; --code: #f5f5f5;
    --mark: #e6f4ea; --mark-ink: #0b6b3a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif;
}
main { max-width: 1240px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
header p.title { margin: 0 0 .4rem; color: var(--soft); font-size: .95rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; text-wrap: balance; max-width: 60rem; }
header p.price { margin: 0 0 1.5rem; font-size: 1.1rem; color: var(--soft); max-width: 60rem; }
section { margin: 2.25rem 0 0; min-width: 0; }
h2 { font-size: 1.15rem; margin: 0 0 .15rem; }
p.caption { margin: 0 0 .5rem; color: var(--soft); font-size: .92rem; max-width: 60rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
.figure { width: 100%; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; width: 100%; }
table.texts { width: auto; margin-bottom: 1rem; }
th, td {
  padding: .38rem .45rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule);
}
thead th { font-weight: 600; color: var(--soft); border-bottom-color: var(--soft); vertical-align: top; }
thead tr.groups th { border-bottom: none; padding-bottom: 0; text-align: center; }
thead tr.groups th.span { border-bottom: 1px solid var(--rule); padding-bottom: .15rem; }
th small, td small { display: block; font-weight: 400; }
td small { color: var(--soft); font-size: .8em; }
th:first-child, td:first-child, table.texts th, table.texts td { text-align: left; }
table.texts th, table.texts td { padding-right: 1.5rem; }
tbody th { font-weight: 600; white-space: normal; overflow-wrap: break-word; max-width: 18rem; }
th.name { text-align: left; }
td.best, td.tied { background: var(--mark); color: var(--mark-ink); }
td.best { font-weight: 700; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .5em; }
.swatch, td.best, td.tied { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
details { border-top: 1px solid var(--rule); padding: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre {
  background: var(--code); padding: .8rem 1rem; border-radius: 6px; margin: .5rem 0;
  overflow-x: auto; font-size: .86rem;
}
code { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; }
footer {
  margin-top: 2.5rem; padding-top: .75rem; border-top: 1px solid var(--rule);
  color: var(--soft); font-size: .88rem;
}
@media print {
  main { max-width: none; padding: 0; }
  section { break-inside: avoid; margin-top: 1.25rem; }
  section.long { break-inside: auto; }
  .pair { display: block; }
  table { font-size: .66rem; }
  th, td { padding: .2rem .25rem; }
  .modebar { display: none !important; }
}
"""

# Figures are drawn one by one so that the page can be read meanwhile. Only the colours of text and
# hover boxes depend on the theme: they are read from the style sheet and set anew when it changes.
# For paper, figures take the width of an A4 page between its margins. Plotly's button that sends a chart
# to its makers' server, on by default in some versions, is off: results stay on the reader's machine.
SCRIPT = """
(function () {
  "use strict";
  const PAPER_PX = 700;
  const config = {
    displaylogo: false, displayModeBar: "hover", responsive: true,
    showSendToCloud: false, plotlyServerURL: "",
    modeBarButtonsToRemove: ["lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]
  };
  const boxes = Array.from(document.querySelectorAll(".figure"));
  const value = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function colours(paper) {
    const ink = paper ? "#000000" : value("--ink");
    return {
      "font.color": ink, "hoverlabel.font.color": ink,
      "hoverlabel.bgcolor": paper ? "#ffffff" : value("--ground")
    };
  }
  function repaint(paper, size) {
    for (const box of boxes) {
      if (box.data) Plotly.relayout(box, Object.assign(colours(paper), size));
    }
  }
  function draw(index) {
    if (index >= boxes.length) { document.body.dataset.drawn = "yes"; return; }
    const box = boxes[index];
    const figure = JSON.parse(document.getElementById(box.id + "-data").textContent);
    Plotly.newPlot(box, figure.data, figure.layout, config)
      .then(() => Plotly.relayout(box, colours(false)))
      .then(() => setTimeout(() => draw(index + 1), 0));
  }
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => repaint(false, {}));
  window.addEventListener("beforeprint", () => repaint(true, { width: PAPER_PX, autosize: false }));
  window.addEventListener("afterprint", () => repaint(false, { width: null, autosize: true }));
  draw(0);
})();
"""
