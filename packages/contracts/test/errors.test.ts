import { abortedError, EhdbError, errorKinds, isEhdbError, throwIfAborted } from "@ehdb/contracts";
import { describe, expect, test } from "vitest";

describe("an error", () => {
  test("has the kind of its code", () => {
    for (const [code, kind] of Object.entries(errorKinds)) {
      const error = new EhdbError(code as keyof typeof errorKinds, "m");
      expect([error.code, error.kind]).toEqual([code, kind]);
    }
  });

  test("is an Error with a name, a message, data and a stack", () => {
    const error = new EhdbError("TOO_LARGE", "a record has 9 bytes, 8 at most", { bytes: 9, maxBytes: 8 });
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toBe("EhdbError: a record has 9 bytes, 8 at most");
    expect(error.data).toEqual({ bytes: 9, maxBytes: 8 });
    expect(error.stack).toContain("errors.test.ts");
    expect("cause" in error).toBe(false);
  });

  test("keeps what the machine said as its cause", () => {
    const cause = new Error("EIO");
    expect(new EhdbError("IO_ERROR", "m", {}, cause).cause).toBe(cause);
  });

  test("gives its facts to a log", () => {
    const error = new EhdbError("LOCKED", "m", { path: "/LOCK" }, new Error("secret"));
    expect(JSON.parse(JSON.stringify(error))).toEqual({
      name: "EhdbError",
      code: "LOCKED",
      kind: "retry",
      message: "m",
      data: { path: "/LOCK" },
    });
  });
});

describe("isEhdbError", () => {
  const locked: unknown = new EhdbError("LOCKED", "m");

  test("knows its own from others, even from those that look alike", () => {
    expect(isEhdbError(locked)).toBe(true);
    for (const other of [new Error("m"), { name: "EhdbError", code: "LOCKED" }, "LOCKED", null, undefined]) {
      expect(isEhdbError(other)).toBe(false);
      expect(isEhdbError(other, "LOCKED")).toBe(false);
    }
  });

  test("asks for one of the codes when some are given", () => {
    expect(isEhdbError(locked, "LOCKED")).toBe(true);
    expect(isEhdbError(locked, "NO_SPACE", "LOCKED")).toBe(true);
    expect(isEhdbError(locked, "NO_SPACE")).toBe(false);
  });
});

describe("an abort", () => {
  test("is ABORTED, says what was aborted, and has the signal's reason as cause", () => {
    const reason = new Error("shutting down");
    const error = abortedError(AbortSignal.abort(reason), "flush()");
    expect(error).toMatchObject({ code: "ABORTED", kind: "retry", message: "flush() was aborted by its signal" });
    expect(error.cause).toBe(reason);
  });

  test("is thrown only when the signal is there and aborted", () => {
    const controller = new AbortController();
    expect(() => throwIfAborted(undefined, "ready()")).not.toThrow();
    expect(() => throwIfAborted(controller.signal, "ready()")).not.toThrow();
    controller.abort();
    expect(() => throwIfAborted(controller.signal, "ready()")).toThrow("ready() was aborted by its signal");
  });
});
