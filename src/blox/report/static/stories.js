// The story of a job: opened by a click on its bar, on its id in a table, or by its id in the field.
class Stories {
  constructor(dialog) {
    this.dialog = dialog;
    this.told = null;
    const gantt = document.getElementById("gpus");
    if (gantt && gantt.on) {
      gantt.on("plotly_click", event => {
        const { data, customdata } = event.points[0];
        if (data.meta && customdata !== undefined) this.open(data.meta.run, customdata);
      });
    }
    for (const button of document.querySelectorAll("button[data-row]")) {
      button.addEventListener("click", () => this.open(button.dataset.run, button.dataset.row));
    }
    this.form = document.querySelector(".ask-story");
    this.form.addEventListener("submit", event => { event.preventDefault(); this.ask(); });
  }

  async load() {
    this.told ??= await unpacked("stories");
    return this.told;
  }

  /** By the id that was typed. */
  async ask() {
    const { stories, runs } = await this.load();
    const run = this.form.elements.run.value;
    const id = this.form.elements.job.value.trim();
    const row = Object.keys(stories[run]).find(each => stories[run][each].id === id);
    const absent = `Job ${id} of ${runs[run]} is not drawn above: blox explain tells its story.`;
    this.form.querySelector("output").textContent = row === undefined && id ? absent : "";
    if (row !== undefined) this.open(run, row);
  }

  async open(run, row) {
    const { stories, runs, causes } = await this.load();
    const story = (stories[run] || {})[row];
    if (!story) return;
    this.say("h2", `Job ${story.id}`);
    this.say(".facts", `${runs[run]} · ${story.facts}`);
    this.say(".sentence", story.sentence);
    this.drawLife(story, causes);
    this.dialog.showModal();
  }

  say(where, text) {
    this.dialog.querySelector(where).textContent = text;
  }

  /** The life of the job as a band: running, and why it waited. */
  drawLife({ life, span: [begin, end] }, causes) {
    const band = this.dialog.querySelector(".life");
    const percent = time => `${(100 * (time - begin)) / (end - begin || 1)}%`;
    band.replaceChildren(...life.map(([start, stop, state]) => {
      const part = document.createElement("span");
      part.className = state === "running" ? "running" : "waiting";
      part.style.left = percent(start);
      part.style.width = percent(begin + stop - start);
      if (causes[state]) part.style.background = causes[state];
      return part;
    }));
    const states = Object.keys(causes).filter(state => life.some(each => each[2] === state));
    this.dialog.querySelector(".legend").replaceChildren(...states.map(state => {
      const [entry, swatch] = [document.createElement("li"), document.createElement("span")];
      swatch.className = `swatch ${state === "running" ? "running" : ""}`;
      if (causes[state]) swatch.style.background = causes[state];
      entry.append(swatch, state);
      return entry;
    }));
  }
}
