// Reel: a run, and any moment of it. A frame costs a binary search per GPU, however long the run was.

import { lastAtMost, unpack } from "/static/common/columns.js";

export class Reel {
  constructor(buffer) {
    Object.assign(this, unpack(buffer));
    const { columns } = this;
    this.lanes = columns.lane_gpu.length;
    this.owners = new Int32Array(this.lanes); // by lane: the job that holds its GPU, or -1
    this.rowOf = new Map(this.ids.map((id, row) => [id, row]));
    this.preempted = runningSums(columns.round_suspended, columns.round_moved);
    this.ends = endings(columns);
    this.gpus = this.cluster.nodes.reduce((sum, [, count]) => sum + count, 0);
    this.begin_s = Number.isFinite(this.begin_s) ? this.begin_s : 0;
  }

  static async load(number) {
    const answer = await fetch(`/film/${number}`);
    if (!answer.ok) throw new Error(await answer.text());
    return new Reel(await answer.arrayBuffer());
  }

  /** Sets `owners` to what holds every lane at a time, and returns the figures of that moment. */
  at(time) {
    const { lane_first: first, stint_start_s: start, stint_end_s: end, stint_job: job } = this.columns;
    for (let lane = 0; lane < this.lanes; lane++) {
      const index = lastAtMost(start, time, first[lane], first[lane + 1]);
      this.owners[lane] = index >= first[lane] && time < end[index] ? job[index] : -1;
    }
    return this.figures(time);
  }

  figures(time) {
    const c = this.columns;
    const round = lastAtMost(c.round_time_s, time);
    const done = lastAtMost(this.ends.finish, time) + 1;
    const seen = round >= 0;
    const running = this.runningJobs();
    return {
      round,
      used: this.usedGpus(),
      total: seen ? c.round_gpus_total[round] : this.gpus,
      running,
      waiting: lastAtMost(c.submit_s, time) + 1 - done - running,
      finished: done,
      jct: done ? this.ends.jct[done - 1] / done : NaN,
      interruptions: seen ? this.preempted[round] : 0,
      policies: this.reigns[Math.max(lastAtMost(this.reigns.map(([since]) => since), time), 0)][1],
    };
  }

  usedGpus() {
    let used = 0;
    let last = -1;
    for (let lane = 0; lane < this.lanes; lane++) {
      if (this.owners[lane] < 0 || this.columns.lane_gpu[lane] === last) continue;
      last = this.columns.lane_gpu[lane];
      used++;
    }
    return used;
  }

  runningJobs() {
    return new Set(this.owners.filter(job => job >= 0)).size;
  }

  /** Which GPUs are down at a time: [first GPU, how many] of each node. */
  downAt(time) {
    const { down_gpu: gpu, down_gpus: gpus, down_down_s: from, down_up_s: until } = this.columns;
    const found = [];
    for (let i = 0; gpu && i < gpu.length; i++) if (from[i] <= time && time < until[i]) found.push([gpu[i], gpus[i]]);
    return found;
  }

  /** Since when a job waits at a time: since its submission, or since it last held GPUs. */
  waitsSince(job, time) {
    const life = this.stintsOf(job);
    let since = this.columns.submit_s[job];
    for (const [, end] of life) if (end <= time) since = Math.max(since, end);
    return since;
  }

  /** The times of a job on GPUs: [start, end] in order. */
  stintsOf(job) {
    this.byJob ??= groupByJob(this.columns, this.ids.length);
    const { first, order } = this.byJob;
    const found = [];
    for (let i = first[job]; i < first[job + 1]; i++) {
      found.push([this.columns.stint_start_s[order[i]], this.columns.stint_end_s[order[i]]]);
    }
    found.sort((a, b) => a[0] - b[0]);
    return found.filter(([start], i) => i === 0 || start !== found[i - 1][0]);
  }

  /** The next moment of a kind after a time, or the last before it; null where there is none. */
  event(kind, time, forward = true) {
    const times = this.columns[`event_${kind}`];
    const index = forward ? lastAtMost(times, time) + 1 : lastBefore(times, time);
    return index >= 0 && index < times.length ? times[index] : null;
  }

  /** The next round that was noted after a time, or the last before it. */
  round(time, forward = true) {
    const times = this.columns.round_time_s;
    const index = forward ? lastAtMost(times, time) + 1 : lastBefore(times, time);
    return index >= 0 && index < times.length ? times[index] : null;
  }

  /** A text of a job that few jobs have for themselves: user, tenant or model. */
  named(what, job) {
    return this.names[what] ? this.names[what][this.columns[`job_${what}`][job]] : "";
  }
}

function lastBefore(times, time) {
  let index = lastAtMost(times, time);
  while (index >= 0 && times[index] >= time) index--;
  return index;
}

function runningSums(...columns) {
  const sums = new Float64Array(columns[0].length);
  let sum = 0;
  for (let i = 0; i < sums.length; i++) {
    for (const column of columns) sum += column[i];
    sums[i] = sum;
  }
  return sums;
}

/** Finish times in order, and the sum of completion times up to each. */
function endings({ finish_s: finish, submit_s: submit }) {
  const rows = [...finish.keys()].filter(row => finish[row] === finish[row]);
  rows.sort((a, b) => finish[a] - finish[b]);
  const jct = new Float64Array(rows.length);
  rows.forEach((row, i) => (jct[i] = (i ? jct[i - 1] : 0) + finish[row] - submit[row]));
  return { finish: Float64Array.from(rows, row => finish[row]), jct };
}

/** Stints by job: those of job j are `order[first[j]]` to `order[first[j + 1] - 1]`. */
function groupByJob({ stint_job: job }, jobs) {
  const first = new Int32Array(jobs + 1);
  for (const each of job) first[each + 1]++;
  for (let j = 0; j < jobs; j++) first[j + 1] += first[j];
  const next = first.slice();
  const order = new Int32Array(job.length);
  job.forEach((each, i) => (order[next[each]++] = i));
  return { first, order };
}
