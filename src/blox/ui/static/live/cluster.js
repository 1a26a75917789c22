// Cluster: jobs, nodes, policies and events as the news tell them.

import { wallClock } from "/static/common/units.js";

const byNumber = new Intl.Collator("en", { numeric: true });
const ENDED = "end_s";

export class Cluster {
  constructor() {
    Object.assign(this, { jobs: new Map(), nodes: [], events: [], history: [], policies: null, queue: null, now: 0, heard: performance.now(), number: 0 });
  }

  /** Everything, from a snapshot. */
  replace(state) {
    this.columns = state.columns;
    Object.assign(this, { nodes: state.nodes, events: state.events, history: state.history, policies: state.policies, queue: state.queue, palette: state.palette, causes: state.causes, origin: state.origin_s, number: state.number });
    this.jobs = new Map(state.jobs.map(row => [row[0], this.job(row)]));
    this.tick(state.now_s);
  }

  /** What has changed; false where the snapshot had it already. */
  learn(news) {
    if (news.number <= this.number) return false;
    this.number = news.number;
    for (const row of news.jobs) this.jobs.set(row[0], this.job(row));
    for (const [number, iteration, checkpoint] of news.progress) {
      const job = this.jobs.get(number);
      if (job) Object.assign(job, { iteration, checkpoint });
    }
    if (news.nodes) this.nodes = news.nodes;
    this.policies = news.policies;
    this.events.push(...news.events);
    this.events.splice(0, Math.max(0, this.events.length - 300));
    if (news.sample) this.history.push(news.sample);
    this.history.splice(0, Math.max(0, this.history.length - 1800));
    this.tick(news.now_s);
    return true;
  }

  tick(now) {
    this.now = now;
    this.heard = performance.now();
  }

  /** The cluster's time by now, s. */
  time() {
    return this.now + (performance.now() - this.heard) / 1000;
  }

  /** A time of the cluster on the reader's clock. */
  wall(seconds) {
    return wallClock(this.origin + seconds);
  }

  job(row) {
    return Object.fromEntries(this.columns.map((name, i) => [name, row[i]]));
  }

  active() {
    return [...this.jobs.values()].filter(job => job[ENDED] === null);
  }

  /** By GPU: the number of the job that holds it, or -1. */
  owners() {
    const total = this.nodes.reduce((sum, [, gpus]) => sum + gpus, 0);
    const owners = new Int32Array(total).fill(-1);
    for (const job of this.active()) for (const gpu of job.held) owners[gpu] = job.job;
    return owners;
  }

  /** The nodes by name, node-2 before node-10; `first`: the number of a node's first GPU, by order of joining. */
  nodesByName() {
    let first = 0;
    const found = this.nodes.map(([name, gpus, type, wanted, alive]) => {
      first += gpus;
      return { name, gpus, type, wanted, alive, first: first - gpus };
    });
    return found.sort((a, b) => byNumber.compare(a.name, b.name));
  }

  /** The nodes of a job, in words: `node-0 (4), node-1 (2)`. */
  where(job) {
    const counts = new Map();
    for (const gpu of job.held) {
      const node = this.nodeOf(gpu);
      counts.set(node, (counts.get(node) ?? 0) + 1);
    }
    return [...counts].map(([node, gpus]) => `${node} (${gpus})`).join(", ");
  }

  nodeOf(gpu) {
    let first = 0;
    for (const [name, gpus] of this.nodes) {
      if (gpu < first + gpus) return name;
      first += gpus;
    }
    return "?";
  }
}
