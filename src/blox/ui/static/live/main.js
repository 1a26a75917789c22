// The live page: a running cluster, kept up to date by what the server pushes.

import { ask, byId, say } from "/static/common/dom.js";
import { Cluster } from "./cluster.js";
import { Controls } from "./controls.js";
import { Feed } from "./feed.js";
import { History } from "./history.js";
import { JobDialog } from "./job.js";
import { Jobs } from "./jobs.js";
import { Events, Nodes } from "./nodes.js";
import { Map as ClusterView, Overview, Policies } from "./overview.js";
import { SubmitDialog } from "./submit.js";

const cluster = new Cluster();
const controls = new Controls();
const job = new JobDialog(cluster, controls);
const open = number => job.open(number);
const parts = [new Overview(cluster), new ClusterView(cluster, open), new Policies(cluster, controls), new Jobs(cluster, open), new Nodes(cluster, controls), new Events(cluster, open), new History(cluster)];
new SubmitDialog(controls);

let pending = false;

/** Draws everything once, however many messages came since the last picture. */
function draw() {
  if (pending) return;
  pending = true;
  requestAnimationFrame(() => {
    pending = false;
    if (!cluster.policies) return; // the scheduler has never answered
    for (const part of parts) part.show();
    document.body.dataset.number = String(cluster.number);
    document.body.dataset.shown = "yes";
  });
}

function heard(event, data) {
  if (event === "state") cluster.replace(data);
  else if (event === "news") cluster.learn(data);
  else if (event === "queue") cluster.queue = data;
  if (event !== "tick") draw();
}

function contact(trouble) {
  byId("stale").hidden = !trouble;
  say(byId("stale"), trouble);
  document.body.classList.toggle("out-of-date", Boolean(trouble));
  say(byId("status"), cluster.policies ? (trouble ? "stale" : "live") : "connecting");
}

ask("/live/cluster.json").then(({ directory }) => {
  say(byId("title"), directory);
  document.title = `${directory} · blox live`;
});
new Feed("/live/events", heard, contact);
setInterval(draw, 5000); // ages go on where nothing else changes
