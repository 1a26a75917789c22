// Numbers as people read them; the same rules as blox.report.units.

const UNITS = [[120, "s", 1], [7200, "min", 60], [3.6e6, "h", 3600], [Infinity, "d", 86400]];
const AXIS_UNITS = [[300, "s", 1], [3 * 3600, "min", 60], [5 * 86400, "h", 3600], [Infinity, "d", 86400]];

/** A count or figure with separators. */
export function number(value, decimals = 0) {
  if (!Number.isFinite(value)) return "–";
  return value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** One duration: `4.2 h`. */
export function duration(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const [, name, length] = UNITS.find(([limit]) => Math.abs(seconds) < limit);
  const scaled = seconds / length;
  const decimals = Number.isInteger(scaled) || scaled >= 100 ? 0 : scaled < 10 ? 2 : 1;
  return `${number(scaled, decimals)} ${name}`;
}

/** The unit of a time axis of so many seconds: its name and length. */
export function axisUnit(span) {
  const [, name, length] = AXIS_UNITS.find(([limit]) => !(span >= limit));
  return { name, length };
}

/** A time of a run: `2 d 14:05:30`. */
export function clock(seconds) {
  if (!Number.isFinite(seconds)) return "–";
  const whole = Math.floor(seconds);
  const two = value => String(value).padStart(2, "0");
  const time = `${two(Math.floor(whole / 3600) % 24)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
  return whole >= 86400 ? `${Math.floor(whole / 86400)} d ${time}` : time;
}

/** A time of the wall clock (s since 1970) where the reader is: `14:05:30`. */
export const wallClock = seconds => new Date(seconds * 1000).toLocaleTimeString([], { hourCycle: "h23" });

/** A share in per cent. */
export const percent = (part, whole) => (whole > 0 ? `${number((100 * part) / whole)} %` : "–");

/** A count with its noun. */
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
