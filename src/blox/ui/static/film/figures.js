// Figures as they build up: each chart is drawn once, for the whole run; a curtain hides what is still to come.

import { make, whenThemeChanges } from "/static/common/dom.js";
import { CONFIG, counts, layout, MARGIN, plain, plotly } from "/static/common/plotly.js";
import { axisUnit, duration, number } from "/static/common/units.js";

const HEIGHT = 190;
const CHARTS = {
  utilisation: { title: "GPUs in use (%)", told: value => `${number(value, 1)} %`, y: { range: [0, 104] } },
  waiting: { title: "Jobs waiting", told: value => number(value), counts: true },
  jct: { title: "Average JCT of the jobs finished so far", told: duration, time: true },
};

export class Figures {
  constructor(element, clock) {
    Object.assign(this, { element, clock, charts: [], panes: [] });
    clock.subscribe(() => this.curtains());
    new ResizeObserver(() => this.curtains()).observe(element);
    whenThemeChanges(() => this.draw());
  }

  /** Shows the curves of these panes. */
  show(panes) {
    this.panes = panes;
    this.charts = Object.entries(CHARTS).map(([name, chart]) => {
      const curtain = make("div", { class: "curtain" });
      const plot = make("div", { class: "plot" });
      const box = make("div", { class: "chart", on: { click: event => this.seek(event, box) } }, plot, curtain);
      return { name, ...chart, plot, curtain, box };
    });
    this.element.replaceChildren(...this.charts.map(({ title, box }) => make("figure", { class: "panel" }, make("figcaption", {}, make("h2", { text: title })), box)));
    this.element.hidden = false;
    this.draw();
  }

  async draw() {
    const Plotly = await plotly();
    const { begin, end } = this.clock;
    const unit = axisUnit(end - begin);
    for (const chart of this.charts) {
      const longest = Math.max(0, ...this.panes.flatMap(pane => [...(pane.reel.columns[`curve_${chart.name}`] ?? [])].filter(Number.isFinite)));
      const scale = chart.time ? axisUnit(longest) : { name: "", length: 1 };
      const traces = this.panes.flatMap((pane, i) => this.trace(pane, i, chart, unit, scale));
      const x = { range: [begin / unit.length, end / unit.length], title: { text: `time (${unit.name})`, standoff: 4 } };
      const y = { ...(chart.counts ? counts([longest]) : {}), ...chart.y, title: { text: scale.name, standoff: 4 } };
      await Plotly.react(chart.plot, traces, layout({ height: HEIGHT, x, y }), CONFIG);
    }
    this.element.dataset.drawn = "yes";
    this.curtains();
  }

  trace(pane, i, { name, told }, unit, scale) {
    const { columns } = pane.reel;
    const [time, value, low, high] = ["_time", "", "_low", "_high"].map(ending => columns[`curve_${name}${ending}`]);
    const line = { color: pane.run.colour, width: i ? 1.6 : 2.2, dash: i ? "dash" : "solid", shape: low ? "linear" : "hv" };
    const x = Array.from(time, each => each / unit.length);
    const found = [{
      x, y: Array.from(value, each => each / scale.length), name: plain(pane.run.label), mode: "lines", line,
      text: Array.from(value, (each, k) => told(each) + (low ? ` (${told(low[k])} to ${told(high[k])})` : "")),
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>",
    }];
    if (low) {
      const band = { type: "scatter", mode: "lines", line: { width: 0 }, hoverinfo: "skip", x };
      found.unshift({ ...band, y: Array.from(low, each => each / scale.length) },
        { ...band, y: Array.from(high, each => each / scale.length), fill: "tonexty", fillcolor: faint(pane.run.colour) });
    }
    return found;
  }

  /** Draws the curtains back to the time of the clock. */
  curtains() {
    const { begin, end, time } = this.clock;
    for (const { box, curtain } of this.charts) {
      const width = box.clientWidth - MARGIN.l - MARGIN.r;
      curtain.style.left = `${MARGIN.l + (width * (time - begin)) / (end - begin || 1)}px`;
    }
  }

  seek(event, box) {
    const { begin, end } = this.clock;
    const left = event.clientX - box.getBoundingClientRect().left - MARGIN.l;
    this.clock.seek(begin + ((end - begin) * left) / (box.clientWidth - MARGIN.l - MARGIN.r));
  }
}

/** A colour `#rrggbb`, nearly transparent. */
function faint(colour) {
  const [red, green, blue] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
  return `rgba(${red},${green},${blue},0.15)`;
}
