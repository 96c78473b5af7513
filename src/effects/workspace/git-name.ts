/**
 * Whether some file system takes this name for `.git`: letter case, look-alike and invisible characters (HFS+), short
 * names, trailing dots and spaces, streams and backslashes (NTFS).
 */
export function isGitName(name: string): boolean {
  // Fast path: most names cannot match.
  if (/^\w[\w.-]*$/.test(name)) return false;
  return name.split('\\').some(part => {
    const folded = part
      .normalize('NFKD')
      .replace(/[\p{M}\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/gu, '')
      .toLowerCase();
    const base = folded.replace(/:.*$/s, '').replace(/[. ]+$/, '');
    return base === '.git' || /^\.?git~\d+/.test(base);
  });
}
