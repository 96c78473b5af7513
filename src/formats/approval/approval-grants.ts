/** Permissions that a person adds to a command when approving it. */
export interface Grants {
  network?: true;
  sandbox?: 'host';
}

/** The lines that grant them, as a person writes them on the item or on the page. */
export const GRANT_LINES = ['network: true', 'sandbox: host'] as const;
export type GrantLine = (typeof GRANT_LINES)[number];

/** To follow "approve it". */
export const GRANT_WORDS = {
  'network: true': 'with network access',
  'sandbox: host': 'outside the sandbox, where it can do whatever you can',
} as const satisfies Record<GrantLine, string>;

/** What a person wrote; `wrong`: a line that grants nothing known. */
export type WrittenGrants = Grants & {wrong?: string};

/** `fieldOf`: the text behind `network:` and `sandbox:`. Undefined: neither is there. */
export function readGrants(fieldOf: (key: 'network' | 'sandbox') => string | undefined): WrittenGrants | undefined {
  const said = (['network', 'sandbox'] as const).flatMap(key => {
    const words = fieldOf(key)?.trim();
    return words === undefined || words === '' ? [] : [`${key}: ${words}`];
  });
  if (said.length === 0) return undefined;
  const wrong = said.find(line => !GRANT_LINES.some(known => known === line));
  return {
    ...(said.includes('network: true') && {network: true as const}),
    ...(said.includes('sandbox: host') && {sandbox: 'host' as const}),
    ...(wrong !== undefined && {wrong}),
  };
}

/** As fields of an item. */
export function grantFields({network, sandbox}: Grants): Record<string, string> {
  return {...(network && {network: 'true'}), ...(sandbox && {sandbox})};
}
