/** A record that says who it is with every byte of it: its id, over and over. */
export function recordOf(id: string, bytes: number): Uint8Array {
  return Buffer.alloc(bytes, `${id}\n`);
}

export function idOf(data: Uint8Array): string {
  return Buffer.from(data.subarray(0, Math.max(0, data.indexOf(0x0a)))).toString("latin1");
}

export function isIntact(data: Uint8Array): boolean {
  return Buffer.compare(data, recordOf(idOf(data), data.length)) === 0;
}

/** `count` ids: `name:1`, `name:2` and so on. */
export function idsOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, place) => `${name}:${place + 1}`);
}
