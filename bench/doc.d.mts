export function intoDoc(path: string, text: string): void;
