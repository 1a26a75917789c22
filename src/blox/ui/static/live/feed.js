// Feed: what the server pushes. It reconnects by itself, and says when what is shown may be out of date.

import { wallClock } from "/static/common/units.js";

const QUIET_MS = 7000; // a server that is well says something every 2 s
const AGAIN_MS = 1500;

export class Feed {
  /** `heard(event, data)` is called with every message, `contact(trouble)` with "" or what is wrong, each second. */
  constructor(address, heard, contact) {
    Object.assign(this, { address, heard, contact, last: performance.now(), scheduler: "", at: null });
    this.connect();
    setInterval(() => this.watch(), 1000);
  }

  connect() {
    this.source = new EventSource(this.address);
    for (const event of ["state", "news", "queue", "contact", "tick"]) {
      this.source.addEventListener(event, message => this.take(event, message));
    }
    this.source.onerror = () => {
      this.watch();
      // A browser gives up after some answers; we do not.
      if (this.source.readyState === EventSource.CLOSED) setTimeout(() => this.connect(), AGAIN_MS);
    };
  }

  take(event, message) {
    this.last = performance.now();
    const data = JSON.parse(message.data);
    const contact = event === "contact" ? data : event === "state" ? data.contact : null;
    if (contact) {
      this.scheduler = contact.ok ? "" : contact.why;
      this.at = contact.at;
    }
    this.heard(event, data);
    this.watch();
  }

  watch() {
    const quiet = performance.now() - this.last;
    if (this.source.readyState !== EventSource.OPEN || quiet > QUIET_MS) {
      this.contact(`The server of this page has not answered for ${Math.round(quiet / 1000)} s; it is asked again and again. What you see is of then.`);
    } else if (this.scheduler) {
      const since = this.at === null ? "yet; it is asked again and again." : `since ${wallClock(this.at)}; what you see is of then.`;
      this.contact(`The scheduler has not answered ${since}\n${this.scheduler}`);
    } else {
      this.contact("");
    }
  }
}
