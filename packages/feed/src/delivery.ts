import type { FeedMessage, FeedSource } from "@ehdb/contracts";
import type { PendingMessage } from "./pending-message.ts";

/** What a group does with its deliveries. */
export interface Deliveries<R> {
  readonly source: FeedSource<R>;
  acknowledge(delivery: Delivery<R>): Promise<void>;
  nack(delivery: Delivery<R>, options: Parameters<FeedMessage<R>["nack"]>[0]): Promise<void>;
  extend(delivery: Delivery<R>, leaseSeconds: number | undefined): Promise<number>;
  park(delivery: Delivery<R>, reason: string): Promise<void>;
}

/** A message as it was lent once. */
export class Delivery<R> implements FeedMessage<R> {
  readonly record: R;
  readonly deliveries: number;
  readonly leasedUntil: number;
  readonly message: PendingMessage;
  /** What it's told apart by from other deliveries of the message. */
  readonly number: number;
  readonly group: Deliveries<R>;
  isAcknowledged = false;

  constructor(group: Deliveries<R>, record: R, message: PendingMessage) {
    this.group = group;
    this.record = record;
    this.message = message;
    this.number = message.delivery;
    this.deliveries = message.deliveries;
    this.leasedUntil = message.dueAt;
  }

  get sequence(): number {
    return this.message.sequence;
  }

  get subject(): string {
    return this.group.source.subjectOf(this.record);
  }

  get key(): string {
    return this.group.source.keyOf(this.record);
  }

  get time(): number {
    return this.group.source.timeOf(this.record);
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
