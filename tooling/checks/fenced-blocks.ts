// The fenced code of a Markdown file.

export interface FencedBlock {
  /** What stands behind the opening fence, such as `js` or `js fragment`. */
  readonly info: string;
  /** Of the opening fence, from 1. */
  readonly line: number;
  readonly text: string;
  /** True when only blank lines stand between this block and the one before. */
  readonly follows: boolean;
}

/** A program of the documentation, and what it must print. */
export interface Example {
  readonly line: number;
  readonly program: string;
  /** The `text` block right behind it; undefined when there is none. */
  readonly output: string | undefined;
}

/** Every `js` block is a program that runs as it is printed; `js fragment` says that it isn't one. */
export function examplesIn(markdown: string): { examples: Example[]; fragments: number } {
  const blocks = fencedBlocks(markdown);
  const examples = blocks.flatMap(({ info, line, text }, i) => {
    if (info !== "js") return [];
    const next = blocks[i + 1];
    return [{ line, program: text, output: next?.info === "text" && next.follows ? next.text : undefined }];
  });
  return { examples, fragments: blocks.filter(({ info }) => info === "js fragment").length };
}

export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { info: string; line: number; fence: string; lines: string[] } | undefined;
  let follows = false;
  for (const [i, line] of markdown.split("\n").entries()) {
    const fence = /^(`{3,})(.*)$/.exec(line);
    if (open !== undefined) {
      if (fence?.[1] !== undefined && fence[1].length >= open.fence.length && fence[2]?.trim() === "") {
        blocks.push({
          info: open.info,
          line: open.line,
          text: open.lines.map((each) => `${each}\n`).join(""),
          follows,
        });
        open = undefined;
        follows = true;
      } else open.lines.push(line);
    } else if (fence?.[1] !== undefined) {
      open = { info: fence[2]?.trim() ?? "", line: i + 1, fence: fence[1], lines: [] };
    } else if (line.trim() !== "") follows = false;
  }
  if (open !== undefined) throw new Error(`the fence of line ${open.line} is never closed`);
  return blocks;
}
