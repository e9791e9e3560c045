import type { File, Files } from "@ehdb/host";
import { MIB } from "@ehdb/contracts";

/** All of a file. */
export async function readWhole(files: Files, path: string): Promise<Uint8Array> {
  return withFile(files, path, "read", async (file) => {
    const bytes = new Uint8Array(await file.size());
    const count = await file.read(bytes, 0);
    return bytes.subarray(0, count);
  });
}

/** Opens, uses and closes a file. */
export async function withFile<T>(
  files: Files,
  path: string,
  mode: "read" | "write" | "create",
  use: (file: File) => Promise<T>,
): Promise<T> {
  const file = await files.open(path, mode);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

/** Copies a directory and all below it to one that isn't there yet. Not synced: a copy is for looking at. */
export async function copyTree(files: Files, from: string, to: string): Promise<void> {
  await files.makeDirectory(to);
  for (const name of await files.list(from)) {
    const source = `${from}/${name}`;
    const stat = await files.stat(source);
    if (stat?.kind === "directory") await copyTree(files, source, `${to}/${name}`);
    else if (stat?.kind === "file") await copyFile(files, source, `${to}/${name}`);
  }
}

/** Removes a directory and all below it; what is already gone is as wanted. */
export async function removeTree(files: Files, directory: string): Promise<void> {
  for (const name of await files.list(directory).catch(whenMissing<string[]>([]))) {
    const path = `${directory}/${name}`;
    const stat = await files.stat(path);
    if (stat?.kind === "directory") await removeTree(files, path);
    else await files.remove(path).catch(whenMissing(undefined));
  }
  await files.removeDirectory(directory).catch(whenMissing(undefined));
}

/** The files of a directory tree, sorted by path. */
export async function listTree(files: Files, directory: string): Promise<string[]> {
  const paths: string[] = [];
  for (const name of await files.list(directory)) {
    const path = `${directory}/${name}`;
    const stat = await files.stat(path);
    if (stat?.kind === "directory") paths.push(...(await listTree(files, path)));
    else if (stat?.kind === "file") paths.push(path);
  }
  return paths;
}

async function copyFile(files: Files, from: string, to: string): Promise<void> {
  await withFile(files, from, "read", (source) =>
    withFile(files, to, "create", async (target) => {
      const buffer = new Uint8Array(4 * MIB);
      for (let position = 0; ;) {
        const count = await source.read(buffer, position);
        if (count === 0) return;
        await target.write(buffer.subarray(0, count), position);
        position += count;
      }
    }),
  );
}

function whenMissing<T>(value: T): (error: unknown) => T {
  return (error) => {
    if ((error as { code?: unknown }).code === "ENOENT") return value;
    throw error;
  };
}
