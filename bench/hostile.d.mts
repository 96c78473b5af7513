export function hostileTexts(length: number): Record<string, string>;
