import Table from "cli-table3";
import { printable } from "./printable.ts";

/** A rule below the head, and no other lines. */
const chars = {
  ...Object.fromEntries(
    ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
      ["", "-mid", "-left", "-right"].map((end) => [`${side}${end}`, ""]),
    ),
  ),
  "left-mid": "",
  "right-mid": "",
  mid: "─",
  "mid-mid": "",
  middle: "  ",
};

/** Columns whose title ends in a colon stand to the right. */
export function table(titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const made = new Table({
    head: titles.map((title) => title.replace(/:$/, "")),
    colAligns: titles.map((title) => (title.endsWith(":") ? "right" : "left")),
    style: { head: [], border: [], compact: true, "padding-left": 0, "padding-right": 0 },
    chars,
  });
  for (const row of rows) made.push(row.map((cell) => (typeof cell === "number" ? grouped(cell) : printable(cell))));
  return `${made.toString().replaceAll(/ +$/gm, "")}\n`;
}

/** Names and values, one a line. */
export function list(facts: readonly (readonly [name: string, value: string | number])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length));
  const lines = facts.map(
    ([name, value]) => `${name.padEnd(width)}  ${typeof value === "number" ? grouped(value) : printable(value)}\n`,
  );
  return lines.join("");
}

/** 12 345 */
export function grouped(value: number): string {
  return String(value).replaceAll(/\B(?=(\d{3})+$)/g, " ");
}

/** 1.5 MiB */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

export function moment(millis: number): string {
  return millis === 0 ? "never" : new Date(millis).toISOString();
}
