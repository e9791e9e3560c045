/** The plainest model of a file: every state that it went through, and the one that a sync promised. */
export class FileModel {
  readonly states: Uint8Array[] = [new Uint8Array(0)];
  promised = 0;

  get newest(): Uint8Array {
    return this.states[this.states.length - 1] as Uint8Array;
  }

  write(position: number, length: number, value: number): void {
    const next = new Uint8Array(Math.max(this.newest.length, position + length));
    next.set(this.newest);
    next.fill(value, position, position + length);
    this.states.push(next);
  }

  truncate(bytes: number): void {
    const next = new Uint8Array(bytes);
    next.set(this.newest.subarray(0, bytes));
    this.states.push(next);
  }

  /** What is wrong with this content after a crash: each byte must come from a state since the promise, and the size. */
  wrongIn(found: Uint8Array): string | undefined {
    const possible = this.states.slice(this.promised);
    const sizes = possible.map((state) => state.length);
    if (found.length < Math.min(...sizes) || found.length > Math.max(...sizes)) {
      return `size ${found.length}; possible: ${sizes.join(", ")}`;
    }
    for (let at = 0; at < found.length; at++) {
      let place = 0;
      while (place < possible.length && (possible[place]?.[at] ?? 0) !== found[at]) place++;
      if (place < possible.length) continue;
      return `byte ${at} is ${found[at]}; possible: ${possible.map((state) => state[at] ?? 0).join(", ")}`;
    }
    return undefined;
  }
}
