// The queue of a run: asked of the server for a moment, the latest question winning; drawn as a table.

import { ask, make, say } from "/static/common/dom.js";
import { duration, number } from "/static/common/units.js";

const LISTED = 60;
const AGAIN_MS = 1500; // while the scheduler's order is being worked out

export class Queue {
  constructor(run, reel, causes, follow) {
    Object.assign(this, { run, reel, causes, follow, wanted: null, busy: false, shown: null, rows: [] });
    this.title = make("h2", { text: "Queue" });
    this.note = make("p", { class: "note" });
    this.body = make("tbody");
    this.keysHead = make("th", { class: "number keys", scope: "col", text: "sort key" });
    this.more = make("p", { class: "note" });
    const head = make("tr", {},
      make("th", { class: "number place", scope: "col", text: "place" }), make("th", { scope: "col", text: "job" }),
      make("th", { class: "number", scope: "col", text: "GPUs" }), this.keysHead,
      make("th", { class: "number", scope: "col", text: "waits for" }), make("th", { scope: "col", text: "because" }));
    const table = make("table", { "aria-label": `Queue of ${reel.label}` }, make("thead", {}, head), this.body);
    const scroll = make("div", { class: "scroll queue-scroll", tabindex: "0", role: "region", "aria-label": `Queue of ${reel.label}, scrolls` }, table);
    this.element = make("div", { class: "queue" }, this.title, this.note, scroll, this.more);
  }

  /** Shows the queue at a time: at once where it is known, otherwise as soon as the server has answered. */
  show(time) {
    this.wanted = time;
    if (!this.busy) this.fetch();
  }

  async fetch() {
    this.busy = true;
    while (this.wanted !== null) {
      const time = this.wanted;
      this.wanted = null;
      try {
        this.draw(await ask(`/film/${this.run}/queue?at=${time}&most=${LISTED}`), time);
      } catch (error) {
        say(this.note, `The server does not answer: ${error.message}`);
      }
    }
    this.busy = false;
  }

  draw(found, time) {
    this.shown = time;
    say(this.title, `Queue: ${number(found.waiting)} waiting${found.held ? `, ${number(found.held)} of them held by admission` : ""}`);
    say(this.note, found.note || `In the scheduler's own order${found.keys.length ? ", by its sort keys" : ""}; jobs that run have places in it, too.`);
    this.note.classList.toggle("warning", Boolean(found.note));
    this.keysHead.hidden = !found.keys.length;
    found.rows.forEach((row, i) => this.fill(this.row(i), row, time, found.keys.length));
    this.rows.forEach((row, i) => (row.element.hidden = i >= found.rows.length));
    say(this.more, found.waiting > found.rows.length ? `and ${number(found.waiting - found.rows.length)} more` : "");
    if (!found.settled) {
      clearTimeout(this.again);
      this.again = setTimeout(() => this.shown === time && this.show(time), AGAIN_MS);
    }
    this.element.dataset.settled = String(found.settled);
    this.element.dataset.queued = document.body.dataset.queued = String(time);
  }

  row(i) {
    if (this.rows[i]) return this.rows[i];
    const row = { job: null };
    row.place = make("td", { class: "number place" });
    row.name = make("button", { class: "link", type: "button", on: { click: () => this.follow(this.reel.ids[row.job]) } });
    row.gpus = make("td", { class: "number" });
    row.keys = make("td", { class: "number keys" });
    row.waits = make("td", { class: "number" });
    row.swatch = make("span", { class: "swatch" });
    row.words = make("span");
    row.element = make("tr", {}, row.place, make("td", {}, row.name), row.gpus, row.keys, row.waits,
      make("td", { class: "words" }, row.swatch, row.words));
    this.body.append(row.element);
    this.rows[i] = row;
    return row;
  }

  fill(row, [place, job, gpus, keys, cause, because], time, keyed) {
    row.job = job;
    say(row.place, place ? number(place) : "–");
    say(row.name, this.reel.ids[job]);
    row.element.classList.toggle("followed", this.followed === job);
    say(row.gpus, number(gpus));
    row.keys.hidden = !keyed;
    say(row.keys, keys.map(key => (key === null ? "–" : String(key))).join(", "));
    say(row.waits, duration(time - this.reel.waitsSince(job, time)));
    row.swatch.style.background = this.causes[cause] ?? "transparent";
    say(row.words, `${cause}: ${because}`);
  }
}
