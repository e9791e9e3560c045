import type { Fault } from "@ehdb/harness";
import { realHost } from "@ehdb/host";
import { flipBits } from "./flipped-bits.ts";
import type { Piece } from "./meaningful-bytes.ts";

const kinds: readonly (readonly [Piece["kind"], number])[] = [
  ["part", 100],
  ["manifest", 40],
  ["segment", 60],
];

/** Rot, on the real machine: 200 single bits, one after the other. A minute or two. */
export const faults: readonly Fault[] = kinds.map(([kind, flips]) => ({
  name: `${flips} flipped bits in ${kind}s`,
  inject: ({ directory }) => {
    const host = realHost();
    return flipBits({ host, directory, kind, flips, seed: host.random.integer(2 ** 31) });
  },
}));
