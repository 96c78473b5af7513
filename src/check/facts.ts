import type {ApprovalState} from '../formats/approval/approval-state.ts';
import type {Place, Problem} from '../formats/common/diagnostic.ts';
import {type Kind, kindOf, stemOf} from '../formats/common/key.ts';
import type {SpendLimits} from '../formats/session/spent.ts';
import type {DaySpend} from '../formats/spend-file.ts';
import type {ItemFact, PageFact} from './approval-facts.ts';
import type {Need} from './need.ts';
import type {SessionFact} from './session-facts.ts';
import type {TaskFact} from './task-facts.ts';

/** Raised whenever facts mean or hold something else, or a check of one file changes: older ones are not read. */
export const FACTS_VERSION = 14;

export interface Counts {
  agents?: number;
  sessions?: number;
  messages?: number;
  tasks?: number;
}

/** A name in the settings that must be an agent's, as written. */
export interface Reference extends Place {
  name: string;
}

/**
 * All that other files, the index and the daemon must know of a file, without its text: plain data that survives JSON
 * and stays small, since ten thousand of these are in memory and in the cache.
 */
export interface Facts {
  /** Null: a folder, or another thing that could not be read. */
  kind: Kind | null;
  /** Of the file on its own, with its path. */
  problems: Problem[];
  /** Names of what it defines besides tasks and requests: `agent/x`, `member/x`, `session/x`, `page/x`, `queue/sound`. */
  defines: string[];
  needs: Need[];
  counts: Counts;
  session?: SessionFact;
  tasks?: TaskFact[];
  /** Items of the approval queue. */
  items?: ItemFact[];
  /** What became of the requests of a queue or its archive, by id. */
  approvals?: Record<string, ApprovalState>;
  /** When the first of those that are open expires. */
  expires?: string;
  page?: PageFact;
  /** Of a template what its agent may use, of the settings what all may in a day. */
  limits?: SpendLimits;
  /** Of state/spend.yaml. */
  spend?: DaySpend;
  refers?: Reference[];
  /** Of a template: what others are told of the agent. */
  agent?: {type: string | null; description: string | null};
}

/** The facts of what is there but cannot be read. A session that is there is not gone. */
export function unreadFacts(path: string, problems: Problem[]): Facts {
  const kind = kindOf(path) ?? null;
  const defines = kind === 'session' ? [`session/${stemOf(path)}`] : [];
  return {kind, problems, defines, needs: [], counts: {}};
}
