// The last hour: GPUs in use and jobs waiting.

import { byId, make, token, whenThemeChanges } from "/static/common/dom.js";
import { CONFIG, counts, layout, plotly } from "/static/common/plotly.js";

const EVERY_MS = 2000;
const [TIME, USED, TOTAL, , WAITING] = [0, 1, 2, 3, 4];

export class History {
  constructor(cluster) {
    Object.assign(this, { cluster, drawn: 0, busy: false });
    this.plots = { "GPUs in use (%)": make("div", { class: "plot" }), "Jobs waiting": make("div", { class: "plot" }) };
    byId("history").append(...Object.entries(this.plots).map(([title, plot]) => make("figure", { class: "panel" }, make("figcaption", {}, make("h2", { text: title })), plot)));
    whenThemeChanges(() => this.show(true));
  }

  /** Draws at most every other second; the page need not wait for plotly. */
  async show(now = false) {
    if (this.busy || document.hidden || (!now && performance.now() - this.drawn < EVERY_MS) || this.cluster.history.length < 2) return;
    this.busy = true;
    this.drawn = performance.now();
    try {
      await this.draw(await plotly());
    } catch (error) {
      console.info(`The charts are not drawn: ${error.message}`); // the server is away, and the page says so
    } finally {
      this.busy = false;
    }
  }

  async draw(Plotly) {
    byId("history").hidden = false;
    const { history, origin } = this.cluster;
    const x = history.map(point => new Date((origin + point[TIME]) * 1000));
    const drawn = {
      "GPUs in use (%)": [history.map(point => (point[TOTAL] ? (100 * point[USED]) / point[TOTAL] : null)), { range: [0, 104] }],
      "Jobs waiting": [history.map(point => point[WAITING]), counts(history.map(point => point[WAITING]))],
    };
    for (const [title, [y, axis]] of Object.entries(drawn)) {
      const line = { color: token("--accent"), width: 2, shape: "hv" };
      await Plotly.react(this.plots[title], [{ x, y, mode: "lines", line, hovertemplate: "%{y:.4~g} at %{x|%H:%M:%S}<extra></extra>" }], layout({ height: 170, y: axis }), CONFIG);
    }
    byId("history").dataset.drawn = "yes";
  }
}
