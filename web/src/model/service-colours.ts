// Assigns palette colours to services; a service has the same colour on every page.

export const COLOURS = 8;
/** Maximum number of stored services. */
const STORED_MAX = 500;

/** Palette slot of each service, in the order in which the services were first seen. */
export type Assigned = Record<string, number>;

/**
 * Assigns the least used colour to every new name, starting at the colour of its hash; existing assignments stay.
 * `names` are in order of importance. Returns the same object if no name is new.
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
  const stored = Object.keys(next);
  for (const name of stored.slice(0, Math.max(0, stored.length - STORED_MAX))) delete next[name];
  return next;
}

/** Parses the stored assignments; invalid entries are skipped. */
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
