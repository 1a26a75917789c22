// Nodes with their controls, and what happened last.

import { byId, make } from "/static/common/dom.js";
import { Table, textRow } from "./tables.js";

const SHOWN = 120; // events

export class Nodes {
  constructor(cluster, controls) {
    Object.assign(this, { cluster, controls });
    this.table = new Table("Nodes", [["node"], ["in use", "number"], ["state"], ["jobs", "minor"], ["controls", "controls"]],
      () => textRow(["name", "number", "", "words minor"], ({ name, used, gpus, state, jobs }) => [name, `${used} of ${gpus}`, state, jobs], { extra: current => this.buttons(current) }));
    byId("nodes").append(make("h2", { id: "nodes-title", text: "Nodes" }), this.table.element);
  }

  buttons(current) {
    const set = state => this.controls.act("node", { node: current().name, state }, `${current().name} is ${state === "up" ? "to take jobs again" : state === "down" ? "left by its jobs" : "to take no more jobs"}.`);
    const button = (text, state, label) => {
      const made = make("button", { type: "button", text, "data-needs-token": true, on: { click: () => set(state) } });
      return { made, label };
    };
    const [drain, empty, undo] = [button("Drain", "draining", "Drain"), button("Empty now", "down", "Empty now"), button("Take back", "up", "Take back")];
    const all = [drain, empty, undo];
    for (const { made } of all) this.controls.guard(made);
    return {
      element: make("div", { class: "row-buttons" }, ...all.map(({ made }) => made)),
      fill: ({ name, wanted }) => {
        for (const { made, label } of all) made.setAttribute("aria-label", `${label}: ${name}`);
        drain.made.hidden = empty.made.hidden = wanted !== "up";
        undo.made.hidden = wanted === "up";
      },
    };
  }

  show() {
    const owners = this.cluster.owners();
    this.table.show(this.cluster.nodesByName().map(({ name, gpus, wanted, alive, first }) => {
      const used = owners.slice(first, first + gpus).filter(job => job >= 0);
      const held = new Map();
      for (const job of used) held.set(job, (held.get(job) ?? 0) + 1);
      return {
        name, gpus, wanted, used: used.length,
        state: alive ? wanted : `no answer${wanted === "up" ? "" : `, ${wanted}`}`,
        jobs: [...held].map(([job, count]) => `${job} (${count})`).join(", ") || "–",
      };
    }));
  }
}

const REQUESTS = { Submit: "submission", Cancel: "cancellation", SetPolicies: "change of policies", SetNode: "change of a node" };

export class Events {
  constructor(cluster, open) {
    this.cluster = cluster;
    this.only = "";
    this.choice = make("select", { "aria-label": "Which events", on: { change: () => { this.only = this.choice.value; this.show(); } } },
      ...[["", "all events"], ["job", "jobs"], ["node", "nodes"], ["request", "requests"], ["refused", "refusals"], ["fault", "faults"]].map(([value, text]) => make("option", { value, text })));
    this.table = new Table("Events", [["time", "number"], ["what"], ["of"]], () => textRow(["number", "", "words"], event => this.texts(event), { link: 2, open: ([, , { job }]) => open(job), linked: ([, , { job }]) => job !== undefined }));
    byId("events").append(make("div", { class: "pane-head" }, make("h2", { id: "events-title", text: "Events" }), this.choice), this.table.element);
  }

  texts([at, event, { what = "", kind, ...fields }]) {
    if (kind !== undefined) return [this.cluster.wall(at), `${REQUESTS[kind] ?? kind} ${event === "refused" ? `refused: ${what}` : what}`, ""];
    const of = fields.job !== undefined ? `job ${fields.job}` : Object.entries(fields).map(([name, value]) => (name === "node" ? value : `${name} ${value}`)).join(", ");
    return [this.cluster.wall(at), event === "job" || event === "node" ? String(what) : `${event}: ${what}`, of];
  }

  show() {
    const found = this.cluster.events.filter(([, event]) => !this.only || event === this.only);
    this.table.show(found.slice(-SHOWN).reverse());
  }
}

