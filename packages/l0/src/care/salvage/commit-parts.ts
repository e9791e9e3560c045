import { MIB } from "@ehdb/contracts";
import type { DatasetOrder } from "@ehdb/contracts";
import type { JournalReader, JournalRecord } from "@ehdb/journal";
import {
  COMMIT_FORMAT,
  COMMIT_HEADER_BYTES,
  datasetAt,
  isOfLog,
  isWholeOp,
  keyAt,
  opEnd,
  operation,
  operationAt,
  sortAt,
} from "../../envelope.ts";
import type { PartMeta } from "../../meta.ts";
import { PartBuilder } from "../../part/part-builder.ts";
import { PartSink } from "./part-sink.ts";
import type { PartMaking } from "./part-sink.ts";

/** Commits that become parts together. */
const groupBytes = 32 * MIB;

interface Op {
  readonly bytes: Buffer;
  readonly at: number;
  readonly revision: number;
  readonly time: number;
}

export interface SavedCommits {
  readonly parts: readonly PartMeta[];
  readonly commits: number;
  /** Of the last one. */
  readonly time: number;
  readonly epoch: number;
  /** Those that can't be read although their checksum fits. */
  readonly unreadable: readonly number[];
  /** By dataset: its order, and the last position that was given in it. */
  readonly datasets: ReadonlyMap<number, { readonly order: DatasetOrder; readonly lastSort: number }>;
}

/** Makes parts of the commits of a journal, as far as a dataset's aren't in parts already. */
export async function saveCommits(
  journal: JournalReader,
  making: PartMaking,
  isInPart: (dataset: number, revision: number) => boolean,
): Promise<SavedCommits> {
  const parts: PartMeta[] = [];
  const unreadable: number[] = [];
  const datasets = new Map<number, { readonly order: DatasetOrder; readonly lastSort: number }>();
  let group = new Map<number, Op[]>();
  let [bytes, before, commits, time, epoch] = [0, 0, 0, 0, 0];
  const end = async (): Promise<void> => {
    for (const [dataset, ops] of group) {
      const order = isOfLog(operationAt((ops[0] as Op).bytes, (ops[0] as Op).at)) ? "by-sort" : "by-key";
      parts.push(await partOf(dataset, order, ops, making));
    }
    group = new Map();
    bytes = 0;
  };
  for await (const batch of journal.scan().batches()) {
    for (const record of batch) {
      // Behind a gap versions don't go on.
      if (bytes > groupBytes || record.sequence !== before + 1) await end();
      before = record.sequence;
      epoch = Math.max(epoch, record.epoch);
      const ops = opsOf(record);
      if (ops === undefined) {
        unreadable.push(record.sequence);
        await end();
        continue;
      }
      commits++;
      bytes += record.data.length;
      for (const op of ops) {
        time = op.time;
        const dataset = datasetAt(op.bytes, op.at);
        noteDataset(datasets, dataset, op);
        if (isInPart(dataset, op.revision)) continue;
        const others = group.get(dataset);
        if (others === undefined) group.set(dataset, [op]);
        else others.push(op);
      }
    }
  }
  await end();
  return { parts, commits, time, epoch, unreadable, datasets };
}

/** `undefined` for what isn't a commit. */
function opsOf({ data, sequence }: JournalRecord): Op[] | undefined {
  // The batch that it's a view of isn't kept for a few ops.
  const bytes = Buffer.from(data);
  if (bytes.length < COMMIT_HEADER_BYTES || bytes[0] !== COMMIT_FORMAT) return undefined;
  const time = bytes.readDoubleLE(1);
  const ops: Op[] = [];
  for (let at = COMMIT_HEADER_BYTES; at < bytes.length; at = opEnd(bytes, at)) {
    if (!isWholeOp(bytes, at, bytes.length)) return undefined;
    ops.push({ bytes, at, revision: sequence, time });
  }
  return ops;
}

function noteDataset(
  datasets: Map<number, { readonly order: DatasetOrder; readonly lastSort: number }>,
  dataset: number,
  { bytes, at }: Op,
): void {
  const op = operationAt(bytes, at);
  const sort = op === operation.append ? sortAt(bytes, at) : 0;
  const lastSort = Math.max(sort, datasets.get(dataset)?.lastSort ?? 0);
  datasets.set(dataset, { order: isOfLog(op) ? "by-sort" : "by-key", lastSort });
}

async function partOf(dataset: number, order: DatasetOrder, ops: Op[], making: PartMaking): Promise<PartMeta> {
  const sink = new PartSink(making, { dataset, order, level: 0 });
  const builder = new PartBuilder(sink.options);
  if (order === "by-key")
    ops.sort((a, b) => Buffer.compare(keyAt(a.bytes, a.at), keyAt(b.bytes, b.at)) || b.revision - a.revision);
  try {
    for (const { bytes, at, revision, time } of ops) builder.add(bytes, at, revision, time);
    const meta = builder.finish();
    await sink.end();
    return meta;
  } catch (error) {
    await sink.close();
    throw error;
  }
}
