import {approvalEdits} from './edits/approvals.mjs';
import {badFileEdits} from './edits/bad-files.mjs';
import {fileEdits} from './edits/files.mjs';
import {gitEdits} from './edits/git.mjs';
import {inboxEdits} from './edits/inbox.mjs';
import {sessionEdits} from './edits/sessions.mjs';
import {taskEdits} from './edits/tasks.mjs';
import {openHands} from './hands.mjs';
import {pause} from './run-command.mjs';

/** Everybody who does something to the home. Each has chances of their own. */
export function employ(world) {
  const {random} = world;
  const hands = openHands(world, random.fork(1));
  world.hands = hands;
  const by = salt => ({...world, hands, random: random.fork(salt)});
  world.sessions = sessionEdits(by(2));
  const tasks = taskEdits(by(3));
  const files = fileEdits(by(4));
  world.approvals = approvalEdits(by(5));
  const inbox = inboxEdits(by(6));
  const git = gitEdits(by(7));
  const bad = badFileEdits(by(8));
  const {sessions, approvals} = world;

  /** What each of them does, how often for one another, and how long they wait in between, ms. */
  const actors = [
    ...[10, 11, 12].map(salt => ({
      salt,
      gap: [20, 160],
      acts: [
        [4, sessions.begin],
        [5, sessions.say],
        [2, sessions.rephrase],
        [0.6, sessions.rephraseMeanwhile],
        [0.5, sessions.rest],
        [5, tasks.add],
        [2, tasks.tick],
        [1, tasks.setBack],
        [1, tasks.prose],
        [1, tasks.reorder],
        [4, files.note],
        [2, files.describe],
        [0.7, files.explainPolicy],
        [0.3, files.changePolicy],
      ],
    })),
    {
      salt: 13,
      gap: [50, 300],
      acts: [
        [8, approvals.decide],
        [1, approvals.regret],
      ],
    },
    {
      salt: 14,
      gap: [40, 300],
      acts: [
        [12, inbox.echo],
        [1, inbox.rotate],
      ],
    },
    {
      salt: 15,
      gap: [300, 1_500],
      acts: [
        [4, git.commit],
        [1, git.commitAll],
        [1, git.addAll],
        [2, git.stash],
        [1, git.branch],
        [1, git.resetSoft],
        [0.4, git.gc],
        [1, git.rebase],
        [2, git.look],
      ],
    },
    {salt: 16, gap: [800, 3_000], acts: [[1, bad.spoil]]},
  ];

  /** All of them at work until it is over. */
  return async isOver => {
    await Promise.all(
      actors.map(async ({salt, gap, acts}) => {
        const own = random.fork(salt + 100 * world.round);
        while (!isOver()) {
          await own.weighted(acts)();
          await pause(own.between(...gap));
        }
      }),
    );
  };
}
