export { referenceEventLog } from "./reference.ts";
export type { ReferenceEventLogOptions } from "./reference.ts";
export type { EventSchemas } from "./schemas.ts";
export type { EventUpcasters, Upcaster } from "./upcasters.ts";
