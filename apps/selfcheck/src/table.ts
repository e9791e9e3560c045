import { styleText } from "node:util";
import Table from "cli-table3";
import type { Report, Step } from "./report.ts";

type Colour = "green" | "red" | "yellow" | "dim" | "bold";

const CHECKED_WIDTH = 42;
const FIGURE_WIDTH = 30;

/** One verb's table, and under it what the steps have to say. `quiet`: only what isn't as it should be. */
export function formatReport(report: Report, options: { readonly colours: boolean; readonly quiet: boolean }): string {
  const paint = (colour: Colour, text: string): string =>
    options.colours ? styleText(colour, text, { validateStream: false }) : text;
  const steps = options.quiet ? report.steps.filter((step) => !step.ok || step.met === false) : report.steps;
  if (steps.length === 0) return "";
  const table = new Table({
    head: [report.verb, "how many", "figure", "service level", ""].map((title) => paint("bold", title)),
    style: { head: [], border: [], compact: true },
    colAligns: ["left", "right", "right", "right", "left"],
    chars: lines,
  });
  for (const step of steps) table.push(row(step, paint));
  const notes = steps.filter(hasNote).map((step) => note(step, paint));
  const rows = table.toString().replaceAll(/ +$/gm, "");
  return [rows, ...notes, paint("dim", `${report.verb}: ${report.outcome} in ${report.seconds} s`), ""].join("\n");
}

/** Rules above and below the head only. */
const lines = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  right: "",
  "right-mid": "",
  mid: "─",
  "mid-mid": "─",
  middle: "  ",
};

function row(step: Step, paint: (colour: Colour, text: string) => string): string[] {
  const figure = formatFigure(step);
  return [
    step.name.slice(0, CHECKED_WIDTH),
    step.count === null ? "" : grouped(step.count),
    figure.length > FIGURE_WIDTH ? "see below" : figure,
    step.level ?? "",
    verdict(step, paint),
  ];
}

function verdict(step: Step, paint: (colour: Colour, text: string) => string): string {
  if (!step.ok) return paint("red", "NOT OK");
  return step.met === false ? paint("yellow", "missed") : paint("green", "ok");
}

const hasNote = (step: Step): boolean => step.message !== null || formatFigure(step).length > FIGURE_WIDTH;

function note(step: Step, paint: (colour: Colour, text: string) => string): string {
  const figure = formatFigure(step);
  const said = [figure.length > FIGURE_WIDTH ? figure : null, step.message].filter((text) => text !== null).join("; ");
  return paint(step.ok ? "dim" : "red", `  ${step.name}: ${said}`);
}

function formatFigure(step: Step): string {
  if (step.value === null) return "";
  const value = typeof step.value === "number" ? grouped(step.value) : step.value;
  return step.unit === null ? value : `${value} ${step.unit}`;
}

/** 12 345.6 */
function grouped(value: number): string {
  if (!Number.isFinite(value)) return "none";
  const [whole = "", fraction] = String(value).split(".");
  const spaced = whole.replaceAll(/\B(?=(\d{3})+$)/g, " ");
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}
