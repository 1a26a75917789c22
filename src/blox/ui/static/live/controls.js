// What changes the cluster: requests with its token. Without the token every control is off.

import { announce, byId, make, say } from "/static/common/dom.js";

const KEPT = "blox-token";

export class Controls {
  constructor() {
    // The token may come behind the # of the address, which is never sent; it is kept while the tab is open.
    const given = /^#token=([0-9a-f]+)$/.exec(location.hash);
    if (given) {
      sessionStorage.setItem(KEPT, given[1]);
      history.replaceState(null, "", location.pathname);
    }
    this.token = sessionStorage.getItem(KEPT) ?? "";
    this.dialog = byId("token");
    this.error = make("p", { class: "error", role: "alert", hidden: true });
    this.input = make("input", { type: "password", id: "token-input", autocomplete: "off", size: "40" });
    const form = make("form", { method: "dialog", on: { submit: event => { event.preventDefault(); this.unlock(this.input.value.trim()); } } },
      make("h2", { id: "token-title", text: "Unlock the controls" }),
      make("p", { class: "note", text: "Submitting, cancelling, draining and changing policies need the cluster's token: the text of the file `token` in its directory." }),
      make("label", { for: "token-input", text: "Token" }), this.input, this.error,
      make("div", { class: "buttons" }, make("button", { class: "main", type: "submit", text: "Unlock" }),
        make("button", { type: "button", text: "Close", on: { click: () => this.dialog.close() } })));
    this.dialog.append(form);
    byId("lock").addEventListener("click", () => (this.token ? this.lock() : this.dialog.showModal()));
    this.show();
  }

  async unlock(token) {
    try {
      await this.send("token", null, token);
    } catch (error) {
      this.error.hidden = false;
      say(this.error, error.message);
      return;
    }
    this.error.hidden = true;
    this.input.value = "";
    this.token = token;
    sessionStorage.setItem(KEPT, token);
    this.dialog.close();
    this.show();
    announce("The controls are unlocked.");
  }

  lock() {
    this.token = "";
    sessionStorage.removeItem(KEPT);
    this.show();
    announce("The controls are locked.");
  }

  show() {
    say(byId("lock"), this.token ? "Lock controls" : "Unlock controls");
    document.body.classList.toggle("locked", !this.token);
    for (const control of document.querySelectorAll("[data-needs-token]")) this.guard(control);
  }

  /** Switches a control off where there is no token. */
  guard(control) {
    control.disabled = !this.token;
    control.title = this.token ? "" : "Unlock the controls with the cluster's token first";
    return control;
  }

  /** Asks the server to change something; an error carries its words. */
  async send(what, body, token = this.token) {
    const answer = await fetch(`/live/${what}`, {
      method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    });
    if (!answer.ok) throw new Error(await answer.text());
    return answer.json();
  }

  /** The same, told to the reader in either case; null where it was refused. */
  async act(what, body, done) {
    try {
      const answer = await this.send(what, body);
      announce(typeof done === "function" ? done(answer) : done);
      return answer;
    } catch (error) {
      announce(error.message, true);
      return null;
    }
  }
}
