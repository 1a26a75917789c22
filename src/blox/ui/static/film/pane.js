// Pane: one run at the time of the clock: its policies, its figures, its cluster and its queue.

import { Facts, make, say } from "/static/common/dom.js";
import { ClusterMap } from "/static/common/map.js";
import { count, duration, number, percent } from "/static/common/units.js";
import { Queue } from "./queue.js";

const FIGURES = {
  used: "GPUs in use", running: "running", waiting: "waiting", finished: "finished",
  jct: "avg JCT so far", interruptions: "interruptions",
};

export class Pane {
  /** `run`: {number, label, colour}; `follow(id)` is called when a job is chosen. */
  constructor(run, reel, causes, follow) {
    Object.assign(this, { run, reel, followed: null });
    const swatch = make("span", { class: "swatch" });
    swatch.style.background = run.colour;
    this.policies = make("span", { class: "note" });
    this.figures = new Facts(FIGURES);
    this.canvas = make("canvas", { role: "img", "aria-label": "Cluster map" });
    this.pointed = make("p", { class: "note pointed", text: "Point at a GPU to see its job; click to follow it." });
    this.nodes = make("tbody");
    this.table = make("details", { class: "as-table" }, make("summary", { text: "The same as a table" }),
      make("div", { class: "scroll nodes-scroll", tabindex: "0", role: "region", "aria-label": `Nodes of ${run.label}` },
        make("table", {}, make("thead", {}, make("tr", {}, make("th", { scope: "col", text: "node" }),
          make("th", { scope: "col", class: "number", text: "in use" }), make("th", { scope: "col", text: "jobs" }))), this.nodes)));
    this.table.addEventListener("toggle", () => this.showTable());
    this.queue = new Queue(run.number, reel, causes, follow);
    const box = make("div", { class: "map" }, this.canvas);
    const notes = [reel.note, reel.cluster.note].filter(Boolean).map(text => make("p", { class: "note", text }));
    this.element = make("section", { class: "panel pane", "aria-label": run.label },
      make("div", { class: "pane-head" }, make("h2", {}, swatch, document.createTextNode(run.label)), this.policies),
      ...notes, this.figures.element, box, this.pointed, this.table, this.queue.element);
    this.map = new ClusterMap(this.canvas, reel.cluster.nodes, {
      chosen: gpu => gpu !== null && this.jobsOn(gpu).length && follow(reel.ids[this.jobsOn(gpu)[0]]),
      pointed: gpu => this.point(gpu),
    });
  }

  /** Shows a moment. */
  show(time) {
    const { reel } = this;
    const figures = reel.at(time);
    this.time = time;
    this.figures.show({
      used: `${number(figures.used)} of ${number(figures.total)} (${percent(figures.used, figures.total)})`,
      running: number(figures.running), waiting: number(figures.waiting), finished: number(figures.finished),
      jct: duration(figures.jct), interruptions: number(figures.interruptions),
    });
    say(this.policies, figures.policies === this.run.label ? "" : figures.policies);
    this.map.draw({
      owners: reel.owners, laneGpu: reel.columns.lane_gpu, down: reel.downAt(time), followed: this.followed,
      colour: job => reel.palette[reel.columns.colour[job]], label: job => reel.ids[job],
    });
    this.canvas.setAttribute("aria-label",
      `Cluster map of ${this.run.label}: ${figures.used} of ${figures.total} GPUs in use by ${count(figures.running, "job")}`);
    if (this.table.open) this.showTable();
    this.queue.show(time);
    return figures;
  }

  /** Marks a job, by its id, in the map and the queue; null: none. */
  follow(id) {
    this.followed = this.queue.followed = id === null ? null : this.reel.rowOf.get(id) ?? null;
  }

  jobsOn(gpu) {
    const found = [];
    this.reel.columns.lane_gpu.forEach((each, lane) => each === gpu && this.reel.owners[lane] >= 0 && found.push(this.reel.owners[lane]));
    return found;
  }

  point(gpu) {
    if (gpu === null) return;
    const told = this.jobsOn(gpu).map(job => `job ${this.reel.ids[job]}, ${count(this.reel.columns.gpus[job], "GPU")}, ${this.who(job)}`);
    say(this.pointed, `${this.map.nameOf(gpu)}: ${told.join("; ") || "free"}`);
  }

  who(job) {
    const told = ["user", "tenant", "model"].map(what => this.reel.named(what, job)).filter(Boolean);
    return [...told, `submitted ${duration(this.time - this.reel.columns.submit_s[job])} ago`].join(", ");
  }

  /** The map in words, for those who do not see it. */
  showTable() {
    if (!this.table.open) return;
    const byNode = this.map.nodes.map(() => new Map());
    this.reel.owners.forEach((job, lane) => {
      const gpu = this.reel.columns.lane_gpu[lane];
      if (job >= 0 && gpu < this.map.gpus) {
        const here = byNode[this.map.nodeOf[gpu]];
        here.set(job, (here.get(job) ?? 0) + 1);
      }
    });
    this.nodes.replaceChildren(...this.map.nodes.map((node, i) => {
      const jobs = [...byNode[i]].map(([job, gpus]) => `${this.reel.ids[job]} (${gpus})`);
      const used = [...byNode[i].values()].reduce((sum, gpus) => sum + gpus, 0);
      return make("tr", {}, make("td", { text: node.name }), make("td", { class: "number", text: `${used} of ${node.gpus}` }),
        make("td", { text: jobs.join(", ") || "–" }));
    }));
  }
}
