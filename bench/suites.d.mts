/** By name: what runs it, and its seconds, whole and with --quick. */
export const suites: Record<
  string,
  {load: () => Promise<{default: () => unknown}>; seconds: [number, number]; installs?: number}
>;
