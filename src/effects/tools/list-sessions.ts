import {failure} from '../tool/failure.ts';
import type {SessionLine, Tool} from '../tool/tool.ts';
import {fittingLines} from './cut.ts';

const MAX_SESSIONS = 200;

export const listSessionsTool: Tool<'list_sessions'> = {
  execute: async ({agent, status}, {sessions, agents}) => {
    const wanted = agent?.replace(/^@/, '');
    const [all, known] = [await sessions(), await agents()];
    const isKnown = (name: string) => all.some(each => each.agent === name) || known.some(({id}) => id === name);
    if (wanted !== undefined && !isKnown(wanted))
      return failure(
        'INVALID_ARGUMENTS',
        `agent: there is neither an agent "${wanted}" nor a session of one; see list_agents`,
      );
    const found = all.filter(
      session =>
        (wanted === undefined || session.agent === wanted) && (status === undefined || session.status === status),
    );
    found.sort(latestFirst);
    const lines = found.slice(0, MAX_SESSIONS).map(session => ({
      id: session.id,
      agent: session.agent,
      status: session.status,
      ...(session.updated !== undefined && {updated: session.updated}),
    }));
    const fit = fittingLines(lines, MAX_SESSIONS);
    const left = found.length - fit.length;
    return {
      success: true,
      sessions: fit,
      ...(left > 0 && {left_out: left, hint: 'name an agent or a status to see fewer'}),
    };
  },
};

function latestFirst(a: SessionLine, b: SessionLine): number {
  const [x, y] = [a.updated ?? '', b.updated ?? ''];
  return x < y ? 1 : x > y ? -1 : a.id < b.id ? -1 : 1;
}
