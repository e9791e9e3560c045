const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

/**
 * A name as it can be shown: what a terminal would obey, what would begin another line and what would turn the order around stands there as `\u…`.
 * Names are whatever a program gave.
 */
export function printable(text: string): string {
  return text.replaceAll(unprintable, (one) => String.raw`\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The same of several lines. */
export function printableLines(text: string): string {
  return text.split("\n").map(printable).join("\n");
}
