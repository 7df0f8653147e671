// Names what a user clicked, by the recorded page: the words on a button, or the name of a field.

type Raw = Record<string, unknown>;

/** Nodes that are remembered of one segment. */
const NODES_MAX = 100_000;
const LABEL_CHARS_MAX = 60;
const DEPTH_MAX = 6;

interface Node {
  tag: string;
  words: string;
  name: string;
  parent: number;
  children: number[];
}

const object = (value: unknown): Raw => (typeof value === "object" && value !== null ? (value as Raw) : {});
const string = (value: unknown): string => (typeof value === "string" ? value : "");

export class Labels {
  private nodes = new Map<number, Node>();

  /** Forgets the page before: a full snapshot begins another one. */
  clear(): void {
    this.nodes.clear();
  }

  /** Adds a serialized node and everything below it. Not recursive: a recorded page may be deep. */
  add(root: unknown, parent: number): void {
    const open: [Raw, number][] = [[object(root), parent]];
    for (let next = open.pop(); next && this.nodes.size < NODES_MAX; next = open.pop()) {
      const [raw, above] = next;
      const { id } = raw;
      if (typeof id !== "number") continue;
      const attributes = object(raw.attributes);
      const tag = string(raw.tagName).toLowerCase();
      const name = ["aria-label", "title", "alt", "placeholder", "name"]
        .map((key) => string(attributes[key]))
        .find(Boolean);
      const words = raw.isStyle === true ? "" : string(raw.textContent).slice(0, 200);
      this.nodes.set(id, { tag, words, name: name ?? "", parent: above, children: [] });
      this.nodes.get(above)?.children.push(id);
      if (tag === "script" || tag === "style") continue;
      const children = Array.isArray(raw.childNodes) ? raw.childNodes : [];
      for (let i = children.length - 1; i >= 0; i--) open.push([object(children[i]), id]);
    }
  }

  /** "Add to basket"; "" if nothing on the page names the element. */
  of(id: unknown): string {
    if (typeof id !== "number") return "";
    const target = this.nodes.get(id);
    if (!target) return "";
    // A click hits the icon or the words inside a button.
    for (let node: Node | undefined = target, up = 0; node && up < 4; node = this.nodes.get(node.parent), up++) {
      if (!["a", "button", "input", "select", "textarea", "label", "option", "summary"].includes(node.tag)) continue;
      const found = short(this.words(node)) || short(node.name);
      if (found) return found;
    }
    const own = target.words || this.words(target);
    // The words of a whole page name nothing.
    return own.length <= LABEL_CHARS_MAX ? short(own || target.name) : "";
  }

  private words(node: Node, depth = 0): string {
    if (depth > DEPTH_MAX || node.children.length > 30) return "";
    return node.children
      .flatMap((id) => this.nodes.get(id) ?? [])
      .map((child) => child.words || this.words(child, depth + 1))
      .join("")
      .replace(/\s+/g, " ");
  }
}

const short = (words: string) => {
  const plain = words.replace(/\s+/g, " ").trim();
  return plain.length > LABEL_CHARS_MAX ? `${plain.slice(0, LABEL_CHARS_MAX)}…` : plain;
};
