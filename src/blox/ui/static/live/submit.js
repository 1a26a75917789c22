// A job is submitted: what to run, on how many GPUs, and how it may be preempted.

import { announce, byId, make, say } from "/static/common/dom.js";

const PREEMPTION = { iteration: "at an iteration (it uses blox.client)", signal: "by signal (SIGTERM)", never: "never" };

export class SubmitDialog {
  constructor(controls) {
    this.controls = controls;
    this.dialog = byId("submit");
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    const field = (name, label, attributes, note = "") => {
      const input = make("input", { id: `submit-${name}`, name, autocomplete: "off", ...attributes });
      return make("div", { class: "field" }, make("label", { for: `submit-${name}`, text: label }), input, ...(note ? [make("span", { class: "note", text: note })] : []));
    };
    const preemption = make("select", { id: "submit-preemption", name: "preemption" }, ...Object.entries(PREEMPTION).map(([value, text]) => make("option", { value, text })));
    this.form = make("form", { method: "dialog", class: "stack", on: { submit: event => this.send(event) } },
      make("h2", { id: "submit-title", text: "Submit a job" }),
      field("command", "Command", { type: "text", required: true, spellcheck: "false" }, "run once on every GPU, without a shell"),
      field("gpus", "GPUs", { type: "number", min: "1", value: "1", required: true }), field("name", "Name", { type: "text" }), field("directory", "Directory", { type: "text", spellcheck: "false" }, "where it starts; default: where `blox ui` was started"),
      make("div", { class: "field" }, make("label", { for: "submit-preemption", text: "Preempted" }), preemption), this.error,
      make("div", { class: "buttons" }, make("button", { class: "main", type: "submit", text: "Submit" }), make("button", { type: "button", text: "Close", on: { click: () => this.dialog.close() } })));
    this.dialog.append(this.form);
    byId("submit-open").addEventListener("click", () => this.dialog.showModal());
  }

  async send(event) {
    event.preventDefault();
    const { command, gpus, name, directory, preemption } = Object.fromEntries(new FormData(this.form));
    try {
      const { job } = await this.controls.send("submit", { command, gpus: Number(gpus), name, directory, preemption });
      this.error.hidden = true;
      this.dialog.close();
      announce(`Job ${job} is submitted.`);
    } catch (error) {
      this.error.hidden = false;
      say(this.error, error.message);
    }
  }
}
