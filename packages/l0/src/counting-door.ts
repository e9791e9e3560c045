/**
 * The same object for those outside: what a call of it throws or rejects with is given to `count` first. What it calls of itself goes past
 * the door, so that an error counts once. Calls named in `counted` count for themselves: a promise more a call would be felt there.
 */
export function countingDoor<T extends object>(
  inner: T,
  count: (error: unknown) => void,
  counted: readonly (keyof T)[] = [],
): T {
  const door = {};
  for (const [name, value] of publicProperties(inner)) {
    if (typeof value !== "function") Object.defineProperty(door, name, { enumerable: true, get: () => inner[name] });
    else {
      const call = (value as Call).bind(inner);
      const through = counted.includes(name) ? call : counting(call, count);
      Object.defineProperty(door, name, { enumerable: true, configurable: true, writable: true, value: through });
    }
  }
  return door as T;
}

type Call = (...args: readonly unknown[]) => unknown;

/** Own ones and those of its class, each with its value; a getter has none here. */
function publicProperties<T extends object>(inner: T): (readonly [name: keyof T, value: unknown])[] {
  const prototype: unknown = Object.getPrototypeOf(inner);
  const holders = prototype === Object.prototype ? [inner] : [prototype as T, inner];
  return holders.flatMap((holder) => {
    const descriptors = Object.getOwnPropertyDescriptors(holder);
    const names = Reflect.ownKeys(descriptors).filter((name) => name !== "constructor");
    return names.map((name) => [name as keyof T, descriptors[name as keyof T].value as unknown] as const);
  });
}

function counting(call: Call, count: (error: unknown) => void): Call {
  const told = (error: unknown): never => {
    count(error);
    throw error;
  };
  return (...args) => {
    let result: unknown;
    try {
      result = call(...args);
    } catch (error) {
      return told(error);
    }
    // The promise that is given is the counting one: a rejection that nobody handles must stay one.
    return result instanceof Promise ? result.catch(told) : result;
  };
}
