import { describe, expect, it } from "vitest";
import { crc32 } from "node:zlib";
import type { SimulatedHost } from "@ehdb/host";
import { HEADER_BYTES } from "../src/manifest/format.ts";
import { readManifest } from "../src/manifest/read-manifest.ts";
import {
  begunOn,
  codeOf,
  current,
  dir,
  errorOf,
  file,
  machine,
  openOn,
  overwrite,
  plainOf,
  seal,
  touch,
} from "./manifest/drive.ts";
import type { Plain } from "./manifest/drive.ts";

/** A store of some edits in one manifest, and its states after each. */
async function stored(edits = 3): Promise<{ host: SimulatedHost; path: string; states: Plain[] }> {
  const host = machine();
  const manifest = await begunOn(host);
  const states = [plainOf(manifest.state)];
  for (let number = 0; number < edits; number++) {
    await manifest.append(seal(manifest));
    states.push(plainOf(manifest.state));
  }
  await manifest.close();
  return { host, path: file(manifest.id), states };
}

const stateOf = async (host: SimulatedHost): Promise<Plain> => plainOf((await readManifest({ host, dir })).state);

/** Where the entries of a manifest begin, and where the last one ends. */
function placesIn(bytes: Buffer): number[] {
  const places = [HEADER_BYTES];
  for (let at = HEADER_BYTES; at < bytes.length; places.push(at)) at += 8 + bytes.readUInt32LE(at);
  return places;
}

async function rewritten(
  host: SimulatedHost,
  path: string,
  change: (bytes: Buffer, places: number[]) => Buffer,
): Promise<void> {
  const bytes = Buffer.from(host.content(path));
  await overwrite(host, path, change(bytes, placesIn(bytes)));
}

describe("one flipped bit", () => {
  it("anywhere in the newest manifest is CORRUPT, or takes the last edit and no other", async () => {
    const { host, path, states } = await stored(2);
    const bytes = host.content(path);
    const last = placesIn(Buffer.from(bytes)).at(-2) as number;
    for (let place = 0; place < bytes.length * 8; place++) {
      const [offset, bit] = [place >> 3, place & 7];
      host.flipBit(path, offset, bit);
      const outcome = await stateOf(host).catch((error: unknown) => error);
      if (offset < last) expect(outcome, `byte ${offset}, bit ${bit}`).toMatchObject({ code: "CORRUPT" });
      else expect(outcome, `byte ${offset}, bit ${bit}`).toEqual(states.at(-2));
      host.flipBit(path, offset, bit);
    }
    expect(await stateOf(host)).toEqual(states.at(-1));
  });

  it("anywhere in CURRENT is CORRUPT", async () => {
    const { host } = await stored();
    const bytes = host.content(current);
    for (let place = 0; place < bytes.length * 8; place++) {
      host.flipBit(current, place >> 3, place & 7);
      expect(await codeOf(readManifest({ host, dir })), `bit ${place}`).toBe("CORRUPT");
      host.flipBit(current, place >> 3, place & 7);
    }
  });

  it("is told with the file, the place and what to do, and an open changes nothing", async () => {
    const { host, path } = await stored();
    host.flipBit(path, 300, 0);
    const before = await host.files.list(dir);
    const error = await errorOf(openOn(host));
    expect(error.message).toMatch(
      /manifest-000000000001 is damaged at byte \d+: .*Nothing was changed\. Put the file back/,
    );
    expect(error.data).toMatchObject({ file: path, offset: HEADER_BYTES });
    expect(await host.files.list(dir)).toEqual(before);
  });
});

describe("bytes that aren't where they were written", () => {
  it("are CORRUPT when two edits changed places, one is missing, or one is there twice", async () => {
    const cuts = (bytes: Buffer, places: number[]): Buffer[] =>
      places.map((place, index) => bytes.subarray(index === 0 ? 0 : places[index - 1], place));
    const orders = {
      swapped: [0, 1, 3, 2, 4],
      missing: [0, 1, 3, 4],
      twice: [0, 1, 2, 2, 3, 4],
      "last twice": [0, 1, 2, 3, 4, 4],
    };
    for (const [name, order] of Object.entries(orders)) {
      const { host, path } = await stored();
      await rewritten(host, path, (bytes, places) =>
        Buffer.concat(order.map((each) => cuts(bytes, places)[each] as Buffer)),
      );
      expect(await codeOf(readManifest({ host, dir })), name).toBe("CORRUPT");
    }
  });

  it("are no edits when they are of another manifest", async () => {
    const one = await stored(2);
    const host = machine(2);
    const manifest = await begunOn(host);
    for (let number = 0; number < 3; number++) await manifest.append(seal(manifest));
    const foreign = Buffer.from(host.content(file(1)));
    const third = foreign.subarray(placesIn(foreign).at(-2));
    await rewritten(one.host, one.path, (bytes) => Buffer.concat([bytes, third]));
    expect(await stateOf(one.host)).toEqual(one.states.at(-1));
  });

  it("are no manifest in force when the file is another store's of the same name", async () => {
    const { host, path } = await stored();
    const other = machine(7);
    await begunOn(other);
    await overwrite(host, path, other.content(path));
    expect((await errorOf(openOn(host))).message).toMatch(/isn't the file that CURRENT names/);
  });

  it("are an end when the last edit is cut short or zeros, and CORRUPT within the snapshot", async () => {
    for (const zeros of [false, true]) {
      const { host, path, states } = await stored(2);
      const whole = Buffer.from(host.content(path));
      const places = placesIn(whole);
      for (let end = HEADER_BYTES - 1; end < whole.length; end += 7) {
        const rest = zeros ? Buffer.alloc(whole.length - end) : Buffer.alloc(0);
        await overwrite(host, path, Buffer.concat([whole.subarray(0, end), rest]));
        const edits = places.filter((place) => place <= end).length - 2;
        if (edits < 0) expect(await codeOf(readManifest({ host, dir })), `cut at ${end}`).toBe("CORRUPT");
        else expect(await stateOf(host), `cut at ${end}`).toEqual(states[edits]);
      }
    }
  });
});

describe("a file that is missing", () => {
  it("is CORRUPT when CURRENT names it", async () => {
    const { host, path } = await stored();
    await host.files.remove(path);
    expect((await errorOf(openOn(host))).message).toMatch(
      /CURRENT is damaged.*names manifest-000000000001, which is missing/,
    );
  });

  it("is CORRUPT when it's CURRENT, and manifests or parts are there", async () => {
    const { host, path } = await stored();
    await host.files.remove(current);
    expect((await errorOf(openOn(host))).message).toMatch(/it is missing, while manifests are there/);
    expect(await codeOf(readManifest({ host, dir }))).toBe("CORRUPT");
    await host.files.remove(path);
    await host.files.makeDirectory("/store/parts");
    await touch(host, "/store/parts/000000000001.part");
    expect((await errorOf(openOn(host))).message).toMatch(/it is missing, while parts are there/);
  });

  it("is CORRUPT when it's CURRENT, after a store was opened twice without an edit", async () => {
    const { host } = await stored(0);
    await (await begunOn(host)).close();
    await host.files.remove(current);
    expect(await codeOf(openOn(host))).toBe("CORRUPT");
  });

  it("is nothing lost when it's CURRENT, and no edit was ever appended", async () => {
    const { host, states } = await stored(0);
    const { state } = await readManifest({ host, dir });
    await host.files.remove(current);
    expect(await codeOf(readManifest({ host, dir }))).toBe("NOT_FOUND");
    const again = await openOn(host);
    expect(again.isNew).toBe(true);
    expect(again.state.store).toBe(state.store);
    expect(plainOf(again.state)).toEqual(states[0]);
  });
});

describe("another version", () => {
  it("of a manifest or of CURRENT is refused with UNSUPPORTED_VERSION", async () => {
    const { host, path } = await stored();
    const whole = Buffer.from(host.content(path));
    const changed = Buffer.from(whole);
    changed.writeUInt32LE(2, 8);
    changed.writeUInt32LE(crc32(changed.subarray(0, HEADER_BYTES - 4)), HEADER_BYTES - 4);
    await overwrite(host, path, changed);
    const error = await errorOf(openOn(host));
    expect(error.code).toBe("UNSUPPORTED_VERSION");
    expect(error.data).toEqual({ file: path, version: 2, supported: 1 });
    await overwrite(host, path, whole);
    const text = "ehdb current 2\nanything\n";
    await overwrite(host, current, Buffer.from(`${text}${crc32(text).toString(16).padStart(8, "0")}\n`));
    expect((await errorOf(openOn(host))).data).toEqual({ file: current, version: 2, supported: 1 });
  });
});
