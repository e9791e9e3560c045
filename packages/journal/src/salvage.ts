import { EhdbError } from "@ehdb/contracts";
import type { Damage, JournalRecord, SalvageOptions, SalvageReport } from "./api.ts";
import { plainBody } from "./body.ts";
import { corrupt } from "./damage.ts";
import { directoryExists } from "./directory.ts";
import { flag } from "./format.ts";
import type { OpenJournal } from "./journal.ts";
import { machineError } from "./machine-error.ts";
import { resolveSalvageOptions } from "./options.ts";
import { findReachable } from "./reachable.ts";
import type { Part, Reachable } from "./reachable.ts";
import { assertEmpty, makeJournal } from "./unfinished.ts";
import { walkSegment } from "./walk-segment.ts";
import type { RawBatch } from "./walker.ts";

/**
 * Copies whatever is whole in a damaged journal into a new one, with the same sequences, times and epochs. The damaged one
 * is only read; nobody should be writing it. Errors: INVALID_OPTION, NOT_FOUND (no such directory), ALREADY_EXISTS (`to`
 * holds something), CORRUPT (nothing in it is whole), KEY_MISSING, WRONG_KEY, NO_SPACE, IO_ERROR.
 */
export async function salvage(options: SalvageOptions): Promise<SalvageReport> {
  const { host, dir, to, encryption } = resolveSalvageOptions(options);
  try {
    if (!(await directoryExists(host, dir, "dir"))) {
      throw new EhdbError("NOT_FOUND", `there is no journal at ${dir}: no such directory. Check the path`, { dir });
    }
    await assertEmpty(host, to);
    const source = await findReachable({ host, dir, encryption, indexStride: 1024 });
    if (source.parts.length === 0 && source.damage.length > 0) throw corrupt(source.damage[0] as Damage);
    return await makeJournal({ host, to, encryption, leastEpoch: source.epoch + 1 }, (target) =>
      new Salvage(source, target).run(options.onProgress),
    );
  } catch (error) {
    throw machineError(error, "salvage()", dir);
  }
}

class Salvage {
  readonly #source: Reachable;
  readonly #target: OpenJournal;
  readonly #lost: Damage[] = [];
  /** What explains the next gap. */
  readonly #damage: Damage[];
  /** The sequence that the next record must have; 0 before the first. */
  #next = 0;
  #records = 0;
  #bytes = 0;

  constructor(source: Reachable, target: OpenJournal) {
    this.#source = source;
    this.#target = target;
    this.#damage = [...source.damage].sort((a, b) => a.first - b.first);
  }

  async run(onProgress: SalvageOptions["onProgress"]): Promise<SalvageReport> {
    const { parts, lowWater, stated } = this.#source;
    const totalBytes = parts.reduce((sum, { segment }) => sum + segment.end, 0);
    let doneBytes = 0;
    for (const part of parts) {
      await this.#copyPart(part, (bytes) => onProgress?.(doneBytes + bytes, totalBytes));
      doneBytes += part.segment.end;
      onProgress?.(doneBytes, totalBytes);
    }
    const known = Math.max(stated, ...this.#damage.map((damage) => damage.last));
    await this.#start(lowWater.sequence);
    if (known >= this.#next) await this.#passOver(known + 1);
    await this.#target.flush();
    if (lowWater.sequence > 1) await this.#target.dropBelow(lowWater);
    return { records: this.#records, bytes: this.#bytes, lost: this.#lost };
  }

  async #copyPart(part: Part, onBytes: (bytes: number) => void): Promise<void> {
    const { host, files } = this.#target;
    const { segment } = part;
    await files.use(segment, (file) =>
      walkSegment(
        host,
        file,
        segment,
        {
          onBatch: async (records, batch) => {
            await this.#copyBatch(part, records, batch);
            onBytes(batch.offset + batch.bytes.length);
          },
          onDamage: (damage) => this.#damage.push(damage),
        },
        part.start,
      ),
    );
  }

  async #copyBatch({ segment }: Part, records: readonly JournalRecord[], batch: RawBatch): Promise<void> {
    const { firstSequence, epoch, time, flags } = batch.header;
    const { lowWater } = this.#source;
    if (firstSequence + records.length <= lowWater.sequence) return;
    // A batch is never split: the one that holds the low-water sequence comes whole, and what's below is dropped again.
    await this.#start(Math.min(firstSequence, lowWater.sequence));
    // A part that the broken chain couldn't place may begin before where the last one ended.
    if (firstSequence < this.#next) return;
    if (firstSequence > this.#next) await this.#passOver(firstSequence);
    const copy = {
      body: plainBody(segment, batch),
      flags: flags & flag.compressed,
      records: records.length,
      epoch,
      time,
    };
    await this.#target.writer.insert(copy);
    this.#next = firstSequence + records.length;
    this.#records += records.length;
    for (const { data } of records) this.#bytes += data.length;
  }

  async #start(sequence: number): Promise<void> {
    if (this.#next !== 0) return;
    if (sequence > 1) await this.#target.writer.skipTo(sequence);
    this.#next = sequence;
  }

  async #passOver(next: number): Promise<void> {
    const explains = (damage: Damage): boolean => damage.last >= this.#next && damage.first < next;
    const { file, offset, reason } = this.#damage.find(explains) ?? {
      file: this.#source.parts.at(-1)?.segment.path ?? "",
      offset: this.#source.parts.at(-1)?.segment.end ?? 0,
      reason: "it was stated durable, and is nowhere to be found",
    };
    this.#lost.push({ file, offset, first: this.#next, last: next - 1, reason });
    await this.#target.writer.skipTo(next);
    this.#next = next;
  }
}
