import type {With} from '../agents/state/parts.ts';
import type {ChannelPost} from '../agents/state/workflows.ts';
import {appendEntry, entryHead, parseChannel} from '../formats/channel.ts';
import {channelPath, instanceOf, isInMemory, type Run, runPath} from '../formats/run.ts';
import {lookAgain} from '../loop/look-again.ts';
import type {PlannedWrite} from '../loop/planned-write.ts';
import type {Reconciler} from '../loop/reconciler.ts';

/** .workflow/…/channel.md: appends entries. What follows from an entry is up to run.yaml. */
export function channelReconciler({files, workflows}: With<'files' | 'workflows'>): Reconciler {
  const settle = (path: string, text: string): PlannedWrite | undefined => {
    const due = workflows.posts.get(path);
    if (due.length === 0) return undefined;
    const {text: result, missing} = withPosts(text, due);
    const written = () => finishPosts(path, result, due);
    if (missing.length === 0) {
      written();
      return undefined;
    }
    const agents = new Set(missing.map(({agent}) => agent));
    const [agent] = agents;
    const names = [...new Set(missing.map(({from}) => from))];
    return {
      text: result,
      entry: {words: `message from ${names.join(', ')}`, cause: 'channel', ...(agents.size === 1 && agent && {agent})},
      done: written,
    };
  };
  const finishPosts = (path: string, text: string, posts: readonly ChannelPost[]) => {
    const heads = parseChannel(text).entries;
    for (const post of posts) {
      // The post may have been withdrawn during the write.
      if (!workflows.posts.remove(path, post)) continue;
      post.written(heads.findLastIndex(entry => entryHead(entry) === entryHead(post)) + 1);
    }
  };
  return {
    kind: 'channel',
    settle: ({path, text = ''}) => settle(path, text),
    create: path => settle(path, ''),
    accepted({path}) {
      const run = runPath(instanceOf(path) ?? '');
      if (files.known.has(run)) lookAgain(files, run);
    },
  };
}

/** A channel with the posts that it lacks. A post is known by its head and its text, so that one repeated after a crash is not written twice. */
export function withPosts<P extends Pick<ChannelPost, 'time' | 'from' | 'text'>>(
  text: string,
  posts: readonly P[],
): {text: string; missing: P[]} {
  const missing: P[] = [];
  const known = new Set(parseChannel(text).entries.map(entryHead));
  let result = text;
  for (const post of posts) {
    if (known.has(entryHead(post))) continue;
    known.add(entryHead(post));
    missing.push(post);
    result = appendEntry(result, post);
  }
  return {text: result, missing};
}

/** Post an entry to the channel of an instance. */
export function postEntry({files, workflows}: With<'files' | 'workflows'>, run: Run, post: ChannelPost): void {
  const path = channelPath(run.instance);
  if (isInMemory(run)) {
    const {text, missing} = withPosts(workflows.memoryText(path), [post]);
    if (missing.length > 0) workflows.setMemoryText(path, text);
    post.written(parseChannel(text).entries.findLastIndex(entry => entryHead(entry) === entryHead(post)) + 1);
    lookAgain(files, runPath(run.instance));
    return;
  }
  workflows.posts.add(path, post);
  lookAgain(files, path);
}
