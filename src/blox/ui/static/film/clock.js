// Clock: the time that all panes show; it plays, pauses, and jumps. Subscribers are told every new time.

const STILL = window.matchMedia("(prefers-reduced-motion: reduce)");
const STILL_MS = 500; // between two pictures, for readers who asked for less motion

export class Clock {
  constructor(begin, end) {
    Object.assign(this, { begin, end, time: begin, speed: (end - begin) / 60, playing: false, listeners: [] });
  }

  subscribe(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) listener(this);
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.begin), this.end);
    this.tell();
  }

  play() {
    if (this.playing) return;
    if (this.time >= this.end) this.time = this.begin;
    this.playing = true;
    this.last = performance.now();
    requestAnimationFrame(now => this.tick(now));
    this.tell();
  }

  pause() {
    this.playing = false;
    this.tell();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  tick(now) {
    if (!this.playing) return;
    if (!STILL.matches || now - this.last >= STILL_MS) {
      // A tab that was in the background goes on where it was.
      this.time = Math.min(this.time + (Math.min(now - this.last, 2 * STILL_MS) / 1000) * this.speed, this.end);
      this.last = now;
      if (this.time >= this.end) this.playing = false;
      this.tell();
    }
    requestAnimationFrame(later => this.tick(later));
  }
}
