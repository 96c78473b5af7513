import {isDeepStrictEqual} from 'node:util';
import type {CompletedFile} from '../../decide/complete.ts';
import {claimSlots, slotDelivery, slotInstance, slotWords} from '../../decide/schedule.ts';
import {SLOTS_FILE} from '../../formats/common/key.ts';
import {runPath} from '../../formats/run.ts';
import {scheduleId} from '../../formats/schedule-slots.ts';
import {type ScheduleSetting, scheduleTarget, startsWorkflow, type WorkflowSchedule} from '../../formats/settings.ts';
import {
  type AllSlots,
  type ClaimedSlot,
  type ScheduleSlots,
  type SlotsFile,
  slotsText,
} from '../../formats/slots-file.ts';
import {lookAgain} from '../../loop/look-again.ts';
import type {Reconciler} from '../../loop/reconciler.ts';
import {agentExists} from '../mail/agents.ts';
import {inboxSession} from '../mail/receivers.ts';
import {plannedWriteOf} from '../state/completed-write.ts';
import type {Inboxes} from '../state/inboxes.ts';
import type {With} from '../state/parts.ts';

type Needs = With<'files' | 'current' | 'mail' | 'inboxes' | 'reports' | 'effects'>;

/** state/schedules.yaml: claimed and delivered times of schedules. */
export function scheduleReconciler(daemon: Needs): Reconciler {
  return {
    kind: 'state',
    owns: path => path === SLOTS_FILE,
    settle: async ({parsed}) =>
      parsed?.kind === 'slots' ? plannedWriteOf(await settleSlots(daemon, parsed.file), 'schedule') : undefined,
    create: async () => plannedWriteOf(await settleSlots(daemon, undefined), 'schedule'),
  };
}

/** Claim due times, remove delivered ones, and post the messages of claimed times. */
async function settleSlots(daemon: Needs, file: SlotsFile | undefined): Promise<CompletedFile | undefined> {
  const {files, inboxes} = daemon;
  const schedules = (await daemon.current.settings()).schedules ?? [];
  const before = file?.value?.schedules ?? {};
  const after: AllSlots = {};
  const words: string[] = [];
  for (const schedule of schedules) {
    const id = scheduleId(schedule);
    const to = targetOf(schedule);
    const known = before[id];
    const claimed =
      startsWorkflow(schedule) || agentExists(files, to)
        ? (claimSlots(schedule, known, files.disk.clock.now()) ?? known)
        : known;
    if (!claimed) continue;
    after[id] = withoutDelivered(inboxes, id, claimed);
    if (!known) words.push(`${schedule.cron} for ${to} begins`);
    else if (claimed.last !== known.last) words.push(`${claimed.last} for ${to}`);
    else if (after[id].due?.length !== known.due?.length) words.push(`delivered to ${to}`);
  }
  if (isDeepStrictEqual(after, before)) {
    await post(daemon, schedules, after);
    return undefined;
  }
  if (Object.keys(after).length < Object.keys(before).length) words.push('a schedule is gone');
  const written = () => {
    inboxes.schedules.forget(new Set(dueIn(after)));
    void post(daemon, schedules, after);
  };
  return {text: slotsText(after), words: words.slice(0, 3).join('; ') || 'as the clock says', tasks: [], written};
}

function dueIn(all: AllSlots): string[] {
  return Object.entries(all).flatMap(([id, {due = []}]) => due.map(claimed => slotDelivery(id, claimed)));
}

function withoutDelivered({schedules}: Inboxes, id: string, {due = [], ...slots}: ScheduleSlots): ScheduleSlots {
  const open = due.filter(claimed => !schedules.delivered.has(slotDelivery(id, claimed)));
  return open.length > 0 ? {...slots, due: open} : (slots as ScheduleSlots);
}

/** Post the messages of claimed times. Delivery ids keep a message from being delivered twice. */
async function post(daemon: Needs, schedules: readonly ScheduleSetting[], all: AllSlots): Promise<void> {
  for (const schedule of schedules) {
    const id = scheduleId(schedule);
    for (const claimed of all[id]?.due ?? []) {
      if (startsWorkflow(schedule)) startOne(daemon, schedule, id, claimed);
      else await postOne(daemon, schedule, id, claimed);
    }
  }
}

async function postOne(
  {files, current, mail, inboxes}: With<'files' | 'current' | 'mail' | 'inboxes'>,
  schedule: ScheduleSetting,
  id: string,
  claimed: ClaimedSlot,
): Promise<void> {
  const agent = targetOf(schedule);
  const delivery = slotDelivery(id, claimed);
  const template = agentExists(files, agent) ? await current.template(agent) : undefined;
  if (!template || inboxes.schedules.posted.has(delivery)) return;
  inboxes.schedules.posted.add(delivery);
  const fresh = template.context === 'fresh';
  const {path, opening} = inboxSession(files, agent, {scope: 'schedule', thread: undefined, id: delivery, fresh});
  mail.post(path, {
    ...{id: delivery, agent, opening},
    message: {from: 'system', content: slotWords(schedule, claimed)},
    delivered: () => {
      inboxes.schedules.delivered.add(delivery);
      lookAgain(files, SLOTS_FILE);
    },
  });
  lookAgain(files, path);
}

/** How long to wait before a workflow that could not begin is started again. */
const AGAIN_MS = 10_000;

/** Start the workflow of a claimed time. Its instance is named after the time, so that it begins once, however often it is started. */
function startOne(daemon: Needs, schedule: WorkflowSchedule, id: string, claimed: ClaimedSlot): void {
  const {files, inboxes, reports, effects} = daemon;
  const delivery = slotDelivery(id, claimed);
  const {startWorkflow} = effects.world;
  if (!startWorkflow || inboxes.schedules.posted.has(delivery)) return;
  inboxes.schedules.posted.add(delivery);
  const {workflow, params = {}} = schedule;
  const instance = slotInstance(schedule, claimed);
  const starting = startWorkflow({workflow, instance, params}).then(result => {
    inboxes.schedules.starting.delete(starting);
    lookAgain(files, runPath(instance));
    const failed =
      'failed' in result ? `the schedule of ${workflow} could not start ${instance}: ${result.failed}` : undefined;
    reports.troubles.set(`schedule ${id}`, failed);
    if ('again' in result) {
      files.disk.clock.after(AGAIN_MS, () => {
        inboxes.schedules.posted.delete(delivery);
        lookAgain(files, SLOTS_FILE);
      });
      return;
    }
    inboxes.schedules.delivered.add(delivery);
    lookAgain(files, SLOTS_FILE);
  });
  inboxes.schedules.starting.add(starting);
}

function targetOf(schedule: ScheduleSetting): string {
  return scheduleTarget(schedule).trim().replace(/^@/, '');
}
