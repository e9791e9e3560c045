import { SeededRandom } from "./seeded-random.ts";

const kinds = [
  "order.placed",
  "order.paid",
  "order.shipped",
  "stock.reserved",
  "invoice.issued",
  "customer.moved",
] as const;
const words =
  "amber birch cedar delta ember fjord grove haven inlet jetty knoll larch maple north ocean pearl quill ridge".split(
    " ",
  );
const firstMillis = Date.UTC(2024, 0, 1);

/** One event as it would come from an application: a JSON envelope of about 400 bytes. */
export interface EventEnvelope {
  readonly id: string;
  readonly stream: string;
  readonly type: string;
  readonly version: number;
  readonly at: string;
  readonly actor: { readonly id: string; readonly name: string };
  readonly data: Readonly<Record<string, string | number | boolean>>;
  readonly correlation: string;
}

/** `count` events that depend on `seed` only. */
export function seededEvents(seed: number, count: number): EventEnvelope[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, index) => event(random, index));
}

/** The same as bytes of UTF-8. */
export function seededPayloads(seed: number, count: number): Uint8Array[] {
  return seededEvents(seed, count).map((each) => Buffer.from(JSON.stringify(each)));
}

/** `count` records of exactly `bytes` random bytes. */
export function seededRecords(seed: number, count: number, bytes: number): Uint8Array[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => random.bytes(bytes));
}

function event(random: SeededRandom, index: number): EventEnvelope {
  const customer = random.integer(10_000);
  return {
    id: random.hexadecimal(24),
    stream: `order-${String(random.integer(100_000)).padStart(6, "0")}`,
    type: random.pick(kinds),
    version: 1 + random.integer(40),
    at: new Date(firstMillis + index * 37 + random.integer(37)).toISOString(),
    actor: { id: `customer-${customer}`, name: `${random.pick(words)} ${random.pick(words)}` },
    data: {
      product: `${random.pick(words)}-${random.pick(words)}-${random.integer(1000)}`,
      quantity: 1 + random.integer(12),
      price: random.integer(1_000_000) / 100,
      currency: random.pick(["EUR", "CHF", "SEK", "USD"]),
      gift: random.integer(4) === 0,
      note: Array.from({ length: 12 }, () => random.pick(words)).join(" "),
    },
    correlation: random.hexadecimal(32),
  };
}
