import {isDeepStrictEqual} from 'node:util';
import type {CompletedFile} from '../../decide/complete.ts';
import {claimSlots, slotDelivery, slotWords} from '../../decide/schedule.ts';
import {SLOTS_FILE} from '../../formats/common/key.ts';
import {scheduleId} from '../../formats/schedule-slots.ts';
import type {ScheduleSetting} from '../../formats/settings.ts';
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

/** state/schedules.yaml: claimed and delivered times of schedules. */
export function scheduleReconciler(daemon: With<'files' | 'current' | 'mail' | 'inboxes'>): Reconciler {
  return {
    kind: 'state',
    owns: path => path === SLOTS_FILE,
    settle: async ({parsed}) =>
      parsed?.kind === 'slots' ? plannedWriteOf(await settleSlots(daemon, parsed.file), 'schedule') : undefined,
    create: async () => plannedWriteOf(await settleSlots(daemon, undefined), 'schedule'),
  };
}

/** Claim due times, remove delivered ones, and post the messages of claimed times. */
async function settleSlots(
  daemon: With<'files' | 'current' | 'mail' | 'inboxes'>,
  file: SlotsFile | undefined,
): Promise<CompletedFile | undefined> {
  const {files, inboxes} = daemon;
  const schedules = (await daemon.current.settings()).schedules ?? [];
  const before = file?.value?.schedules ?? {};
  const after: AllSlots = {};
  const words: string[] = [];
  for (const schedule of schedules) {
    const id = scheduleId(schedule);
    const to = agentOf(schedule);
    const known = before[id];
    const claimed = agentExists(files, to) ? (claimSlots(schedule, known, files.disk.clock.now()) ?? known) : known;
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
async function post(
  daemon: With<'files' | 'current' | 'mail' | 'inboxes'>,
  schedules: readonly ScheduleSetting[],
  all: AllSlots,
): Promise<void> {
  for (const schedule of schedules) {
    const id = scheduleId(schedule);
    for (const claimed of all[id]?.due ?? []) await postOne(daemon, schedule, id, claimed);
  }
}

async function postOne(
  {files, current, mail, inboxes}: With<'files' | 'current' | 'mail' | 'inboxes'>,
  schedule: ScheduleSetting,
  id: string,
  claimed: ClaimedSlot,
): Promise<void> {
  const agent = agentOf(schedule);
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

function agentOf({to}: ScheduleSetting): string {
  return to.trim().replace(/^@/, '');
}
