// One job in a dialog: what it does, why it waits, its curves, its log and its life; and the control to cancel it.

import { ask, byId, Facts, make, say, token, whenThemeChanges } from "/static/common/dom.js";
import { CONFIG, layout, plain, plotly } from "/static/common/plotly.js";
import { duration, number } from "/static/common/units.js";

const AGAIN_MS = 2000;
const FIRST_CURVES = ["loss", "iteration_s"];

export class JobDialog {
  constructor(cluster, controls) {
    Object.assign(this, { cluster, controls, number: null });
    this.dialog = byId("job");
    this.title = make("h2", { id: "job-title" });
    this.facts = new Facts({ state: "state", gpus: "GPUs", age: "age", iteration: "iteration", checkpoint: "checkpoint", starts: "starts", failures: "failures", expected: "expected" });
    this.why = make("p");
    this.command = make("pre", { class: "command", role: "region", tabindex: "0", "aria-label": "Command" });
    this.curves = make("div", { class: "curves" });
    this.rank = make("select", { "aria-label": "Rank", on: { change: () => this.readLog() } });
    this.log = make("pre", { class: "log", role: "region", tabindex: "0", "aria-label": "Log" });
    this.life = make("ol", { class: "life" });
    this.cancel = controls.guard(make("button", { type: "button", text: "Cancel this job", "data-needs-token": true, on: { click: () => this.end() } }));
    this.dialog.append(
      make("div", { class: "pane-head" }, this.title, make("div", { class: "buttons" }, this.cancel, make("button", { type: "button", text: "Close", on: { click: () => this.dialog.close() } }))),
      this.facts.element, this.why, this.curves, make("h3", { text: "Life" }), this.life,
      make("div", { class: "pane-head" }, make("h3", { text: "Log" }), make("label", {}, document.createTextNode("rank "), this.rank)), this.log, make("h3", { text: "Command" }), this.command);
    this.dialog.addEventListener("close", () => { this.number = null; clearTimeout(this.timer); });
    whenThemeChanges(() => this.number !== null && this.draw(this.pushed));
  }

  async open(job) {
    this.number = job;
    this.curves.replaceChildren();
    this.plots = new Map();
    this.pushed = {};
    for (const place of [this.log, this.command, this.why]) say(place, "");
    this.life.replaceChildren();
    say(this.title, `Job ${job}`);
    if (!this.dialog.open) this.dialog.showModal();
    await this.read();
  }

  /** Reads the job again, and once more after a while, as long as the dialog is open. */
  async read() {
    const job = this.number;
    clearTimeout(this.timer);
    try {
      this.show(await ask(`/live/job/${job}`));
      await this.readLog();
      await this.draw(await ask(`/live/job/${job}/curves`));
    } catch (error) {
      say(this.why, error.message);
    }
    if (this.number === job) this.timer = setTimeout(() => this.number === job && this.read(), AGAIN_MS);
  }

  show(view) {
    if (view.job !== this.number) return;
    const name = view.name ? ` · ${view.name}` : "";
    say(this.title, `Job ${view.job}${name} · ${view.user}`);
    const iteration = value => (value < 0 ? "–" : number(value));
    this.facts.show({
      state: view.state, gpus: number(view.gpus), age: duration((view.end_s ?? this.cluster.time()) - view.submit_s), iteration: iteration(view.iteration),
      checkpoint: iteration(view.checkpoint), starts: number(view.starts), failures: number(view.failures), expected: view.expected_s === null ? "unknown" : `${duration(view.expected_s)} (${view.expected_from})`,
    });
    const pushed = Object.entries(view.metrics).map(([key, value]) => `${key} ${Number(value).toPrecision(4)}`).join(", ");
    say(this.why, view.queueing ? `It waits at place ${view.queueing.place}: ${view.queueing.why}` : view.nodes.length ? `On ${view.nodes.join(", ")}.${pushed ? ` Last pushed: ${pushed}.` : ""}` : pushed ? `Last pushed: ${pushed}.` : "");
    say(this.command, view.command.join(" "));
    this.cancel.hidden = view.end_s !== null;
    const entries = view.life.slice(-200);
    if (this.life.childElementCount !== entries.length) {
      this.life.replaceChildren(...entries.map(({ at_s, what }) => make("li", {}, make("time", { text: this.cluster.wall(at_s) }), document.createTextNode(` ${what}`))));
    }
  }

  async readLog() {
    const job = this.number;
    const { ranks, text, cut } = await ask(`/live/job/${job}/log?rank=${this.rank.value || 0}`);
    if (this.number !== job) return;
    if (this.rank.childElementCount !== ranks.length) this.rank.replaceChildren(...ranks.map(rank => make("option", { value: rank, text: rank })));
    const atEnd = this.log.scrollTop + this.log.clientHeight >= this.log.scrollHeight - 4;
    say(this.log, text ? `${cut ? "[the end of it]\n" : ""}${text}` : "It has printed nothing.");
    if (atEnd) this.log.scrollTop = this.log.scrollHeight;
  }

  async draw(curves) {
    this.pushed = curves;
    const names = [...FIRST_CURVES.filter(name => name in curves), ...Object.keys(curves).filter(name => !FIRST_CURVES.includes(name))].slice(0, 6);
    if (!names.length) return;
    const Plotly = await plotly();
    for (const name of names.filter(each => !this.plots.has(each))) {
      const plot = make("div", { class: "plot" });
      this.plots.set(name, plot);
      this.curves.append(make("figure", {}, make("figcaption", { text: name }), plot));
    }
    for (const name of names) {
      const points = curves[name];
      const trace = { x: points.map(([x]) => x), y: points.map(([, y]) => y), name: plain(name), mode: points.length < 3 ? "markers" : "lines", line: { color: token("--accent"), width: 2 }, hovertemplate: "%{y:.5g} at iteration %{x:,}<extra></extra>" };
      await Plotly.react(this.plots.get(name), [trace], layout({ height: 170, x: { title: { text: "iteration", standoff: 4 } } }), CONFIG);
    }
  }

  async end() {
    const job = this.number;
    if (await this.controls.act("cancel", { job }, `Job ${job} is cancelled.`) && this.number === job) await this.read();
  }
}

