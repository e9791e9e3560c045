import type { FeedMessage, FeedSource } from "@ehdb/contracts";

/** What a group does with its deliveries. */
export interface Deliveries<R> {
  acknowledge(message: Message<R>): Promise<void>;
  nack(message: Message<R>, options: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void>;
  extend(message: Message<R>, leaseSeconds: number | undefined): Promise<number>;
  park(message: Message<R>, reason: string): Promise<void>;
}

/** One delivery. It is what it is told apart by. */
export class Message<R> implements FeedMessage<R> {
  readonly record: R;
  readonly sequence: number;
  readonly subject: string;
  readonly key: string;
  readonly time: number;
  readonly deliveries: number;
  readonly leasedUntil: number;
  isAcknowledged = false;
  readonly group: Deliveries<R>;

  constructor(
    group: Deliveries<R>,
    source: FeedSource<R>,
    record: R,
    { deliveries, leasedUntil }: Pick<FeedMessage<R>, "deliveries" | "leasedUntil">,
  ) {
    this.group = group;
    this.record = record;
    this.sequence = source.sequenceOf(record);
    this.subject = source.subjectOf(record);
    this.key = source.keyOf(record);
    this.time = source.timeOf(record);
    this.deliveries = deliveries;
    this.leasedUntil = leasedUntil;
  }

  ack(): Promise<void> {
    return this.group.acknowledge(this);
  }

  nack(options?: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void> {
    return this.group.nack(this, options);
  }

  extend(leaseSeconds?: number): Promise<number> {
    return this.group.extend(this, leaseSeconds);
  }

  park(reason: string): Promise<void> {
    return this.group.park(this, reason);
  }
}
