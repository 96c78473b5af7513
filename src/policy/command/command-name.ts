const sameAs: Readonly<Record<string, string>> = {
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  gsed: 'sed',
  gtar: 'tar',
  bsdtar: 'tar',
  gfind: 'find',
  gsort: 'sort',
  podman: 'docker',
  nerdctl: 'docker',
  nodejs: 'node',
  vi: 'vim',
  nvim: 'vim',
  ex: 'vim',
  view: 'vim',
  netcat: 'nc',
  'nc.traditional': 'nc',
  'nc.openbsd': 'nc',
  proxychains4: 'proxychains',
  sem: 'parallel',
  pypy: 'python',
  tofu: 'terraform',
  fdfind: 'fd',
  toybox: 'busybox',
  bunx: 'npx',
  pnpx: 'npx',
  oc: 'kubectl',
  'docker-compose': 'docker compose',
};

export function baseName(command: string): string {
  return command.slice(command.lastIndexOf('/') + 1);
}

/** Name of a command in the tables of this folder: `/usr/bin/python3.11` is `python`. */
export function commandKind(command: string): string {
  const base = baseName(command);
  if (/^ld(-[\w-]+)?\.so(\.\d+)*$/.test(base)) return 'ld.so';
  const plain = /^(python|perl|ruby|node|lua|php|pip|pypy)[\d.]+$/.exec(base)?.[1] ?? base;
  return ownEntry(sameAs, plain) ?? plain;
}

/** Entry of a table under its own key, never an inherited one such as `constructor`. */
export function ownEntry<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
