/** What the `.git` file of a workspace says, so that `git log` works there. */
export function linkText(agent: string): string {
  return `gitdir: ../../.workspaces/${agent}.git\n`;
}
