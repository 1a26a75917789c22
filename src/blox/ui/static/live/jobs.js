// The jobs: the queue in the order of the policies, those that run, and those that have ended.

import { byId, make, say } from "/static/common/dom.js";
import { duration, number } from "/static/common/units.js";
import { Table, textRow } from "./tables.js";

const FEW = 50; // rows at first, and more at each request
const VIEWS = { queue: "Queue", running: "Running", ended: "Ended" };

export class Jobs {
  constructor(cluster, open) {
    Object.assign(this, { cluster, view: "queue", most: FEW, wanted: "" });
    this.buttons = Object.fromEntries(Object.entries(VIEWS).map(([view, text]) => [view, make("button", { type: "button", text, "aria-pressed": String(view === this.view), on: { click: () => this.choose(view) } })]));
    this.note = make("p", { class: "note" });
    this.search = make("input", { type: "search", "aria-label": "Find jobs by number, name or user", placeholder: "number, name or user", on: { input: () => { this.wanted = this.search.value.toLowerCase(); this.show(); } } });
    const link = { link: 0, open: entry => open(entry.job.job) };
    const num = "number";
    const minor = "minor"; // left out where the window is narrow
    this.tables = {
      queue: new Table("Queue", [["job"], ["name"], ["user", minor], ["place", `${num} ${minor}`], ["GPUs", num], ["waits for", num], ["because"]],
        () => textRow(["", "words", minor, `${num} ${minor}`, num, num, "words"], ({ job, line }) => [String(job.job), job.name, job.user, line?.place ? number(line.place) : "–", number(job.gpus), this.since(job.submit_s), line ? `${line.cause}${line.cause && line.why ? ": " : ""}${line.why}` : job.state], link)),
      running: new Table("Running jobs", [["job"], ["name"], ["user", minor], ["state"], ["where", minor], ["GPUs", num], ["age", num], ["iteration", num], ["checkpoint", `${num} ${minor}`], ["starts", `${num} ${minor}`]],
        () => textRow(["", "words", minor, "", `words ${minor}`, num, num, num, `${num} ${minor}`, `${num} ${minor}`], ({ job }) => [String(job.job), job.name, job.user, job.state, this.cluster.where(job), number(job.held.length || job.gpus), this.since(job.submit_s), count(job.iteration), count(job.checkpoint), number(job.starts)], link)),
      ended: new Table("Jobs that have ended", [["job"], ["name"], ["user", minor], ["how"], ["GPUs", num], ["took", num], ["ended", `${num} ${minor}`], ["starts", `${num} ${minor}`], ["failures", `${num} ${minor}`]],
        () => textRow(["", "words", minor, "words", num, num, `${num} ${minor}`, `${num} ${minor}`, `${num} ${minor}`], ({ job }) => [String(job.job), job.name, job.user, job.state, number(job.gpus), duration(job.end_s - job.submit_s), this.cluster.wall(job.end_s), number(job.starts), number(job.failures)], link)),
    };
    this.more = make("button", { type: "button", hidden: true, on: { click: () => { this.most += 4 * FEW; this.show(); } } });
    this.title = make("h2", { id: "jobs-title", text: "Jobs" });
    byId("jobs").append(make("div", { class: "pane-head" }, this.title, make("div", { class: "tabs", role: "group", "aria-label": "Which jobs" }, ...Object.values(this.buttons)), this.search),
      this.note, ...Object.values(this.tables).map(table => table.element), this.more);
  }

  choose(view) {
    this.view = view;
    this.most = FEW;
    for (const [name, button] of Object.entries(this.buttons)) button.setAttribute("aria-pressed", String(name === view));
    this.show();
  }

  show() {
    const lists = this.lists();
    for (const [view, button] of Object.entries(this.buttons)) say(button, `${VIEWS[view]} ${number(lists[view].length)}`);
    const found = lists[this.view].filter(({ job }) => this.matches(job));
    for (const [view, table] of Object.entries(this.tables)) table.element.hidden = view !== this.view;
    this.tables[this.view].show(found.slice(0, this.most));
    this.more.hidden = found.length <= this.most;
    say(this.more, `Show more of ${number(found.length)}`);
    const { queue } = this.cluster;
    say(this.note, this.view !== "queue" ? "" : queue?.note || "In the order of the policies in force, with what keeps each job waiting.");
    this.note.classList.toggle("warning", this.view === "queue" && Boolean(queue?.note));
  }

  lists() {
    const { cluster } = this;
    const active = cluster.active();
    const line = new Map((cluster.queue?.rows ?? []).map(([number_, place, keys, cause, why], i) => [number_, { place, keys, cause, why, i }]));
    const waiting = active.filter(job => !job.held.length).map(job => ({ job, line: line.get(job.job) }));
    waiting.sort((a, b) => (a.line?.i ?? 1e9) - (b.line?.i ?? 1e9) || a.job.job - b.job.job);
    const ended = [...cluster.jobs.values()].filter(job => job.end_s !== null).sort((a, b) => b.end_s - a.end_s || b.job - a.job);
    return { queue: waiting, running: active.filter(job => job.held.length).sort((a, b) => a.job - b.job).map(job => ({ job })), ended: ended.map(job => ({ job })) };
  }

  matches(job) {
    return !this.wanted || [String(job.job), job.name, job.user].some(text => text.toLowerCase().includes(this.wanted));
  }

  since(seconds) {
    return duration(Math.max(0, Math.round(this.cluster.time() - seconds)));
  }
}

const count = value => (value < 0 ? "–" : number(value));
