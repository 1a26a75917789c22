// Tables that are kept up to date in place: a row is made once, and only cells that change are written.

import { make, say } from "/static/common/dom.js";

export class Table {
  /** `columns`: [head, class] each; `build()` makes a row: its element, and `fill(entry)`. */
  constructor(label, columns, build) {
    this.build = build;
    this.rows = [];
    this.body = make("tbody");
    const head = make("tr", {}, ...columns.map(([text, kind]) => make("th", { scope: "col", class: kind, text })));
    const table = make("table", { "aria-label": label }, make("thead", {}, head), this.body);
    this.element = make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${label}, scrolls` }, table);
  }

  show(entries) {
    entries.forEach((entry, i) => {
      this.rows[i] ??= this.add();
      this.rows[i].element.hidden = false;
      this.rows[i].fill(entry);
    });
    for (let i = entries.length; i < this.rows.length; i++) this.rows[i].element.hidden = true;
  }

  add() {
    const row = this.build();
    this.body.append(row.element);
    return row;
  }
}

/** A row of texts; in the column `link` a button, where an entry is `linked`, that calls `open(entry)`. */
export function textRow(kinds, texts, { link = -1, open = () => {}, linked = () => true, extra = null } = {}) {
  let current = null;
  const cells = kinds.map((kind, i) => (i === link ? make("button", { class: "link", type: "button", on: { click: () => open(current) } }) : make("td", { class: kind })));
  const more = extra ? extra(() => current) : null;
  const element = make("tr", {}, ...cells.map((cell, i) => (i === link ? make("td", {}, cell) : cell)), ...(more ? [make("td", { class: "controls" }, more.element)] : []));
  return {
    element,
    fill(entry) {
      current = entry;
      texts(entry).forEach((text, i) => say(cells[i], text));
      if (link >= 0) {
        cells[link].disabled = !linked(entry);
        cells[link].hidden = !cells[link].textContent;
      }
      more?.fill(entry);
    },
  };
}
