import {systemPrompt} from '../../../check/prompt-ending.ts';
import {openChildren, pendingApprovals} from '../../../check/standing-facts.ts';
import {type CheckpointText, type ModelContext, modelContext} from '../../../decide/context.ts';
import {activeCheckpoint} from '../../../decide/context-versions.ts';
import {batchEnd} from '../../../decide/request-batch.ts';
import {childSessions} from '../../../decide/standing.ts';
import {builtInTools} from '../../../effects/tools/prepare-call.ts';
import {exit, UserError} from '../../../formats/common/errors.ts';
import {compactionSettings} from '../../../formats/compaction.ts';
import {chooseModel} from '../../../formats/model-choice.ts';
import {parseSession} from '../../../formats/session/session.ts';
import type {Message, SessionHeader} from '../../../formats/session/session-schema.ts';
import {nodeDisk} from '../../../home/disk/disk.ts';
import {readHomeFile} from '../../../home/read.ts';
import type {SessionFile} from '../../../home/session-files.ts';
import {withoutDelegation} from '../../../policy/tools.ts';
import {indexHome} from '../load-home.ts';
import {readSettings} from '../models/read-settings.ts';
import {readSession} from '../talk/find-session.ts';
import {agentNamed} from '../talk/read-agent.ts';

/** The request that the model of a session would be sent now. */
export interface ContextNow extends ModelContext {
  model: string;
  /** The context window, and how much of it a request may take; undefined: unknown. */
  window: number | undefined;
  most: number | undefined;
  tools: readonly object[];
  checkpoint: {version: number; upto: number; file: string} | undefined;
  /** How many messages the session has. */
  count: number;
}

/** The request that the daemon would send, made by the same functions from the files as they are. */
export async function contextNow(home: string, file: SessionFile): Promise<ContextNow> {
  const found = readSession(home, file);
  if (!found) throw new UserError(`${file.path} is gone`, exit.failed, 'see agentdir list');
  const {header, session} = found;
  const {template} = agentNamed(home, header.agent_id);
  const {index} = indexHome(home);
  const settings = readSettings(home);
  const choice = chooseModel(header.model ?? template.model, settings, process.env);
  const window = 'failed' in choice ? undefined : choice.contextTokens;
  const {at} = compactionSettings(template.compaction, settings.compaction);
  const most = window === undefined ? undefined : Math.floor(window * at);
  const earlier = messagesIn(home, header.segments ?? []);
  const messages = [...earlier, ...session.messages.slice(0, batchEnd(session.messages, window))];
  const checkpoint = checkpointIn(home, header);
  const active = activeCheckpoint(header);
  const own = header.parent ? withoutDelegation(template.capabilities) : template.capabilities;
  for (let recall = active !== undefined; ; recall = true) {
    const capabilities = recall && own.length > 0 ? [...own, 'recall'] : own;
    const tools = await builtInTools.list({capabilities, home, settings, env: process.env});
    const names = tools.map(({name}) => name);
    const context = modelContext({
      system: systemPrompt(index, {header, template, agent: header.agent_id, tools: names}),
      ...{tools, messages, checkpoint, path: file.path, most},
      standing: {
        approvals: pendingApprovals(index, header.agent_id),
        children: openChildren(index, childSessions(messages)),
      },
      tainted: (header.tainted?.length ?? 0) > 0,
    });
    if (!recall && context.shortened > 0) continue;
    return {
      ...context,
      model: 'failed' in choice || choice.kind === 'playbook' ? 'playbook' : (choice.id ?? 'the first of the server'),
      ...{window, most, tools, count: earlier.length + session.messages.length},
      checkpoint: active && {version: active.entry.version, upto: active.upto, file: active.file},
    };
  }
}

/** The messages of segments. */
export function messagesIn(home: string, segments: readonly string[]): Message[] {
  return segments.flatMap(path => {
    const read = readHomeFile(nodeDisk(home), path);
    return read && 'text' in read ? parseSession(read.text).messages : [];
  });
}

function checkpointIn(home: string, header: SessionHeader): CheckpointText | undefined {
  const active = activeCheckpoint(header);
  if (!active) return undefined;
  const read = readHomeFile(nodeDisk(home), active.file);
  if (!read || !('text' in read) || read.text.trim() === '')
    throw new UserError(
      `the checkpoint ${active.file} is missing or empty`,
      exit.badFile,
      'restore it from git, or set version: 1 under context: in the session',
    );
  return {entry: active.entry, upto: active.upto, text: read.text};
}
