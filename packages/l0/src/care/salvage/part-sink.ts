import { join } from "node:path";
import type { File, Host } from "@ehdb/host";
import type { KeyRing } from "@ehdb/journal";
import type { DatasetOrder } from "@ehdb/contracts";
import { partName } from "../../part/built-part.ts";
import type { PartWriterOptions } from "../../part/part-writer.ts";

const sliceBytes = 1024 * 1024;
const saltBytes = 32;

/** How the parts of the new store are made. */
export interface PartMaking {
  readonly host: Host;
  /** The new store's. */
  readonly directory: string;
  readonly encryption: KeyRing | undefined;
  readonly compression: "none" | "deflate";
  /** An id that no part has. */
  readonly takeId: () => number;
}

export interface NewPart {
  readonly dataset: number;
  readonly order: DatasetOrder;
  readonly level: number;
}

/** The file of a part of the new store: it takes bytes as they are made, and writes them when it's told to. */
export class PartSink {
  readonly options: PartWriterOptions;
  readonly #host: Host;
  readonly #path: string;
  #file: File | undefined;
  #pieces: Uint8Array[] = [];
  #written = 0;

  constructor({ host, directory, encryption, compression, takeId }: PartMaking, { dataset, order, level }: NewPart) {
    const id = takeId();
    this.#host = host;
    this.#path = join(directory, "parts", partName(id));
    const key = encryption && {
      keyId: encryption.current,
      masterKey: encryption.keys[encryption.current] as Uint8Array,
    };
    const sink = (bytes: Uint8Array): void => void this.#pieces.push(bytes);
    this.options = {
      id,
      dataset,
      order,
      level,
      compression,
      salt: host.random.bytes(saltBytes),
      encryption: key,
      sink,
    };
  }

  /** Writes what there is. */
  async flush(): Promise<void> {
    this.#file ??= await this.#host.files.open(this.#path, "create");
    const bytes = Buffer.concat(this.#pieces.splice(0));
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      const slice = bytes.subarray(at, at + sliceBytes);
      await this.#file.write(slice, this.#written);
      this.#written += slice.length;
    }
  }

  /** Writes and syncs it all; its name isn't durable. */
  async end(): Promise<void> {
    try {
      await this.flush();
      await this.#file?.dataSync();
    } finally {
      await this.#file?.close();
    }
  }

  /** After an error. */
  async close(): Promise<void> {
    await this.#file?.close();
  }
}
