/** The part of the package that is used; it ships no types. */
declare module "fs-native-extensions" {
  /**
   * An exclusive lock on the whole file, or on `length` bytes from `offset` (macOS: EINVAL). It belongs to the open file description (F_OFD_SETLK on Linux, flock on macOS,
   * LockFileEx on Windows), so a second `open` in the same process is refused too. False when somebody holds one.
   */
  export function tryLock(descriptor: number, offset?: number, length?: number): boolean;
}
