// Which colour of the palette a service has: the same on every page and in every trace.

export const COLOURS = 8;
/** Services that are remembered. */
const KEPT = 500;

/** Slot of each service, in the order in which they were first seen. */
export type Assigned = Record<string, number>;

/**
 * Gives every new name the least used colour, beginning at the one its hash points to; what has one keeps it.
 * `names`: the most important first. Without new names the same object.
 */
export function assign(assigned: Assigned, names: string[]): Assigned {
  const fresh = [...new Set(names)].filter((name) => !Object.hasOwn(assigned, name));
  if (!fresh.length) return assigned;
  const next = { ...assigned };
  const used = new Array<number>(COLOURS).fill(0);
  for (const slot of Object.values(next)) used[slot] += 1;
  for (const name of fresh) {
    const least = Math.min(...used);
    let slot = hash(name) % COLOURS;
    while (used[slot] > least) slot = (slot + 1) % COLOURS;
    used[slot] += 1;
    next[name] = slot;
  }
  const names_ = Object.keys(next);
  for (const name of names_.slice(0, Math.max(0, names_.length - KEPT))) delete next[name];
  return next;
}

/** What was stored, as far as it can be read. */
export function readAssigned(text: string | null): Assigned {
  try {
    const found: unknown = JSON.parse(text ?? "{}");
    if (typeof found !== "object" || found === null || Array.isArray(found)) return {};
    return Object.fromEntries(
      Object.entries(found).filter(([, slot]) => Number.isInteger(slot) && slot >= 0 && slot < COLOURS),
    );
  } catch {
    return {};
  }
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}
