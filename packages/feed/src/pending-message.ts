import type { DueTime } from "./due-times.ts";
import type { Heap, HeapItem } from "./heap.ts";
import type { Page } from "./pages.ts";

/**
 * `leased`: a member has it. `waiting`: it's delivered again when it's due, and when it's its turn. `reading`: that is being done. `committing`: whether it's acknowledged
 * depends on a commit that is under way. `done`: it's no longer pending.
 */
export type PendingState = "leased" | "waiting" | "reading" | "committing" | "done";

/** A message that was delivered, or passed over to wait for its turn, and isn't done with. */
export class PendingMessage implements HeapItem<PendingMessage> {
  readonly sequence: number;
  /** Where it's kept; without a page it was replayed, and is kept by itself. */
  readonly page: Page | undefined;
  /** Of a group in order of keys, once it's known. */
  key: string | undefined;
  state: PendingState = "waiting";
  /** How often it was delivered. */
  deliveries = 0;
  /** The number of the last delivery, as long as nothing has ended it; else 0. */
  delivery = 0;
  /** Who got that. */
  member = "";
  /** When the lease is over, or the delay; 0: it's over. */
  dueAt = 0;
  due: DueTime | undefined = undefined;
  heap: Heap<PendingMessage> | undefined = undefined;
  heapPlace = -1;
  pagePlace = -1;

  constructor(sequence: number, page: Page | undefined, key: string | undefined) {
    this.sequence = sequence;
    this.page = page;
    this.key = key;
  }
}
