export type { Clock, File, Files, FileStat, Host, Job, Lock, OpenMode, Random, Timer, Watcher, Workers } from "./host.ts";
