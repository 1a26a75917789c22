// The film: one run, or two side by side on one clock.

import { announce, ask, byId, make, say } from "/static/common/dom.js";
import { Clock } from "./clock.js";
import { Figures } from "./figures.js";
import { Follow } from "./follow.js";
import { Pane } from "./pane.js";
import { Reel } from "./reel.js";
import { Transport } from "./transport.js";

const NONE = "none";

class Film {
  constructor({ runs, causes }) {
    Object.assign(this, { runs, causes, reels: new Map(), panes: [], followed: null });
    this.clock = new Clock(0, 1);
    this.transport = new Transport(byId("transport"), this.clock, () => this.panes.map(pane => pane.reel));
    this.figures = new Figures(byId("figures"), this.clock);
    this.follow = new Follow(byId("follow"), this.clock, causes, () => this.choose(null));
    this.clock.subscribe(() => this.draw());
  }

  async start() {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const numbers = (wanted.get("runs") ?? "").split(",").filter(text => /^\d+$/.test(text)).map(Number).filter(number => number < this.runs.length);
    await this.show(numbers.length ? numbers.slice(0, 2) : this.runs.map((_, i) => i).slice(0, 2));
    const time = Number(wanted.get("t"));
    this.clock.seek(wanted.has("t") && Number.isFinite(time) ? time : this.clock.begin);
    if (wanted.has("job")) this.choose(wanted.get("job"));
    byId("transport").hidden = false;
    this.transport.reset();
  }

  /** Shows these runs: one number or two. */
  async show(numbers) {
    for (const number of numbers) if (!this.reels.has(number)) this.reels.set(number, await Reel.load(number));
    this.numbers = numbers;
    this.panes = numbers.map(number => new Pane({ number, ...this.runs[number] }, this.reels.get(number), this.causes, id => this.choose(id)));
    const reels = this.panes.map(pane => pane.reel);
    this.clock.begin = Math.min(...reels.map(reel => reel.begin_s));
    this.clock.end = Math.max(...reels.map(reel => reel.end_s));
    byId("loading").hidden = true;
    const stage = byId("stage");
    stage.hidden = false;
    stage.classList.toggle("two", numbers.length > 1);
    stage.replaceChildren(...this.panes.map(pane => pane.element));
    this.panes.forEach(pane => pane.map.fit());
    this.title(reels[0]);
    this.choosers();
    this.transport.reset();
    this.clock.seek(this.clock.time);
    this.choose(this.followed);
    this.figures.show(this.panes);
  }

  title({ workload, gpus }) {
    const names = this.panes.map(pane => pane.run.label).join(" and ");
    say(byId("title"), `${names}: ${workload} on ${gpus} GPUs`);
    document.title = `${names} · blox film`;
  }

  /** Which runs are shown, where there are more than one; and which job is followed. */
  choosers() {
    const chooser = (at, label, others) => {
      const select = make("select", { "aria-label": label, on: { change: () => this.choice(at, select.value) } },
        ...(others ? [make("option", { value: NONE, text: "no other run" })] : []),
        ...this.runs.map((run, i) => make("option", { value: i, text: run.label })));
      select.value = String(this.numbers[at] ?? NONE);
      return make("label", {}, document.createTextNode(`${label} `), select);
    };
    const follow = make("input", { type: "search", placeholder: "job id", "aria-label": "Follow the job of this id", size: "10",
      on: { change: event => event.target.value && this.choose(event.target.value.trim()) } });
    byId("choosers").replaceChildren(
      ...(this.runs.length > 1 ? [chooser(0, "run", false), chooser(1, "beside", true)] : []),
      make("label", {}, document.createTextNode("follow "), follow));
  }

  choice(at, value) {
    const numbers = this.numbers.slice();
    if (value === NONE) numbers.length = 1;
    else numbers[at] = Number(value);
    this.show(numbers);
  }

  /** Follows a job by its id; null: none. */
  choose(id) {
    if (id !== null && !this.panes.some(pane => pane.reel.rowOf.has(id))) {
      announce(`No job is called ${id}`, true);
      return;
    }
    this.followed = id;
    for (const pane of this.panes) pane.follow(id);
    this.follow.show(id, this.panes);
    this.draw();
  }

  draw() {
    const before = performance.now();
    for (const pane of this.panes) pane.show(this.clock.time);
    document.body.dataset.frameMs = (performance.now() - before).toFixed(2);
    if (!this.clock.playing) this.remember();
  }

  /** Keeps the moment in the address, so that it can be sent to somebody. */
  remember() {
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => {
      const told = new URLSearchParams({ runs: this.numbers.join(","), t: this.clock.time.toFixed(0) });
      if (this.followed !== null) told.set("job", this.followed);
      history.replaceState(null, "", `#${told}`);
    }, 300);
  }
}

ask("/film.json").then(found => new Film(found).start()).catch(error => {
  byId("loading").hidden = false;
  byId("loading").className = "error";
  say(byId("loading"), `The film cannot be shown: ${error.message}`);
});
