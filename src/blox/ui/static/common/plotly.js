// Plotly, from its Python package: loaded when the first chart is drawn, so that the page is there before it.

import { ask, token } from "./dom.js";

let loading = null;

async function load() {
  // Parts of the script add style elements, which the page's policy forbids, unless elements of these ids are there.
  for (const id of await ask("/plotly-styles.json")) {
    if (document.getElementById(id)) continue;
    const stand = document.createElement("template");
    stand.id = id;
    document.head.append(stand);
  }
  await new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = "/plotly.js";
    script.onload = resolve;
    script.onerror = () => reject(new Error("plotly's script could not be loaded"));
    document.head.append(script);
  });
  return window.Plotly;
}

/** Plotly itself. Where the server was away, the next call loads it again. */
export function plotly() {
  loading ??= load().catch(error => {
    loading = null;
    throw error;
  });
  return loading;
}

const AXIS = { gridcolor: "rgba(128,128,128,0.22)", zeroline: false, fixedrange: true, linecolor: "rgba(128,128,128,0.6)", ticks: "outside", ticklen: 3, tickcolor: "rgba(128,128,128,0.6)" };
const FEW = 5;
export const MARGIN = { l: 52, r: 10, t: 6, b: 40 };

/** A layout in the colours of the page. */
export function layout({ height, x = {}, y = {} }) {
  const ink = token("--ink");
  return {
    height, margin: MARGIN, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false, hovermode: "x",
    font: { family: token("--sans"), size: 12, color: ink }, hoverlabel: { bgcolor: token("--panel"), font: { color: ink } },
    dragmode: false, xaxis: { ...AXIS, ...x }, yaxis: { ...AXIS, rangemode: "tozero", ...y },
  };
}

/** An axis of these counts: no ticks between whole numbers, of which plotly has some where there are few. */
export const counts = values => (values.every(value => !(value > FEW)) ? { dtick: 1 } : {});

export const CONFIG = { displayModeBar: false, responsive: true, showSendToCloud: false, plotlyServerURL: "" };

/** A text that plotly shows as it is: it would read tags in it. */
export const plain = text => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
