import {violate} from '../ledger.mjs';

const ANSWER = /^answer n(\d+)\. to (m\d{5}q)?/;

/** 4 and 7: requests were valid, no reply is there twice, none to words that a person had changed, each below its question. */
export function replies({ledger, mind}, {sessions}) {
  for (const wrong of mind.server.violations) violate(ledger, 4, `an invalid request: ${wrong}`);
  for (const error of mind.server.errors) violate(ledger, 4, `the model's server failed: ${error.stack ?? error}`);
  const seen = new Map();
  for (const {path, messages} of sessions) {
    const marks = new Set();
    for (const {role, content} of messages) {
      if (role === 'user') for (const [mark] of (content ?? '').matchAll(/m\d{5}q/g)) marks.add(mark);
      const [, n, to] = (role === 'assistant' && ANSWER.exec(content ?? '')) || [];
      if (n === undefined) continue;
      if (seen.has(n)) violate(ledger, 7, `reply ${n} is in ${path} and in ${seen.get(n)}`);
      seen.set(n, path);
      if (ledger.stale.has(Number(n)))
        violate(ledger, 7, `${path}: reply ${n} was to words that were changed`, content);
      if (to && !marks.has(to)) violate(ledger, 7, `${path}: reply ${n} stands above what it answers`, content);
    }
  }
}
