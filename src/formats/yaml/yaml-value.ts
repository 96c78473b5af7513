import {isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap} from 'yaml';
import {type Problem, problem} from '../common/diagnostic.ts';
import {lineStarts, placeAt} from '../common/lines.ts';

export interface YamlValue {
  value: unknown;
  problems: Problem[];
  /** It uses anchors or aliases, so its parts cannot be parsed separately. */
  linked: boolean;
}

/** Plain value of a parsed text, with at most `most` problems. */
export function readValue(text: string, root: unknown, most: number): YamlValue {
  const reader = new ValueReader(text, most);
  return {value: reader.read(root), problems: reader.problems, linked: reader.linked};
}

/** Converts nodes to plain values: resolves anchors, applies merge keys, refuses duplicate keys and alias bombs. */
class ValueReader {
  readonly problems: Problem[] = [];
  linked = false;
  #anchors = new Map<string, {value: unknown; size: number}>();
  /** Number of nodes added by aliases so far. */
  #expanded = 0;
  #starts: number[] | undefined;
  readonly text: string;
  readonly #most: number;

  constructor(text: string, most: number) {
    this.text = text;
    this.#most = most;
  }

  read(node: unknown): unknown {
    return this.#node(node).value;
  }

  #node(node: unknown): {value: unknown; size: number} {
    if (isAlias(node)) return this.#alias(node.source, node.range?.[0] ?? 0);
    if (isScalar(node)) return this.#keep(node.anchor, {value: node.value, size: 1});
    if (isSeq(node)) {
      let size = 1;
      const value = node.items.map(item => {
        const part = this.#node(item);
        size += part.size;
        return part.value;
      });
      return this.#keep(node.anchor, {value, size});
    }
    if (isMap(node)) return this.#keep(node.anchor, this.#map(node));
    return {value: null, size: 1};
  }

  #map(node: YAMLMap): {value: unknown; size: number} {
    const own = new Map<string, unknown>();
    const merged = new Map<string, unknown>();
    let size = 1;
    for (const pair of node.items) {
      const keyPart = this.#node(pair.key);
      const part = this.#node(pair.value);
      size += keyPart.size + part.size;
      const merges = isScalar(pair.key) && typeof pair.key.value === 'symbol';
      const key = isScalar(pair.key) ? keyText(pair.key.value) : JSON.stringify(keyPart.value);
      if (merges) this.#merge(merged, part.value, rangeStart(pair.key));
      else if (own.has(key))
        this.#problem(
          'YAML_DUPLICATE_KEY',
          rangeStart(pair.key),
          `expected each key once, found "${key}" again`,
          'remove one of the two',
        );
      else own.set(key, part.value);
    }
    for (const [key, value] of merged) if (!own.has(key)) own.set(key, value);
    // Object.fromEntries makes even "__proto__" an ordinary own property.
    return {value: Object.fromEntries(own), size};
  }

  #merge(into: Map<string, unknown>, value: unknown, at: number): void {
    const sources = Array.isArray(value) ? value : [value];
    for (const source of sources) {
      if (source === null || typeof source !== 'object' || Array.isArray(source)) {
        this.#problem(
          'YAML_SYNTAX',
          at,
          'expected a map (or a list of maps) after <<',
          'name an anchor of a map, as in <<: *name',
        );
        return;
      }
      for (const [key, item] of Object.entries(source)) if (!into.has(key)) into.set(key, item);
    }
  }

  #alias(name: string, at: number): {value: unknown; size: number} {
    this.linked = true;
    const target = this.#anchors.get(name);
    if (!target) {
      this.#problem(
        'YAML_SYNTAX',
        at,
        `expected an anchor &${name} above, found none`,
        `define &${name} first, or put quotes around "*${name}"`,
      );
      return {value: null, size: 1};
    }
    this.#expanded += target.size;
    if (this.#expanded > 100_000) {
      if (this.problems.length < this.#most) {
        this.#problem(
          'YAML_TOO_DEEP',
          at,
          'expected aliases that expand to at most 100000 values, found more',
          'write the values out, or remove the aliases',
        );
      }
      return {value: null, size: 1};
    }
    return target;
  }

  #keep(anchor: string | undefined, part: {value: unknown; size: number}): {value: unknown; size: number} {
    if (anchor) {
      this.linked = true;
      this.#anchors.set(anchor, part);
    }
    return part;
  }

  #problem(code: Parameters<typeof problem>[0], offset: number, message: string, hint: string): void {
    if (this.problems.length >= this.#most) return;
    this.#starts ??= lineStarts(this.text);
    this.problems.push(problem(code, placeAt(this.#starts, offset), message, hint));
  }
}

/** The `yaml` package turns the plain key `<<` into a symbol. */
export function keyText(value: unknown): string {
  return typeof value === 'symbol' ? (value.description ?? '') : String(value ?? '');
}

function rangeStart(node: unknown): number {
  return (node as ParsedNode | null)?.range?.[0] ?? 0;
}
