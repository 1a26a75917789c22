// Columns as blox.ui.columns packs them: a JSON header, typed arrays behind it.

const KINDS = { Float64Array, Float32Array, Int32Array, Uint8Array };

/** The header of a packed table; `columns` has its arrays, which are views of the buffer. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const columns = {};
  for (const [name, [kind, first, count]] of Object.entries(header.arrays)) {
    columns[name] = new KINDS[kind](buffer, 4 + length + first, count);
  }
  return { ...header, columns };
}

/** The last index whose value is at most `wanted`, in ascending values from `low` to `high`; `low - 1`: none. */
export function lastAtMost(values, wanted, low = 0, high = values.length) {
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
