import {inFile, type Problem, problem} from '../formats/common/diagnostic.ts';
import {stemOf} from '../formats/common/key.ts';
import {copiedProblems} from './copied.ts';
import {type Definition, indexIn, type Look} from './look.ts';
import {agentHint, isAgent, namesSeen} from './names.ts';
import type {SessionFact} from './session-facts.ts';

/** Report duplicate ids, missing templates, and what differs from the template. A missing approval is no problem: the call asks again. */
export function checkSession(path: string, session: SessionFact, look: Look): Problem[] {
  return session.segment
    ? []
    : [
        ...duplicateId(path, session, look),
        ...template(path, session, look),
        ...missingCheckpoint(path, session, look),
      ];
}

function duplicateId(path: string, {id, idAt}: SessionFact, look: Look): Problem[] {
  const other = precedingSession(look.named(`session/${id}`), path);
  if (!other) return [];
  return [
    problem(
      'DUPLICATE_ID',
      idAt,
      `expected each session id once, found "${id}" also in ${other.path}`,
      'rename one of the two files and its session_id',
      path,
    ),
  ];
}

/** The model is never asked with a part of its conversation missing. */
function missingCheckpoint(path: string, {checkpoint, status}: SessionFact, look: Look): Problem[] {
  if (!checkpoint || status === 'completed' || look.named(`checkpoint/${checkpoint.file}`).length > 0) return [];
  return [
    problem(
      'MISSING_CHECKPOINT',
      checkpoint,
      `expected the checkpoint ${checkpoint.file}, found no such file`,
      'restore it from git, or set "version: 1" to send all messages',
      path,
    ),
  ];
}

/** The nearest preceding definition that has the id in its header, not just in its file name. */
function precedingSession(definitions: readonly Definition[], path: string): Definition | undefined {
  for (let i = indexIn(definitions, path) - 1; i >= 0; i--) if (definitions[i]?.state === 'id') return definitions[i];
  return undefined;
}

function template(path: string, {agent, agentAt, status, copied}: SessionFact, look: Look): Problem[] {
  if (status === 'completed') return [];
  const [defined] = look.named(`agent/${agent}`);
  if (defined?.state) return inFile(path, copiedProblems(copied, defined.path, defined.state));
  const names = namesSeen(look);
  if (isAgent(agent, names)) return [];
  const message = `expected a template for "${agent}", found none`;
  return [problem('MISSING_TEMPLATE', agentAt, message, agentHint(agent, names), path)];
}

/** Whether a session file has this name. Approvals refer to sessions by file name. */
export function hasSessionFile(stem: string, look: Look): boolean {
  return look.named(`session/${stem}`).some(({path}) => stemOf(path) === stem);
}
