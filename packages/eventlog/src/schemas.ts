import { EhdbError, invalidOption, isThenable } from "@ehdb/contracts";
import type { EventShape } from "@ehdb/contracts";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { pathOf } from "./json.ts";

/** The data of the events of one type. */
export type DataOf<E extends EventShape, T extends string> =
  Extract<E, { readonly type: T }> extends { readonly data?: infer Data } ? Data : unknown;

/** A Standard Schema a type: zod, valibot, arktype and others make them. Types without one aren't validated. */
export type EventSchemas<E extends EventShape = EventShape> = {
  readonly [T in E["type"]]?: StandardSchemaV1<unknown, DataOf<E, T>>;
};

/** Validates data when it is appended. What a schema returns is what is stored. */
export class DataSchemas {
  readonly #schemas: ReadonlyMap<string, StandardSchemaV1>;

  constructor(schemas: EventSchemas | undefined) {
    if (schemas !== undefined && typeof schemas !== "object")
      throw invalidOption("schemas", schemas, "an object, { [type]: Standard Schema }");
    this.#schemas = new Map(Object.entries(schemas ?? {}).filter(isGiven));
    for (const [type, schema] of this.#schemas) {
      const props = (Object(schema) as Partial<StandardSchemaV1>)["~standard"];
      if (props?.version === 1 && typeof props.validate === "function") continue;
      throw invalidOption(`schemas["${type}"]`, schema, "a Standard Schema of version 1");
    }
  }

  /** INVALID_ARGUMENT with the type, the path of the first issue, its message, and how many there are. */
  validated(type: string, data: unknown): unknown {
    const schema = this.#schemas.get(type);
    if (schema === undefined) return data;
    const result: unknown = schema["~standard"].validate(data);
    if (isThenable(result)) {
      // Nobody waits for it, and it may reject.
      Promise.resolve(result).catch(() => undefined);
      const message = `the schema of type "${type}" validates asynchronously: appends keep the order of their calls, so schemas answer at once`;
      throw new EhdbError("INVALID_ARGUMENT", message, { type });
    }
    const { value, issues } = Object(result) as { value?: unknown; issues?: readonly StandardSchemaV1.Issue[] | null };
    if (Array.isArray(issues)) throw refused(type, issues);
    if (typeof result === "object" && result !== null && "value" in result) return value;
    throw invalidOption(
      `schemas["${type}"]`,
      result,
      "a Standard Schema, whose validate() gives { value } or { issues }",
    );
  }
}

function refused(type: string, issues: readonly StandardSchemaV1.Issue[]): EhdbError {
  const [issue] = issues;
  const keys = (issue?.path ?? []).map((step) => (typeof step === "object" ? (step?.key ?? "") : step));
  const path = pathOf("data", keys);
  const reason = issue?.message ?? "refused without a reason";
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : "";
  const message = `${path} of type "${type}" doesn't fit its schema: ${reason}${more}`;
  return new EhdbError("INVALID_ARGUMENT", message, { type, path, message: reason, issues: issues.length });
}

function isGiven(entry: [string, StandardSchemaV1 | undefined]): entry is [string, StandardSchemaV1] {
  return entry[1] !== undefined;
}
