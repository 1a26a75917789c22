// One range of time for all charts over time: set in one by dragging, or with the two sliders, it is shown in
// all. A figure says by `meta.time_s` how many seconds its axis counts in one, and by `meta.held` the range
// that it has data of, if that is not the whole run.
/** Until what was drawn is on the screen, and the reader's next move has been heard. */
const painted = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
const isSeen = box => { const { top, bottom } = box.getBoundingClientRect(); return bottom > 0 && top < innerHeight; };

class TimeRange {
  constructor(form) {
    this.form = form;
    this.charts = boxes.filter(box => box.layout && box.layout.meta && box.layout.meta.time_s);
    this.first = new Map(this.charts.map(box => [box, this.shownIn(box)]));
    const whole = this.charts.filter(box => !box.layout.meta.held);
    const ranges = (whole.length ? whole : this.charts).map(box => this.first.get(box));
    this.whole = [Math.min(...ranges.map(range => range[0])), Math.max(...ranges.map(range => range[1]))];
    this.range = this.whole;
    this.asked = 0; // ranges so far: a chart need not show one that another has followed
    this.moving = new Set(); // charts that we move ourselves
    for (const box of this.charts) box.on("plotly_relayout", change => this.moved(box, change));
    for (const slider of this.sliders) slider.addEventListener("input", () => this.slid(slider));
    form.querySelector("button").addEventListener("click", () => this.show(this.whole));
    form.hidden = this.charts.length < 2;
    this.tell();
  }

  get sliders() {
    return [this.form.elements.from, this.form.elements.to];
  }

  /** The range that a chart shows, in seconds. */
  shownIn(box) {
    return box.layout.xaxis.range.map(value => value * box.layout.meta.time_s);
  }

  /** The reader has moved the axis of a chart. */
  moved(box, change) {
    if (this.moving.has(box)) return;
    const names = Object.keys(change);
    if (names.some(name => /^xaxis\d*\.autorange/.test(name))) this.show(this.whole);
    else if (names.some(name => /^xaxis\d*\.range/.test(name))) this.show(this.shownIn(box), box);
  }

  slid(slider) {
    const [from, to] = this.sliders.map(each => Number(each.value));
    if (from >= to) slider.value = slider.name === "from" ? to - 1 : from + 1;
    const [begin, end] = this.whole;
    this.show(this.sliders.map(each => begin + ((end - begin) * Number(each.value)) / 1000), null, slider);
  }

  /** Shows a range (seconds) in every chart but the one that has it already: at once in those that can be
      seen, then in one a frame, as long as the reader asks for no other range. */
  async show(range, but = null, slider = null) {
    this.range = range;
    this.tell(slider);
    const asked = ++this.asked;
    const others = this.charts.filter(box => box !== but);
    await Promise.all(others.filter(isSeen).map(box => this.follow(box, range)));
    for (const box of others.filter(each => !isSeen(each))) {
      await painted();
      if (asked !== this.asked) return;
      await this.follow(box, range);
    }
  }

  async follow(box, range) {
    const { time_s: unit, held } = box.layout.meta;
    let wanted = range;
    if (held) {
      const all = range === this.whole;
      wanted = all ? this.first.get(box) : [Math.max(range[0], held[0]), Math.min(range[1], held[1])];
      this.note(box, wanted[0] < wanted[1] ? "" : `The time shown above is not in this view, which has ${this.told(held)}.`);
      if (wanted[0] >= wanted[1]) return;
    }
    const axes = Object.keys(box.layout).filter(name => /^xaxis\d*$/.test(name));
    this.moving.add(box);
    await Plotly.relayout(box, Object.fromEntries(axes.map(name => [`${name}.range`, wanted.map(value => value / unit)])));
    this.moving.delete(box);
  }

  note(box, text) {
    const place = box.parentElement.querySelector(".outside");
    if (!place) return;
    place.textContent = text;
    place.hidden = !text;
  }

  told([begin, end]) {
    const [name, unit] = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]].find(([, length]) => end >= 3 * length) || ["s", 1];
    return [begin, end].map(value => (value / unit).toFixed(1)).join(" to ") + ` ${name}`;
  }

  /** Says the range, and moves the sliders to it, but the one that the reader has in hand. */
  tell(held = null) {
    const [begin, end] = this.whole;
    this.form.querySelector("output").textContent = this.told(this.range);
    this.sliders.forEach((slider, at) => {
      if (slider !== held) slider.value = Math.round((1000 * (this.range[at] - begin)) / (end - begin || 1));
      slider.setAttribute("aria-valuetext", this.told([this.range[at], this.range[at]]).split(" to ")[1]);
    });
  }
}
