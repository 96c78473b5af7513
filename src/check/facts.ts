import type {ApprovalState} from '../formats/approval/approval-state.ts';
import type {Place, Problem} from '../formats/common/diagnostic.ts';
import {type Kind, kindOf, stemOf} from '../formats/common/key.ts';
import type {WorkflowStatus} from '../formats/run.ts';
import type {CausedBy} from '../formats/session/causes.ts';
import type {SpendLimits} from '../formats/session/spent.ts';
import type {DaySpend} from '../formats/spend-file.ts';
import type {ItemFact, PageFact} from './approval-facts.ts';
import type {Need} from './need.ts';
import type {SessionFact} from './session-facts.ts';
import type {TaskFact} from './task-facts.ts';

/** Raise this when the content or meaning of facts changes, or a check of a single file. Older cached facts are ignored. */
export const FACTS_VERSION = 29;

export interface Counts {
  agents?: number;
  sessions?: number;
  messages?: number;
  tasks?: number;
}

/** A name in a file that must be an agent's, as written, or a workflow's. */
export interface Reference extends Place {
  name: string;
  isWorkflow?: true;
}

/** A workflow instance: its status, and the names of its agents within it. */
export interface RunFact {
  status: WorkflowStatus;
  agents: string[];
}

export interface AgentFact {
  type: string | null;
  description: string | null;
  /** Null: the template has errors. */
  model: string | null;
  ephemeral?: true;
}

/**
 * Everything that other files, the index and the daemon need to know about a file. Plain JSON data, and small: ten
 * thousand of these are in memory and in the cache.
 */
export interface Facts {
  /** Null: a folder, or anything else that could not be read. */
  kind: Kind | null;
  /** Problems of the file on its own, with its path. */
  problems: Problem[];
  /** Names that the file defines, besides tasks and requests: `agent/x`, `workflow/x`, `member/x`, `session/x`, `checkpoint/PATH`, `page/x`, `queue/sound`. */
  defines: string[];
  needs: Need[];
  counts: Counts;
  session?: SessionFact;
  tasks?: TaskFact[];
  /** Items of the approval queue. */
  items?: ItemFact[];
  /** States of the requests in a queue or its archive, by id. */
  approvals?: Record<string, ApprovalState>;
  /** When the first open request expires. */
  expires?: string;
  page?: PageFact;
  /** In a template: limits of its agent. In the settings: limits of all agents per day. */
  limits?: SpendLimits;
  /** In a template or the settings: where a limit on cost is set. */
  costLimitAt?: Place;
  /** In a session or task file: what follows from which cause. */
  causes?: CausedBy;
  /** Content of state/spend.yaml. */
  spend?: DaySpend;
  refers?: Reference[];
  /** In a channel: names that its entries mention. */
  mentions?: Reference[];
  /** In the run.yaml of a workflow instance. */
  run?: RunFact;
  /** In a template: the agent as others see it. */
  agent?: AgentFact;
  /** In a template without errors: what sessions copy from it. */
  copySource?: string;
}

/** The facts of a file that cannot be read. A session still defines its name, because it is not gone. */
export function unreadFacts(path: string, problems: Problem[]): Facts {
  const kind = kindOf(path) ?? null;
  const defines = kind === 'session' ? [`session/${stemOf(path)}`] : [];
  return {kind, problems, defines, needs: [], counts: {}};
}
