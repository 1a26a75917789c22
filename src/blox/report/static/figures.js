// Figures are drawn one by one so that the page can be read meanwhile. Only the colours of text and hover
// boxes depend on the theme: they are read from the style sheet and set anew when it changes. For paper,
// figures take the width of an A4 page between its margins. Plotly's button that sends a chart to its makers'
// server, on by default in some versions, is off: results stay on the reader's machine.
const PAPER_PX = 700;
const CONFIG = {
  displaylogo: false, displayModeBar: "hover", responsive: true,
  showSendToCloud: false, plotlyServerURL: "",
  modeBarButtonsToRemove: ["lasso2d", "select2d", "zoomIn2d", "zoomOut2d", "autoScale2d"]
};
const boxes = Array.from(document.querySelectorAll(".figure"));

/** Data of the page that is kept compressed. */
async function unpacked(name) {
  const text = document.getElementById(name + "-packed").textContent;
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

const token = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function colours(paper) {
  const ink = paper ? "#000000" : token("--ink");
  return {
    "font.color": ink, "hoverlabel.font.color": ink,
    "hoverlabel.bgcolor": paper ? "#ffffff" : token("--ground")
  };
}

function repaint(paper, size) {
  for (const box of boxes) {
    if (box.data) Plotly.relayout(box, Object.assign(colours(paper), size));
  }
}

/** Draws one figure. Where a finger would scroll the page, dragging in a figure does not zoom. */
async function draw(box) {
  const figure = await unpacked(box.id);
  if (matchMedia("(pointer: coarse)").matches) figure.layout.dragmode = false;
  await Plotly.newPlot(box, figure.data, figure.layout, CONFIG);
  await Plotly.relayout(box, colours(false));
}

async function drawAll() {
  for (const box of boxes) {
    await draw(box);
    await new Promise(resolve => setTimeout(resolve));
  }
}
