import { EhdbError } from "@ehdb/contracts";
import { fileError } from "../file-error.ts";
import { SimulatedClock } from "./clock.ts";
import { crashDisk } from "./crash.ts";
import type { CrashPoint } from "./crash-points.ts";
import type { FaultCode, Faults } from "./faults.ts";
import { SimulatedFiles } from "./files.ts";
import type { History } from "./history.ts";
import type { Machine } from "./machine.ts";
import { Process } from "./process.ts";
import { SimulatedRandom } from "./random.ts";
import type { SimulatedHost } from "./simulated-host.ts";
import type { OperationCounts, OperationKind, Statistics } from "./statistics.ts";
import type { Keep } from "./survival.ts";
import { SimulatedWorkers } from "./workers.ts";

export class Incarnation implements SimulatedHost {
  readonly files: SimulatedFiles;
  readonly clock: SimulatedClock;
  readonly random: SimulatedRandom;
  readonly workers: SimulatedWorkers;
  readonly #machine: Machine;
  readonly #process: Process;
  #succeeded = false;

  constructor(machine: Machine) {
    this.#machine = machine;
    this.#process = new Process(machine);
    this.files = new SimulatedFiles(this.#process);
    this.clock = new SimulatedClock(this.#process);
    this.random = new SimulatedRandom(machine.random);
    this.workers = new SimulatedWorkers(this.#process, this.files);
  }

  get faults(): Faults {
    return this.#machine.faults;
  }

  get statistics(): Readonly<Statistics> {
    return this.#machine.statistics;
  }

  get operations(): Readonly<OperationCounts> {
    return this.#machine.operations;
  }

  get history(): History {
    return this.#machine.history;
  }

  get frozen(): boolean {
    return this.#process.frozen;
  }

  whenFrozen(): Promise<void> {
    return this.#process.whenFrozen();
  }

  failNext(kind: OperationKind, code: FaultCode = "EIO", path?: RegExp): void {
    this.#machine.plan.failNext(kind, code, path);
  }

  crashAfter(operations: number): void {
    this.#process.crashAfter(operations);
  }

  crashAt(point: CrashPoint): void {
    this.#process.crashAt(point);
  }

  hold(kinds: readonly OperationKind[], path?: RegExp): { release(): void } {
    return { release: this.#process.hold(kinds, path) };
  }

  settle(): Promise<void> {
    return this.#process.pump.settle();
  }

  advance(millis: number): Promise<void> {
    return this.clock.advance(millis);
  }

  jump(millis: number): void {
    this.#machine.wallOffset += millis;
  }

  crash(keep?: Keep): SimulatedHost {
    this.#end("crash", keep === "nothing");
    const { disk, crashes, statistics } = this.#machine;
    statistics.crashes++;
    crashDisk(disk, crashes, statistics, keep);
    return new Incarnation(this.#machine);
  }

  kill(): SimulatedHost {
    this.#end("kill", false);
    const { disk, statistics } = this.#machine;
    statistics.kills++;
    disk.recount();
    return new Incarnation(this.#machine);
  }

  flipBit(path: string, offset: number, bit: number): void {
    const inode = this.#machine.disk.file(path, "flipBit");
    if (!(offset >= 0 && offset < inode.size && bit >= 0 && bit < 8)) {
      const message = `${path} has ${inode.size} bytes: there is no bit ${bit} at offset ${offset} to flip`;
      throw new EhdbError("OUT_OF_RANGE", message, { path, offset, bit, bytes: inode.size });
    }
    inode.flip(offset, bit);
    this.#machine.statistics.flippedBits++;
  }

  content(path: string): Uint8Array {
    return this.#machine.disk.file(path, "content").content();
  }

  durableContent(path: string): Uint8Array {
    const inode = this.#machine.disk.findDurable(path);
    if (inode === undefined) throw fileError("ENOENT", "durableContent", path);
    if (inode.kind === "directory") throw fileError("EISDIR", "durableContent", path);
    return inode.durableContent();
  }

  #end(how: "crash" | "kill", dropAll: boolean): void {
    if (this.#succeeded) {
      throw new EhdbError("CLOSED", `${how}: this incarnation has ended before; use the host that its end returned`);
    }
    this.#succeeded = true;
    this.#process.freeze();
    this.#process.abandon(dropAll);
    const checksum = this.#machine.disk.order;
    this.#machine.history.add({ operation: how, path: "", position: 0, bytes: 0, outcome: "ok", checksum });
  }
}
