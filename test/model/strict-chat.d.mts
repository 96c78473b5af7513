export function invalid(body: unknown): {message: string; type: string; param: string; code: string | null} | undefined;
