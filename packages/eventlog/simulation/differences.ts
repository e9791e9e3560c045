import type { Seen } from "./events.ts";
import type { Found } from "./found.ts";
import type { Model, ModelEvent } from "./model.ts";

/** What is wrong with an event as it was read, in words. An id that the log made is learned when it's first seen. */
export function differs(one: Seen, must: ModelEvent): string | undefined {
  must.id ??= /^[0-9a-f]{32}$/.test(one.id) ? one.id : undefined;
  const [is, ought] = [one, must].map(({ stream, version, position, time, id, content }) => {
    return `${position} ${stream}@${version} t${time} ${id} ${content}`;
  }) as [string, string];
  return is === ought ? undefined : `there is ${is.slice(0, 100)}, and must be ${ought.slice(0, 100)}`;
}

/** What is wrong with all that there is after a recovery. */
export function differsFrom(model: Model, found: Found): string | undefined {
  const { firstPosition } = model;
  if (found.firstPosition !== firstPosition)
    return `the first position is ${found.firstPosition}, and must be ${firstPosition}`;
  const wrong = differsInAll(found.events, model.events, model);
  if (wrong !== undefined) return `in the log ${wrong}`;
  for (const [stream, info] of found.infos) {
    const { version, firstVersion, isDeleted } = model.info(stream);
    if (info.version !== version || info.firstVersion !== firstVersion || info.isDeleted !== isDeleted)
      return `${stream} is ${JSON.stringify(info)}, and must be ${JSON.stringify(model.info(stream))}`;
  }
  for (const [stream, events] of found.streams) {
    const wrongThere = differsInAll(events, model.eventsOf(stream), model);
    if (wrongThere !== undefined) return `in stream ${stream} ${wrongThere}`;
  }
  for (const key of new Set([...found.beside.keys(), ...model.beside.keys()])) {
    const [is, ought] = [found.beside.get(key), model.beside.get(key)];
    if (is !== ought)
      return `of a staged append there is ${is ?? "nothing"} under ${key}, and must be ${ought ?? "nothing"}`;
  }
  return undefined;
}

function differsInAll(found: readonly Seen[], all: readonly ModelEvent[], model: Model): string | undefined {
  const visible = all.filter((event) => !model.isHidden(event));
  for (const [place, one] of found.entries()) {
    const must = visible[place];
    if (must === undefined) return `there is ${one.position} ${one.stream}@${one.version}, and must be nothing`;
    const wrong = differs(one, must);
    if (wrong !== undefined) return wrong;
  }
  const missing = visible[found.length];
  return missing === undefined ? undefined : `${missing.position} ${missing.stream}@${missing.version} is missing`;
}
