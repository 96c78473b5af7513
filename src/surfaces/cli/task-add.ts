import {exit, UserError} from '../../formats/common/errors.ts';
import {isTime} from '../../formats/common/values.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {idsIn, type Priority} from '../../formats/task/task.ts';
import {newTaskId} from '../../formats/task/task-id.ts';
import {addressableNames} from '../actions/talk/addressable-names.ts';
import {addTo} from '../actions/tasks/add-task.ts';
import {findTasks} from '../actions/tasks/find-tasks.ts';
import {assigneeNamed, newAgentNamed} from '../actions/tasks/names.ts';
import {givenTexts} from './given-text.ts';
import {printTaskReport} from './task-report.ts';

export interface AddFlags {
  to?: string;
  file?: string;
  priority?: string;
  tag?: string[];
  prompt?: string;
  description?: string;
  dependsOn?: string[];
  parent?: string;
  due?: string;
  approval?: boolean;
  assign?: string;
}

export async function taskAddCommand(
  home: string,
  words: readonly string[],
  flags: AddFlags,
  json: boolean,
): Promise<number> {
  const {prompt, description} = flags;
  const {texts, replaced} = givenTexts(home, {title: titleOf(words), prompt, description});
  const [parent] = await findTasks(home, flags.parent === undefined ? [] : [flags.parent]);
  const dependencies = await findTasks(home, (flags.dependsOn ?? []).flatMap(idsIn));
  const id = newTaskId();
  const {path, text} = await addTo(home, {
    file: flags.file,
    parent,
    id,
    task: {
      title: texts.title ?? '',
      ...priorityOf(flags.priority),
      ...assigneeOf(home, flags),
      tags: (flags.tag ?? []).map(tagOf),
      fields: present({
        created: new Date().toISOString(),
        created_by: '@human',
        depends_on: dependencies.map(one => one.id).join(', ') || undefined,
        due: dueOf(flags.due),
        approval_required: flags.approval ? 'true' : undefined,
        assign: flags.assign === undefined ? undefined : newAgentNamed(flags.assign, addressableNames(home)),
        description: texts.description,
        prompt: texts.prompt,
      }),
    },
  });
  return printTaskReport({
    home,
    json,
    ids: [id],
    written: new Map([[path, text]]),
    replaced,
    line: row => visibleLine(row.id ?? ''),
  });
}

function titleOf(words: readonly string[]): string {
  const title = words.join(' ').trim();
  if (title !== '' && title !== '-' && !title.includes('\n')) return title;
  throw new UserError(
    'a task needs a one-line title',
    exit.usage,
    'agentdir task add "Check Redis" --prompt - < FILE takes longer text',
  );
}

const WORDS: ReadonlyMap<string, Priority> = new Map([
  ['high', 'A'],
  ['medium', 'B'],
  ['low', 'C'],
]);

function priorityOf(given: string | undefined): {priority?: Priority} {
  if (given === undefined) return {};
  const word = WORDS.get(given.toLowerCase()) ?? given.toUpperCase();
  if (!/^[A-D]$/.test(word))
    throw new UserError(`expected a priority A to D, or high, medium, low, got "${given}"`, exit.usage);
  return {priority: word as Priority};
}

function assigneeOf(home: string, {to, assign}: AddFlags): {names?: string[]} {
  if (to !== undefined && assign !== undefined)
    throw new UserError('--to and --assign exclude each other', exit.usage, 'use one of them');
  return to === undefined ? {} : {names: [assigneeNamed(to, addressableNames(home))]};
}

function tagOf(given: string): string {
  const tag = given.replace(/^#/, '');
  if (!/^[^\s#]\S*$/.test(tag)) throw new UserError(`"${given}" is not a tag: a tag is one word`, exit.usage);
  return tag;
}

function dueOf(given: string | undefined): string | undefined {
  if (given !== undefined && !isTime(given))
    throw new UserError(`expected a date or time, got "${given}"`, exit.usage, 'as in: --due 2026-01-31');
  return given;
}

function present(fields: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])),
  );
}
