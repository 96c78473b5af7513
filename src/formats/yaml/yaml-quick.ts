import {type Places, readPlainYaml, type Spot} from './yaml-plain.ts';
import {type Path, readYaml, type YamlSource} from './yaml-source.ts';

/**
 * Like `readYaml`, but fast for simple YAML: the value is available at once, most places come from a second quick read,
 * and only other places and nodes (`root`) need the full reader. Other texts are read in full at once.
 */
export function readQuickly(text: string): YamlSource & {plain?: true} {
  const plain = readPlainYaml(text);
  if (!plain) return readYaml(text);
  let whole: YamlSource | undefined;
  let spots: PlainSpots | undefined;
  return {
    text,
    value: plain.value,
    problems: [],
    linked: false,
    plain: true,
    get root() {
      whole ??= readYaml(text);
      return whole.root;
    },
    spotAt(path) {
      spots ??= new PlainSpots(text);
      return spots.at(path);
    },
  };
}

class PlainSpots {
  readonly #places: Places = new Map();
  readonly #root: unknown;
  readonly #start: number;

  constructor(text: string) {
    this.#root = readPlainYaml(text, this.#places)?.value;
    this.#start = Math.min(...[...(this.#places.get(this.#root)?.values() ?? [])].map(({key, value}) => key ?? value));
  }

  at(path: Path): Spot | 'nowhere' | 'unknown' {
    let node = this.#root;
    let spot: Spot = {key: undefined, value: this.#start};
    for (const step of path) {
      if (node === null || typeof node !== 'object') return 'nowhere';
      const entries = this.#places.get(node);
      if (!entries) return 'unknown';
      const found = Array.isArray(node) ? entries.get(step) : entries.get(String(step));
      if (!found) return 'nowhere';
      spot = found;
      node = (node as Record<string | number, unknown>)[step];
    }
    return spot.value < 0 || Array.isArray(this.#root) ? 'unknown' : spot;
  }
}
