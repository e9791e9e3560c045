import { UsageError } from "./usage-error.ts";

/** Whether a canonical name is meant: `*` stands for anything, and a pattern without one for all names that begin with it, part by part. */
export function namePattern(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  if (!/^[\w.*-]+$/.test(pattern))
    throw new UsageError(`--only takes a canonical name, or part of one with *, not "${pattern}"`);
  const text = pattern.replaceAll(".", "\\.").replaceAll("*", ".*");
  const expression = new RegExp(pattern.includes("*") ? `^${text}$` : `^${text}(\\.|$)`);
  return (name) => expression.test(name);
}
