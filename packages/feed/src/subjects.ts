import { EhdbError, invalidOption, MAX_NAME_BYTES } from "@ehdb/contracts";

/** Whether a subject is wanted. */
export type SubjectFilter = (subject: string) => boolean;

const any = "*";
const rest = ">";

/** What one of the patterns matches; without patterns everything. INVALID_OPTION for a pattern that is none. */
export function subjectFilter(patterns: readonly string[] | undefined): SubjectFilter {
  if (patterns === undefined) return () => true;
  const parsed = patterns.map((pattern) => pattern.split("."));
  return (subject) => {
    const tokens = subject.split(".");
    return parsed.some((pattern) => matches(pattern, tokens));
  };
}

/** INVALID_OPTION, with what is wrong with which; returns a copy. */
export function checkPatterns(patterns: unknown): readonly string[] | undefined {
  if (patterns === undefined) return undefined;
  if (!Array.isArray(patterns) || patterns.length === 0)
    throw invalidOption("subjects", patterns, "an array of one or more patterns");
  return patterns.map((pattern: unknown) => {
    if (typeof pattern !== "string")
      throw invalidOption("subjects", pattern, "an array of patterns, which are strings");
    const wrong = whatIsWrong(pattern);
    if (wrong === undefined) return pattern;
    const message = `the pattern ${JSON.stringify(pattern.slice(0, 100))} ${wrong}. A pattern is like "order.*" or "order.>"`;
    throw new EhdbError("INVALID_OPTION", message, { option: "subjects", got: pattern });
  });
}

function whatIsWrong(pattern: string): string | undefined {
  if (Buffer.byteLength(pattern) > MAX_NAME_BYTES) return `has more than ${MAX_NAME_BYTES} bytes`;
  const tokens = pattern.split(".");
  if (tokens.includes("")) return "has an empty token";
  if (tokens.slice(0, -1).includes(rest)) return `has tokens behind "${rest}", which stands for all of them`;
  const joined = tokens.find((token) => token.length > 1 && (token.includes(any) || token.includes(rest)));
  return joined === undefined ? undefined : `has "${joined}": "${any}" and "${rest}" are tokens of their own`;
}

function matches(pattern: readonly string[], tokens: readonly string[]): boolean {
  const isOpen = pattern.at(-1) === rest;
  if (isOpen ? tokens.length < pattern.length : tokens.length !== pattern.length) return false;
  const fixed = isOpen ? pattern.length - 1 : pattern.length;
  for (let place = 0; place < fixed; place++) {
    if (pattern[place] !== any && pattern[place] !== tokens[place]) return false;
  }
  return true;
}
