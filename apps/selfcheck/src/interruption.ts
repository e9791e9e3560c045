import { constants } from "node:os";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export interface Interruption {
  readonly signal: AbortSignal;
  /** As a shell has it: 128 and the signal's number, 130 for Ctrl-C. */
  exitCode(): number;
  stopListening(): void;
}

/** Turns the first Ctrl-C, or a request to end, into an abort, so that the run can clean up; a second one ends the process at once. */
export function interruptionSignal(): Interruption {
  const controller = new AbortController();
  let number = 0;
  const stopListening = (): void => {
    for (const name of signals) process.off(name, onSignal);
  };
  const onSignal = (name: NodeJS.Signals): void => {
    number = constants.signals[name];
    stopListening();
    controller.abort(new Error(name));
  };
  for (const name of signals) process.on(name, onSignal);
  return { signal: controller.signal, exitCode: () => 128 + number, stopListening };
}
