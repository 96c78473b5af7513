import {signedText} from '../../formats/approval/approval-digest.ts';
import type {Grants} from '../../formats/approval/approval-grants.ts';
import type {ApprovalItem} from '../../formats/approval/approval-item.ts';
import type {With} from '../state/parts.ts';

/** Why an approval lacks a valid signature. Undefined if it has one, or if the settings name no signers. */
export async function signatureProblem(
  {files, current}: With<'files' | 'current'>,
  {item, digest, edited, grants}: {item: ApprovalItem; digest: string; edited: string | undefined; grants: Grants},
): Promise<string | undefined> {
  const {home} = files;
  const {approvals} = await current.settings();
  const signers = approvals?.signers;
  if (signers === undefined || signers === null) return undefined;
  const how = `agentdir.yaml has approvals: {signers: ${signers}}; sign it: agentdir approve ${item.id} --sign`;
  if (item.signature === undefined) return `it is not signed, and ${how}`;
  const text = signedText({id: item.id ?? '', digest, decision: 'approved', edited, grants});
  // Loaded only if signatures are required.
  const [{signersPath}, {verifySignature}] = await Promise.all([
    import('../../effects/signature/signers-file.ts'),
    import('../../effects/signature/ssh-signature.ts'),
  ]);
  const file = signersPath(home, signers);
  const verified = 'problem' in file ? file : await verifySignature(text, item.signature, file.path);
  return 'problem' in verified ? `its signature does not count (${verified.problem}); ${how}` : undefined;
}
