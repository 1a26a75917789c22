// The controls under the film: play, step, jump to the next event, speed, and the line of time to scrub.

import { announce, make, say, token, whenThemeChanges } from "/static/common/dom.js";
import { clock as clockText, duration } from "/static/common/units.js";

const SPEEDS = [60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 3 * 86400, 7 * 86400];
const KINDS = {
  preemption: { name: "preemption", key: "p", colour: "--warn-ink" },
  failure: { name: "failure", key: "f", colour: "--bad-ink" },
  policy: { name: "policy change", key: "c", colour: "--accent" },
};
const STEPS = 10_000; // of the slider

export class Transport {
  /** `reels()`: the runs that are shown. */
  constructor(element, clock, reels) {
    Object.assign(this, { clock, reels });
    this.play = make("button", { class: "main play", type: "button", on: { click: () => clock.toggle() } });
    this.time = make("output", { class: "time" });
    this.slider = make("input", {
      type: "range", min: "0", max: String(STEPS), step: "1", "aria-label": "Time of the run",
      on: { input: () => clock.seek(this.timeOf(Number(this.slider.value))), keydown: event => this.slideByRound(event) },
    });
    this.marks = make("canvas", { class: "marks", role: "img", "aria-label": "Preemptions, failures and changes of policy over time" });
    this.speed = make("select", { "aria-label": "Speed", on: { change: () => { clock.speed = Number(this.speed.value); } } });
    this.jumps = Object.entries(KINDS).map(([kind, { name, key }]) => {
      const button = make("button", { type: "button", title: `Next ${name} (${key}; Shift+${key}: the one before)`, text: `next ${name}`,
        on: { click: event => this.jump(kind, !event.shiftKey) } });
      return [kind, button];
    });
    const step = (forward, text, label) => make("button", { type: "button", text, "aria-label": label, title: label, on: { click: () => this.step(forward) } });
    element.append(
      make("div", { class: "line" }, this.marks, this.slider),
      make("div", { class: "controls" },
        step(false, "‹", "One round back (left arrow)"), this.play, step(true, "›", "One round on (right arrow)"),
        this.time, make("label", { class: "speed" }, document.createTextNode("speed "), this.speed),
        make("div", { class: "jumps", role: "group", "aria-label": "Jump to" }, ...this.jumps.map(([, button]) => button))));
    document.addEventListener("keydown", event => this.key(event));
    new ResizeObserver(() => this.mark()).observe(element);
    clock.subscribe(() => this.show());
    whenThemeChanges(() => this.mark());
  }

  /** Other runs are shown, or the clock has other bounds. */
  reset() {
    const { clock } = this;
    const wanted = (clock.end - clock.begin) / 60;
    const usual = SPEEDS.reduce((best, each) => (Math.abs(Math.log(each / wanted)) < Math.abs(Math.log(best / wanted)) ? each : best));
    this.speed.replaceChildren(...SPEEDS.map(each => make("option", { value: each, text: `${duration(each).replace(/\.0+ /, " ")} a second` })));
    this.speed.value = String(usual);
    clock.speed = usual;
    for (const [kind, button] of this.jumps) {
      button.disabled = !this.reels().some(reel => reel.columns[`event_${kind}`].length);
      if (button.disabled) button.title = `These runs have no ${KINDS[kind].name}`;
    }
    this.mark();
    this.show();
  }

  timeOf(step) {
    const { begin, end } = this.clock;
    return begin + ((end - begin) * step) / STEPS;
  }

  show() {
    const { clock } = this;
    say(this.play, clock.playing ? "Pause" : "Play");
    this.play.title = clock.playing ? "Pause (space)" : "Play (space)";
    say(this.time, clockText(clock.time));
    this.slider.value = String(Math.round(((clock.time - clock.begin) / (clock.end - clock.begin || 1)) * STEPS));
    this.slider.setAttribute("aria-valuetext", clockText(clock.time));
  }

  step(forward) {
    this.clock.pause();
    const times = this.reels().map(reel => reel.round(this.clock.time, forward)).filter(time => time !== null);
    if (times.length) this.clock.seek(forward ? Math.min(...times) : Math.max(...times));
  }

  jump(kind, forward) {
    this.clock.pause();
    const { time } = this.clock;
    const times = this.reels().map(reel => reel.event(kind, time, forward)).filter(each => each !== null);
    const { name } = KINDS[kind];
    if (!times.length) {
      announce(`No ${name} ${forward ? "after" : "before"} ${clockText(time)}`);
      return;
    }
    const found = forward ? Math.min(...times) : Math.max(...times);
    this.clock.seek(found);
    announce(`${name} at ${clockText(found)}`);
  }

  slideByRound(event) {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      event.preventDefault();
      event.stopPropagation();
      this.step(event.key === "ArrowRight");
    }
  }

  /** Keys work wherever the focus is, but where it needs them itself. */
  key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input:not([type=range]), select, textarea")) return;
    if (key === " " && target.closest("button, summary")) return;
    if (/^(Arrow|Home|End)/.test(key) && target.closest("input, .scroll")) return;
    const act = {
      " ": () => this.clock.toggle(), ArrowRight: () => this.step(true), ArrowLeft: () => this.step(false),
      Home: () => this.clock.seek(this.clock.begin), End: () => this.clock.seek(this.clock.end),
    }[event.key] ?? Object.entries(KINDS).filter(([, { key }]) => key === event.key.toLowerCase())
      .map(([kind]) => () => this.jump(kind, !event.shiftKey))[0];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Draws a tick for every event of the runs. */
  mark() {
    const width = Math.floor(this.marks.parentElement.clientWidth);
    if (!width) return;
    const scale = window.devicePixelRatio || 1;
    this.marks.width = width * scale;
    this.marks.height = 10 * scale;
    const draw = this.marks.getContext("2d");
    draw.setTransform(scale, 0, 0, scale, 0, 0);
    const { begin, end } = this.clock;
    for (const [kind, { colour }] of Object.entries(KINDS)) {
      draw.fillStyle = token(colour);
      draw.globalAlpha = kind === "preemption" ? 0.45 : 1;
      const drawn = new Set();
      for (const reel of this.reels()) {
        for (const time of reel.columns[`event_${kind}`]) {
          const x = Math.round(8 + ((time - begin) / (end - begin || 1)) * (width - 16));
          if (!drawn.has(x)) draw.fillRect(x, kind === "preemption" ? 5 : 0, 1.5, kind === "preemption" ? 5 : 10);
          drawn.add(x);
        }
      }
    }
  }
}
