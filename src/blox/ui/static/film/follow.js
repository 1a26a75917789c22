// The job that is followed: its facts, its story in a sentence, and its life in every run that is shown.

import { ask, make, say } from "/static/common/dom.js";
import { clock as clockText, count, duration } from "/static/common/units.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 22;
const RUNNING = "var(--ink)"; // no cause of waiting has this colour, and its bars are taller

export class Follow {
  constructor(element, clock, causes, leave) {
    Object.assign(this, { element, clock, causes, id: null, lives: [] });
    this.title = make("h2", { id: "follow-title" });
    this.stories = make("div", { class: "stories" });
    element.append(
      make("div", { class: "pane-head" }, this.title, make("button", { type: "button", text: "Stop following", on: { click: leave } })),
      this.legend(), this.stories);
    clock.subscribe(() => this.move());
  }

  legend() {
    const entries = [["running", RUNNING], ...Object.entries(this.causes)];
    return make("p", { class: "legend note" }, ...entries.flatMap(([cause, colour]) => {
      const swatch = make("span", { class: "swatch" });
      swatch.style.background = colour;
      return [make("span", {}, swatch, document.createTextNode(cause))];
    }));
  }

  /** Shows the life of a job, by its id, in these panes. */
  async show(id, panes) {
    this.id = id;
    this.element.hidden = id === null;
    this.lives = [];
    this.stories.replaceChildren();
    if (id === null) return;
    say(this.title, `Job ${id}`);
    for (const pane of panes) {
      const row = pane.reel.rowOf.get(id);
      if (row === undefined) {
        this.stories.append(make("p", { class: "note", text: `${pane.run.label} has no job ${id}.` }));
        continue;
      }
      const story = await ask(`/film/${pane.run.number}/story/${row}`);
      if (this.id !== id) return; // another job was chosen meanwhile
      this.stories.append(this.life(pane, row, story));
    }
    this.move();
  }

  life(pane, row, story) {
    const now = make("p", { class: "now" });
    const line = document.createElementNS(SVG, "line");
    const strip = this.strip(story.intervals, line);
    this.lives.push({ pane, row, story, now, line });
    const facts = Object.entries(story.facts).filter(([name, value]) => value !== "" && value !== null && name !== "job_id")
      .map(([name, value]) => `${name} ${value}`).join(" · ");
    return make("article", { class: "life" }, make("h3", { text: pane.run.label }), make("p", { class: "note", text: facts }),
      make("div", { class: "strip" }, strip), now, make("p", { text: story.sentence }),
      ...(story.left_out ? [make("p", { class: "note", text: `${count(story.left_out, "interval")} in the middle are not drawn.` })] : []));
  }

  /** The life of a job as a band over the time of the film: running, and why it waited. */
  strip(intervals, line) {
    const { begin, end } = this.clock;
    const svg = document.createElementNS(SVG, "svg");
    set(svg, { viewBox: `0 0 1000 ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": "The job's life over time; the text below tells it" });
    svg.append(rect(0, 1000, "var(--cell)"));
    for (const [start, stop, state] of intervals) {
      const [x, until] = [start, stop].map(time => (1000 * (time - begin)) / (end - begin || 1));
      const bar = rect(x, Math.max(until - x, 1), state === "running" ? RUNNING : this.causes[state] ?? "var(--soft)");
      if (state !== "running") set(bar, { y: HEIGHT / 4, height: HEIGHT / 2 });
      svg.append(bar);
    }
    set(line, { y1: 0, y2: HEIGHT, stroke: "var(--accent)", "stroke-width": 3, "vector-effect": "non-scaling-stroke" });
    svg.append(line);
    return svg;
  }

  /** What the job does now. */
  move() {
    const { begin, end, time } = this.clock;
    for (const { pane, row, story, now, line } of this.lives) {
      const x = (1000 * (time - begin)) / (end - begin || 1);
      set(line, { x1: x, x2: x });
      const here = story.intervals.find(([start, stop]) => start <= time && time < stop);
      const submit = pane.reel.columns.submit_s[row];
      say(now, here ? told(here, time) : time < submit ? `Now: not submitted before ${clockText(submit)}.` : "Now: it has ended.");
    }
  }
}

function told([start, , state, words], time) {
  const since = `for ${duration(time - start)}`;
  return state === "running" ? `Now: running ${since} on ${words}.` : `Now: waiting ${since} (${state}): ${words}.`;
}

function rect(x, width, fill) {
  const found = document.createElementNS(SVG, "rect");
  set(found, { x, width, y: 0, height: HEIGHT, fill });
  return found;
}

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}
