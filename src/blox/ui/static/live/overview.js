// The figures of now, the map of the cluster, and the policies that rule.

import { ask, byId, Facts, make, say } from "/static/common/dom.js";
import { ClusterMap } from "/static/common/map.js";
import { count, duration, number, percent } from "/static/common/units.js";

export class Overview {
  constructor(cluster) {
    this.cluster = cluster;
    this.facts = new Facts({ used: "GPUs in use", running: "running", waiting: "waiting", ended: "ended", nodes: "nodes that answer", age: "longest wait now" });
    byId("overview").append(this.facts.element);
  }

  show() {
    const { cluster } = this;
    const active = cluster.active();
    const running = active.filter(job => job.held.length);
    const waiting = active.filter(job => !job.held.length);
    const used = running.reduce((sum, job) => sum + job.held.length, 0);
    const alive = cluster.nodes.filter(([, , , , answers]) => answers);
    const total = alive.reduce((sum, [, gpus]) => sum + gpus, 0);
    const oldest = Math.min(...waiting.map(job => job.submit_s));
    this.facts.show({
      used: `${number(used)} of ${number(total)} (${percent(used, total)})`, running: number(running.length), waiting: number(waiting.length),
      ended: number(cluster.jobs.size - active.length), nodes: `${alive.length} of ${cluster.nodes.length}`,
      age: waiting.length ? duration(Math.max(0, cluster.time() - oldest)) : "–",
    });
  }
}

export class Map {
  /** `chosen(job)` is called when a GPU that a job holds is clicked. */
  constructor(cluster, chosen) {
    this.cluster = cluster;
    this.canvas = make("canvas", { role: "img", "aria-label": "Cluster map" });
    this.pointed = make("p", { class: "note pointed", text: "Point at a GPU to see its job; click to open it." });
    byId("cluster").append(make("h2", { id: "cluster-title", text: "Cluster" }), make("div", { class: "map" }, this.canvas), this.pointed);
    this.map = new ClusterMap(this.canvas, [], {
      height: 320, largest: 52, pointed: gpu => gpu !== null && this.point(gpu),
      chosen: gpu => gpu !== null && this.owners[gpu] >= 0 && chosen(this.owners[gpu]),
    });
  }

  show() {
    const { cluster } = this;
    const nodes = cluster.nodesByName();
    const shape = JSON.stringify(nodes.map(({ name, gpus, first }) => [name, gpus, first]));
    if (shape !== this.shape) {
      this.shape = shape;
      this.map.place(nodes.map(({ name, gpus, type }) => [name, gpus, type, 0]));
      this.laneGpu = Int32Array.from({ length: this.map.gpus }, (_, gpu) => gpu);
      this.gpuOf = nodes.flatMap(({ first, gpus }) => Array.from({ length: gpus }, (_, i) => first + i)); // by place in the map
    }
    const owners = cluster.owners();
    this.owners = Int32Array.from(this.gpuOf, gpu => owners[gpu]);
    const down = this.map.nodes.filter((_, i) => !nodes[i].alive || nodes[i].wanted === "down").map(node => [node.first, node.gpus]);
    this.map.draw({
      owners: this.owners, laneGpu: this.laneGpu, down, followed: null,
      colour: job => cluster.palette[cluster.jobs.get(job).colour], label: job => String(job),
    });
    const used = this.owners.reduce((sum, job) => sum + (job >= 0), 0);
    this.canvas.setAttribute("aria-label", `Cluster map: ${used} of ${this.map.gpus} GPUs in use, ${count(down.length, "node")} down. The table of nodes tells the same.`);
  }

  point(gpu) {
    const job = this.cluster.jobs.get(this.owners[gpu]);
    say(this.pointed, `${this.map.nameOf(gpu)}: ${job ? `job ${job.job}, ${job.name}, ${job.user}, ${job.state}` : "free"}`);
  }
}

const PARTS = { scheduler: "scheduler: which job goes first", admission: "admission: which jobs may enter", placement: "placement: on which GPUs", termination: "termination: when jobs end" };

export class Policies {
  constructor(cluster, controls) {
    Object.assign(this, { cluster, controls, inputs: {}, now: {}, catalogue: {} });
    this.fault = make("p", { class: "error", hidden: true });
    this.rule = make("p", { class: "note" });
    const rows = Object.entries(PARTS).map(([part, words]) => {
      this.now[part] = make("code", { text: "–" });
      this.inputs[part] = make("input", { type: "text", id: `policy-${part}`, list: `known-${part}`, autocomplete: "off", spellcheck: "false", placeholder: "another", "data-needs-token": true });
      return make("div", { class: "policy" }, make("label", { for: `policy-${part}`, text: words }), this.now[part], this.inputs[part], make("datalist", { id: `known-${part}` }));
    });
    const change = make("button", { class: "main", type: "submit", text: "Change policies", "data-needs-token": true });
    const form = make("form", { class: "stack", on: { submit: event => this.change(event) } }, ...rows, make("div", { class: "buttons" }, change));
    byId("policies").append(make("h2", { id: "policies-title", text: "Policies in force" }), this.rule, this.fault, form);
    controls.show();
    ask("/live/policies.json").then(found => this.list(found));
  }

  list(found) {
    this.catalogue = found;
    for (const part of Object.keys(PARTS)) {
      byId(`known-${part}`).replaceChildren(...found[part].map(({ name, does }) => make("option", { value: name, label: does })));
    }
    this.show();
  }

  show() {
    const { policies } = this.cluster;
    if (!policies) return;
    for (const part of Object.keys(PARTS)) say(this.now[part], policies[part]);
    const named = (this.catalogue.scheduler ?? []).find(({ name }) => name === policies.scheduler.split(":")[0]);
    say(this.rule, `${named?.does ? `${named.does} ` : ""}A round every ${duration(policies.round_s)}.`);
    this.fault.hidden = !policies.fault;
    say(this.fault, policies.fault);
  }

  async change(event) {
    event.preventDefault();
    const wanted = Object.fromEntries(Object.entries(this.inputs).map(([part, input]) => [part, input.value.trim()]));
    const done = await this.controls.act("policy", wanted, "The policies are changed from the next round on.");
    if (done) Object.values(this.inputs).forEach(input => (input.value = ""));
  }
}
