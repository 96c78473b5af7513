export declare const brokenSource: Readonly<Record<string, readonly {file: string; from: string; to: string}[]>>;
