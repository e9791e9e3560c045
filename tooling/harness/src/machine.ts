import { readFileSync, statfsSync } from "node:fs";
import { arch, availableParallelism, cpus, platform, release, totalmem } from "node:os";
import { resolve } from "node:path";

/** What an absolute figure means nothing without. */
export interface MachineFacts {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  /** The hypervisor, as far as the machine tells; "none seen" otherwise. */
  readonly virtualisation: string;
  readonly disk: string;
  readonly filesystem: string;
  readonly freeBytes: number;
  readonly kernel: string;
  readonly node: string;
}

/** Of the machine, and of the disk that holds `directory`. */
export function machineFacts(directory: string): MachineFacts {
  const { device, filesystem } = mountOf(resolve(directory));
  const { bavail, bsize } = statfsSync(directory);
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    virtualisation: virtualisation(),
    disk: diskOf(device),
    filesystem,
    freeBytes: bavail * bsize,
    kernel: `${platform()} ${release()} ${arch()}`,
    node: process.version,
  };
}

function virtualisation(): string {
  const product = [contentOf("/sys/class/dmi/id/sys_vendor"), contentOf("/sys/class/dmi/id/product_name")]
    .filter(Boolean)
    .join(" ");
  const underHypervisor = /^flags\s*:.*\bhypervisor\b/m.test(contentOf("/proc/cpuinfo"));
  if (!underHypervisor) return product === "" ? "none seen" : `none seen (${product})`;
  return product === "" ? "a hypervisor" : product;
}

function diskOf(device: string): string {
  const block = /^\/dev\/([a-z]+|nvme\d+n\d+)/.exec(device)?.[1];
  if (block === undefined) return device;
  const rotates = contentOf(`/sys/block/${block}/queue/rotational`);
  const cache = contentOf(`/sys/block/${block}/queue/write_cache`);
  const kind = rotates === "1" ? "rotating" : rotates === "0" ? "solid state" : "";
  return [device, kind, cache].filter(Boolean).join(", ");
}

function mountOf(path: string): { device: string; filesystem: string } {
  let best = { device: "unknown", filesystem: "unknown", point: "" };
  for (const line of contentOf("/proc/mounts").split("\n")) {
    const [device = "", point = "", filesystem = ""] = line.split(" ");
    const holds = point === "/" || path === point || path.startsWith(`${point}/`);
    if (holds && point.length >= best.point.length) best = { device, filesystem, point };
  }
  return best;
}

/** Empty where the system doesn't have it. */
function contentOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
