/** In a file of its own, so that importers do not load the schemas. */
export const sessionStatuses = ['active', 'waiting', 'sleeping', 'paused', 'completed', 'error'] as const;

export type SessionStatus = (typeof sessionStatuses)[number];
