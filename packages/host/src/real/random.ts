import { randomBytes, randomInt } from "node:crypto";
import type { Random } from "../host.ts";

export class RealRandom implements Random {
  bytes(count: number): Uint8Array {
    return randomBytes(count);
  }

  id(): string {
    return randomBytes(16).toString("hex");
  }

  integer(bound: number): number {
    return randomInt(bound);
  }
}
