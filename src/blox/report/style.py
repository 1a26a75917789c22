"""The page's style sheet and the script that draws its figures; both go into the page as they are."""

CSS = """
:root { --ground: #ffffff; --card: #ffffff; --ink: #1c2024; --soft: #5d6670; --rule: #dfe3e8; --mark: #e6f4ea;
  --mark-ink: #0b6b3a; --code: #f5f7f9; color-scheme: light dark; }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171a; --card: #14171a; --ink: #e6e9ec; --soft: #9aa4ae; --rule: #2f353b; --mark: #173524;
    --mark-ink: #7ddba3; --code: #1d2125; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); line-height: 1.5;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 2rem 1.5rem 4rem; }
header p.title { margin: 0 0 .4rem; color: var(--soft); font-size: .95rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: 0 0 .5rem; text-wrap: balance; max-width: 60rem; }
header p.price { margin: 0 0 1.5rem; font-size: 1.1rem; color: var(--soft); max-width: 60rem; }
section { margin: 2.25rem 0 0; }
h2 { font-size: 1.15rem; margin: 0 0 .15rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
p.caption { margin: 0 0 .5rem; color: var(--soft); font-size: .92rem; max-width: 60rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 0 2rem; }
.figure { width: 100%; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .93rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .38rem .6rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
thead th { font-weight: 600; color: var(--soft); border-bottom-color: var(--soft); vertical-align: bottom; }
thead tr.groups th { border-bottom: none; padding-bottom: 0; text-align: center; }
thead tr.groups th.span { border-bottom: 1px solid var(--rule); padding-bottom: .15rem; }
th small { font-weight: 400; }
th:first-child, td:first-child, table.texts th, table.texts td { text-align: left; }
tbody th { font-weight: 600; }
td.best { background: var(--mark); color: var(--mark-ink); font-weight: 700; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .5em; }
details { border-top: 1px solid var(--rule); padding: .5rem 0; }
summary { cursor: pointer; font-weight: 600; }
pre { background: var(--code); padding: .8rem 1rem; border-radius: 6px; overflow-x: auto; font-size: .86rem; margin: .5rem 0; }
code { font-family: ui-monospace, "SF Mono", Menlo, "Liberation Mono", monospace; }
footer { margin-top: 2.5rem; color: var(--soft); font-size: .88rem; border-top: 1px solid var(--rule); padding-top: .75rem; }
@media print {
  :root { --ground: #fff; --card: #fff; --ink: #000; --soft: #444; --rule: #bbb; --mark: #e6f4ea; --mark-ink: #0b6b3a; --code: #f5f5f5; }
  main { max-width: none; padding: 0; } section { break-inside: avoid; } section.long { break-inside: auto; }
  table { font-size: .7rem; } th, td { padding: .2rem .3rem; } .modebar { display: none !important; }
}
"""

# Figures are drawn one by one so that the page can be read meanwhile. Only the colours of text depend on
# the theme: they are taken from the style sheet and set anew when it changes, and for printing.
SCRIPT = """
(function () {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const ink = paper => paper ? "#000000" : getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  const ground = paper => paper ? "#ffffff" : getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
  const colours = paper => ({ "font.color": ink(paper), "hoverlabel.bgcolor": ground(paper), "hoverlabel.font.color": ink(paper) });
  const config = { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["lasso2d", "select2d"] };
  const boxes = Array.from(document.querySelectorAll(".figure"));
  const repaint = paper => boxes.forEach(box => { if (box.data) Plotly.relayout(box, colours(paper)); });
  function draw(index) {
    if (index >= boxes.length) { document.body.dataset.drawn = "yes"; return; }
    const box = boxes[index];
    const figure = JSON.parse(document.getElementById(box.id + "-data").textContent);
    figure.layout.font = Object.assign({}, figure.layout.font, { color: ink(false) });
    figure.layout.hoverlabel = Object.assign({}, figure.layout.hoverlabel, { bgcolor: ground(false), font: { color: ink(false) } });
    Plotly.newPlot(box, figure.data, figure.layout, config).then(() => setTimeout(() => draw(index + 1), 0));
  }
  dark.addEventListener("change", () => repaint(false));
  window.addEventListener("beforeprint", () => repaint(true));
  window.addEventListener("afterprint", () => repaint(false));
  draw(0);
})();
"""
