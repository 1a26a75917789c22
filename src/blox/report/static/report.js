// Figures are drawn one by one so that the page can be read meanwhile. Only the colours of text and hover
// boxes depend on the theme: they are read from the style sheet and set anew when it changes. For paper,
// figures take the width of an A4 page between its margins. Plotly's button that sends a chart to its makers'
// server, on by default in some versions, is off: results stay on the reader's machine.
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
