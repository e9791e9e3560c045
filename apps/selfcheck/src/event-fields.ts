import { MAX_NAME_BYTES } from "@ehdb/contracts";

/** Where an event of the user's input says which stream and type it is of. */
export interface EventFields {
  /** A property, or a path of them with dots between: `repository.full_name`. Default: all events are of one stream. */
  readonly streamField?: string | undefined;
  /** Default: the property `type` where it's a text, and `event` elsewhere. */
  readonly typeField?: string | undefined;
}

const ONE_STREAM = "input";
const ANY_TYPE = "event";
/** Of a text that isn't asked for by name, so much is used. */
const MOST_TYPE_UNITS = 100;

export interface StreamAndType {
  readonly stream: string;
  readonly type: string;
}

/** What the fields of one event say, or what is wrong with them. */
export function streamAndType(event: object, { streamField, typeField }: EventFields): StreamAndType | string {
  const stream = streamField === undefined ? { name: ONE_STREAM } : nameIn(event, streamField);
  const type = typeField === undefined ? { name: ownType(event) } : nameIn(event, typeField);
  if ("wrong" in stream) return stream.wrong;
  if ("wrong" in type) return type.wrong;
  return { stream: stream.name, type: type.name };
}

function ownType(event: object): string {
  const type = own(event, "type");
  if (typeof type !== "string" || type === "") return ANY_TYPE;
  return Buffer.from(type.slice(0, MOST_TYPE_UNITS)).toString();
}

function nameIn(event: object, field: string): { readonly name: string } | { readonly wrong: string } {
  const value = valueAt(event, field);
  if (value === undefined) return { wrong: `it has no field ${field}` };
  if (typeof value !== "string" && typeof value !== "number") {
    return { wrong: `its field ${field} is ${kindOf(value)}, and a name is a text or a number` };
  }
  const name = String(value);
  const bytes = Buffer.byteLength(name);
  if (bytes === 0) return { wrong: `its field ${field} is empty` };
  if (bytes > MAX_NAME_BYTES) {
    return { wrong: `its field ${field} has ${bytes} bytes, and a name has at most ${MAX_NAME_BYTES}` };
  }
  if (Buffer.from(name).toString() !== name) return { wrong: `its field ${field} isn't well-formed Unicode` };
  return { name };
}

/** The property of just that name first; otherwise the dots lead into it. */
function valueAt(event: object, field: string): unknown {
  const whole = own(event, field);
  if (whole !== undefined) return whole;
  return field.split(".").reduce<unknown>((value, name) => own(value, name), event);
}

function own(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

/** For people: what a JSON value is. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
