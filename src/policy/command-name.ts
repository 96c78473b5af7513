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
  pypy: 'python',
  tofu: 'terraform',
  fdfind: 'fd',
  toybox: 'busybox',
  bunx: 'npx',
  pnpx: 'npx',
  oc: 'kubectl',
  'docker-compose': 'docker compose',
};

/** The last component of a command's path. */
export function baseName(command: string): string {
  return command.slice(command.lastIndexOf('/') + 1);
}

/** The name under which the tables of this folder know a command: `/usr/bin/python3.11` is `python`. */
export function kindOf(command: string): string {
  const base = baseName(command);
  const plain = /^(python|perl|ruby|node|lua|php|pip|pypy)[\d.]+$/.exec(base)?.[1] ?? base;
  return Object.hasOwn(sameAs, plain) ? (sameAs[plain] ?? plain) : plain;
}
