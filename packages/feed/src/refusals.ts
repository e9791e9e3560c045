import { EhdbError } from "@ehdb/contracts";

export function leaseLost(group: string, sequence: number): EhdbError {
  const message = `message ${sequence} of ${group} isn't lent to this delivery any more: somebody else got it since, or it's done with. Leave it`;
  return new EhdbError("LEASE_LOST", message, { group, sequence });
}
