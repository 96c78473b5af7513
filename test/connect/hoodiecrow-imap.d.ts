declare module 'hoodiecrow-imap' {
  import type {Server} from 'node:net';

  interface Folder {
    uidvalidity: number;
    uidnext: number;
    messages: {uid: number; flags: string[]; raw: string; internaldate: string}[];
  }

  interface Imap {
    server: Server;
    listen: (port: number, host: string, done: () => void) => void;
    close: (done: () => void) => void;
    getMailbox: (path: string) => Folder;
    appendMessage: (path: string, flags: string[], internaldate: Date, raw: string) => unknown;
  }

  export default function hoodiecrow(options: {
    plugins?: string[];
    users?: Record<string, {password: string}>;
    storage?: unknown;
  }): Imap;
}
