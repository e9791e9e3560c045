const mostCharacters = 60;

/** A value as a message shows it: what it is, on one line, cut where it's long. Never throws. */
export function shown(value: unknown): string {
  switch (typeof value) {
    case "string":
      return value.length > mostCharacters
        ? `${JSON.stringify(value.slice(0, mostCharacters))}…`
        : JSON.stringify(value);
    case "bigint":
      return `${value}n`;
    case "function":
      return "a function";
    case "object":
      return value === null ? "null" : shownObject(value);
    default:
      return String(value);
  }
}

function shownObject(value: object): string {
  try {
    if (Array.isArray(value)) return `an array of ${value.length}`;
    const name = Object.prototype.toString.call(value).slice(8, -1);
    if (name === "Object") return "an object";
    const bytes = ArrayBuffer.isView(value) || /^(?:Shared)?ArrayBuffer$/.test(name) ? sizeOf(value) : undefined;
    return `${/^[AEIO]/.test(name) ? "an" : "a"} ${name}${bytes === undefined ? "" : ` of ${bytes} bytes`}`;
  } catch {
    // A proxy, or a getter of the caller's own.
    return "an object";
  }
}

const sizeOf = (value: object): number => (value as { byteLength: number }).byteLength;
