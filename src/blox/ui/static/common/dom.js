// Elements from data. Texts only ever become text nodes: a job's name can hold anything and stays a name.

/** An element. `attributes`: `class`, `text`, `on` ({event: handler}), anything else as it is written in HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** The element of an id. */
export const byId = id => document.getElementById(id);

/** Sets a text only where it changes, so that nothing is laid out in vain. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

let fading = 0;

/** Says a text at the foot of the page for a while, to eyes and to screen readers; `wrong`: in red. */
export function announce(text, wrong = false) {
  const place = byId("announce");
  place.classList.toggle("wrong", wrong);
  say(place, text);
  clearTimeout(fading);
  fading = setTimeout(() => say(place, ""), 8000);
}

/** A list of term and value, updated by `show({term: value})`. */
export class Facts {
  constructor(terms) {
    this.element = make("dl", { class: "facts" });
    this.values = {};
    for (const [key, term] of Object.entries(terms)) {
      this.values[key] = make("dd", { text: "–" });
      this.element.append(make("div", {}, make("dt", { text: term }), this.values[key]));
    }
  }

  show(values) {
    for (const [key, value] of Object.entries(values)) say(this.values[key], value);
  }
}

/** The value of a token of the style sheet. */
export const token = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Calls back when the reader's colour scheme changes. */
export function whenThemeChanges(act) {
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", act);
}

/** Answers of the server as JSON; an error carries its words. */
export async function ask(address, options = {}) {
  const answer = await fetch(address, options);
  if (!answer.ok) throw new Error((await answer.text()) || `${answer.status}`);
  return answer.json();
}
