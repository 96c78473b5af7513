import type {With} from '../agents/state/parts.ts';
import type {ChannelEntry} from '../formats/channel.ts';
import {parseChannel} from '../formats/channel.ts';
import {channelPath, documentPath, isInMemory, type Run} from '../formats/run.ts';
import {versionText} from '../loop/accept-version.ts';
import type {HomeFiles} from '../loop/home-files.ts';

type Texts = With<'files' | 'workflows'>;

/** The entries of an instance's channel, as last accepted. */
export async function channelEntries(daemon: Texts, run: Run): Promise<ChannelEntry[]> {
  return parseChannel(await textOf(daemon, run, channelPath(run.instance))).entries;
}

/** The instance's document, as last accepted. */
export function documentText(daemon: Texts, run: Run): Promise<string> {
  return textOf(daemon, run, documentPath(run.instance));
}

async function textOf({files, workflows}: Texts, run: Run, path: string): Promise<string> {
  return isInMemory(run) ? workflows.memoryText(path) : ((await acceptedText(files, path)) ?? '');
}

async function acceptedText(files: HomeFiles, path: string): Promise<string | undefined> {
  const blob = files.known.get(path)?.good;
  return blob === undefined ? undefined : versionText(files, blob, path);
}
