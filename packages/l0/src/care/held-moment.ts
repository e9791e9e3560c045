import type { Journal } from "@ehdb/journal";
import type { Pins } from "../pins.ts";
import type { Sealed } from "../sealed.ts";
import type { View } from "../view.ts";
import type { HeldMoment } from "./backup.ts";

export interface MomentSource {
  readonly journal: Journal;
  readonly sealed: Sealed;
  readonly pins: Pins;
  readonly view: View;
}

/**
 * What an open store holds now, held back as a whole until it's released: the parts by a pin, the rest in the journal. The view may be about to
 * follow what the manifest says already; its pin holds back whatever goes from then on, so the manifest's parts too.
 */
export function holdMoment({
  journal,
  sealed,
  pins,
  view,
}: MomentSource): HeldMoment & { readonly release: () => void } {
  const state = sealed.snapshot();
  const pin = pins.pin(view);
  const letGo = journal.hold(state.sealedThrough + 1);
  return {
    state,
    manifestId: sealed.manifestId,
    durable: Math.max(journal.cursors.durable, state.sealedThrough),
    unsealedBytes: view.generations.reduce((sum, { chunks }) => sum + chunks.bytes, 0),
    touch: () => pin.touch(),
    release: () => {
      pin.release();
      letGo();
    },
  };
}
