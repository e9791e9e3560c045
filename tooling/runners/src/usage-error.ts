/** The command was asked for something that isn't there: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
