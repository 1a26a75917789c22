// ClusterMap: racks, nodes and GPUs on a canvas; a GPU has the colour of its job, a node that is down is hatched.

import { token, whenThemeChanges } from "./dom.js";

const LARGEST_CELL = 40;
const SMALLEST_CELL = 3;
const LABELLED_CELL = 11; // from this size on, nodes have names above them
const NODE_GAP = 7;
const RACK_TITLE = 20;
const JOB_INK = "#16191c"; // on the colours of jobs, which are light in either theme
const FAINT = 0.22;

export class ClusterMap {
  /** `nodes`: [name, GPUs, type, rack]; `chosen(gpu, event)` is called when a GPU is clicked, `pointed` when pointed at. */
  constructor(canvas, nodes, { height = 380, chosen = () => {}, pointed = () => {} } = {}) {
    this.canvas = canvas;
    this.height = height;
    this.place(nodes);
    canvas.addEventListener("click", event => chosen(this.gpuAt(event), event));
    canvas.addEventListener("pointermove", event => pointed(this.gpuAt(event)));
    canvas.addEventListener("pointerleave", () => pointed(null));
    new ResizeObserver(() => this.fit()).observe(canvas.parentElement);
    whenThemeChanges(() => this.draw(this.scene));
  }

  /** Other nodes. */
  place(nodes) {
    this.nodes = [];
    let gpu = 0;
    for (const [name, gpus, type, rack] of nodes) {
      this.nodes.push({ name, gpus, type, rack, first: gpu });
      gpu += gpus;
    }
    this.gpus = gpu;
    this.nodeOf = new Int32Array(gpu);
    this.nodes.forEach((node, i) => this.nodeOf.fill(i, node.first, node.first + node.gpus));
    this.width = 0;
    this.fit();
  }

  /** Lays the nodes out anew where the width has changed. */
  fit() {
    const width = Math.floor(this.canvas.parentElement.clientWidth);
    if (!width || width === this.width) return;
    this.width = width;
    let cell = LARGEST_CELL;
    while (cell > SMALLEST_CELL && this.layout(cell) > this.height) cell--;
    const height = Math.max(this.layout(cell), 20);
    const scale = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.context = this.canvas.getContext("2d");
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
    this.draw(this.scene);
  }

  /** Places every node for a size of cell; returns the height that takes. */
  layout(cell) {
    this.cell = cell;
    this.gap = cell >= 8 ? 2 : cell >= 5 ? 1 : 0;
    this.named = cell >= LABELLED_CELL;
    const gap = cell >= 8 ? NODE_GAP : 3;
    const racks = Math.max(0, ...this.nodes.map(node => node.rack)) > 0;
    let [x, y, tallest, rack] = [0, 0, 0, null];
    for (const node of this.nodes) {
      const columns = node.gpus <= 4 ? node.gpus : Math.ceil(node.gpus / Math.ceil(node.gpus / 8));
      const perRow = node.gpus <= 4 ? columns : Math.max(4, Math.ceil(columns / 2));
      const width = perRow * (cell + this.gap);
      const height = Math.ceil(node.gpus / perRow) * (cell + this.gap) + (this.named ? 13 : 0);
      if (rack !== node.rack || x + width > this.width) {
        y += tallest ? tallest + gap : 0;
        [x, tallest] = [0, 0];
        if (racks && rack !== node.rack) {
          node.title = y;
          y += RACK_TITLE;
        }
        rack = node.rack;
      }
      Object.assign(node, { x, y: y + (this.named ? 13 : 0), perRow, width });
      x += width + gap;
      tallest = Math.max(tallest, height);
    }
    return y + tallest + 1;
  }

  /** Where a GPU is drawn: x and y. */
  corner(gpu) {
    const node = this.nodes[this.nodeOf[gpu]];
    const at = gpu - node.first;
    const step = this.cell + this.gap;
    return [node.x + (at % node.perRow) * step, node.y + Math.floor(at / node.perRow) * step];
  }

  /** Draws a scene: `owners` by lane (-1: free), `laneGpu`, `colour(job)`, `label(job)`, `down`, `followed`. */
  draw(scene) {
    if (!scene || !this.context) return;
    this.scene = scene;
    const draw = this.context;
    draw.clearRect(0, 0, this.width, this.canvas.height);
    this.drawFrame(draw);
    this.drawCells(draw, scene);
    for (const [first, count] of scene.down ?? []) this.hatch(draw, first, count);
    if (scene.followed !== null && scene.followed !== undefined) this.outline(draw, scene);
  }

  /** Names of racks and nodes, and the places of GPUs. */
  drawFrame(draw) {
    draw.globalAlpha = 1;
    draw.fillStyle = token("--soft");
    draw.textBaseline = "alphabetic";
    draw.textAlign = "left";
    for (const node of this.nodes) {
      if (node.title !== undefined && node.x === 0) {
        draw.font = `600 12px ${token("--sans")}`;
        draw.fillText(`rack ${node.rack}`, 0, node.title + 13);
      }
      if (this.named) {
        draw.font = `10px ${token("--sans")}`;
        draw.fillText(node.name, node.x, node.y - 3, node.width - this.gap);
      }
    }
    draw.fillStyle = token("--cell");
    for (let gpu = 0; gpu < this.gpus; gpu++) {
      const [x, y] = this.corner(gpu);
      draw.fillRect(x, y, this.cell, this.cell);
    }
  }

  drawCells(draw, { owners, laneGpu, colour, label, followed }) {
    const following = followed !== null && followed !== undefined;
    const sharers = sharing(owners, laneGpu, this.gpus);
    const drawn = sharers ? new Uint8Array(this.gpus) : null;
    const labelled = this.cell >= 14 ? new Set() : null;
    draw.font = `10px ${token("--sans")}`;
    draw.textBaseline = "middle";
    draw.textAlign = "left";
    for (let lane = 0; lane < owners.length; lane++) {
      const job = owners[lane];
      const gpu = laneGpu[lane];
      if (job < 0 || gpu >= this.gpus) continue;
      const [x, y] = this.corner(gpu);
      const parts = sharers ? sharers[gpu] : 1;
      const height = this.cell / parts;
      const top = y + (drawn ? drawn[gpu]++ * height : 0);
      draw.globalAlpha = following && job !== followed ? FAINT : 1;
      draw.fillStyle = colour(job);
      // A gang on neighbouring GPUs of a node is one block.
      const joined = parts === 1 && this.joins(lane, owners, laneGpu);
      draw.fillRect(x, top, this.cell + (joined ? this.gap : 0), height);
      if (labelled && parts === 1 && !labelled.has(job)) {
        labelled.add(job);
        this.name(draw, label(job), x, top, this.room(lane, owners, laneGpu));
      }
    }
    draw.globalAlpha = 1;
  }

  /** Whether the GPU to the right, on the same row of the node, has the same job. */
  joins(lane, owners, laneGpu) {
    const gpu = laneGpu[lane];
    if (owners[lane + 1] !== owners[lane] || laneGpu[lane + 1] !== gpu + 1) return false;
    const node = this.nodes[this.nodeOf[gpu]];
    return this.nodeOf[gpu + 1] === this.nodeOf[gpu] && (gpu - node.first + 1) % node.perRow !== 0;
  }

  /** The width of the block that begins at a lane. */
  room(lane, owners, laneGpu) {
    let width = this.cell;
    while (lane + 1 < owners.length && this.joins(lane, owners, laneGpu)) {
      lane++;
      width += this.cell + this.gap;
    }
    return width;
  }

  name(draw, text, x, y, room) {
    if (draw.measureText(text).width > room - 4) return;
    draw.fillStyle = JOB_INK;
    draw.fillText(text, x + 2, y + this.cell / 2 + 0.5);
  }

  hatch(draw, first, count) {
    draw.save();
    draw.strokeStyle = token("--bad-ink");
    draw.fillStyle = token("--bad");
    draw.lineWidth = 1.2;
    for (let gpu = first; gpu < Math.min(first + count, this.gpus); gpu++) {
      const [x, y] = this.corner(gpu);
      draw.fillRect(x, y, this.cell, this.cell);
      draw.beginPath();
      draw.moveTo(x + 1, y + this.cell - 1);
      draw.lineTo(x + this.cell - 1, y + 1);
      draw.moveTo(x + 1, y + 1);
      draw.lineTo(x + this.cell - 1, y + this.cell - 1);
      draw.stroke();
    }
    draw.restore();
  }

  outline(draw, { owners, laneGpu, followed }) {
    draw.strokeStyle = token("--ink");
    draw.lineWidth = this.cell >= 8 ? 2 : 1;
    for (let lane = 0; lane < owners.length; lane++) {
      if (owners[lane] !== followed || laneGpu[lane] >= this.gpus) continue;
      const [x, y] = this.corner(laneGpu[lane]);
      draw.strokeRect(x, y, this.cell, this.cell);
    }
  }

  /** The GPU under the pointer, or null. */
  gpuAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    for (let gpu = 0; gpu < this.gpus; gpu++) {
      const [left, top] = this.corner(gpu);
      if (x >= left && x < left + this.cell && y >= top && y < top + this.cell) return gpu;
    }
    return null;
  }

  /** The name of a GPU. */
  nameOf(gpu) {
    const node = this.nodes[this.nodeOf[gpu]];
    return `${node.name}, GPU ${gpu - node.first}${node.type && node.type !== "gpu" ? ` (${node.type})` : ""}`;
  }
}

/** By GPU: how many jobs hold it; null where no GPU is shared. */
function sharing(owners, laneGpu, gpus) {
  const found = new Uint8Array(gpus);
  let shared = false;
  for (let lane = 0; lane < owners.length; lane++) {
    if (owners[lane] >= 0 && ++found[laneGpu[lane]] > 1) shared = true;
  }
  return shared ? found : null;
}
