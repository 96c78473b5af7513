/** What a session may be. By itself, for whoever needs no more than the words. */
export const sessionStatuses = ['active', 'waiting', 'sleeping', 'paused', 'completed', 'error'] as const;

export type SessionStatus = (typeof sessionStatuses)[number];
