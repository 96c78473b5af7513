import type {AddressInfo, Socket} from 'node:net';
import hoodiecrow from 'hoodiecrow-imap';
import PostalMime, {type Email} from 'postal-mime';
import {SMTPServer} from 'smtp-server';

export const MAIL_USER = 'agents';
export const MAIL_PASSWORD = 'a-Pass-w0rd-of-mail-7';

export interface FakeSmtp {
  port: number;
  received: (Email & {envelopeTo: string[]; envelopeFrom: string})[];
  /** What it does with mail to an address, instead of taking it: a reply code, or hanging up once it took it. */
  refuse: Map<string, number | 'hang up' | 'hang'>;
  close: () => Promise<void>;
}

/** A real SMTP server, with a password, and STARTTLS with a certificate that nobody signed. */
export async function startSmtp(): Promise<FakeSmtp> {
  const received: FakeSmtp['received'] = [];
  const refuse: FakeSmtp['refuse'] = new Map();
  const server = new SMTPServer({
    authOptional: true,
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    logger: false,
    onAuth: ({username, password}, _session, done) =>
      username === MAIL_USER && password === MAIL_PASSWORD
        ? done(null, {user: username})
        : done(new Error('Invalid username or password')),
    onData: async (stream, session, done) => {
      const chunks: Buffer[] = [];
      for await (const chunk of stream) chunks.push(chunk as Buffer);
      const {mailFrom, rcptTo} = session.envelope;
      const to = rcptTo.map(({address}) => address);
      const how = refuse.get(to[0] ?? '');
      if (typeof how === 'number') return done(Object.assign(new Error('no, thank you'), {responseCode: how}));
      const parsed = await PostalMime.parse(Buffer.concat(chunks));
      received.push({...parsed, envelopeTo: to, envelopeFrom: mailFrom ? mailFrom.address : ''});
      if (how === 'hang up')
        for (const connection of server.connections) (connection as unknown as {close: () => void}).close();
      else if (how !== 'hang') done();
    },
  });
  server.on('error', () => {});
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.server.address() as AddressInfo).port,
    received,
    refuse,
    close: () => new Promise(resolve => server.close(() => resolve())),
  };
}

export interface FakeImap {
  port: number;
  /** Put a mail into the mailbox, as a delivery does. */
  deliver: (raw: string, arrived?: Date) => void;
  /** All mails get other numbers, as on a server that was restored. */
  renumber: () => void;
  flags: () => string[];
  /** Drop all connections. */
  hangUp: () => void;
  close: () => Promise<void>;
}

/** A real IMAP server. `tls`: it has STARTTLS, with a certificate that proves nothing, as programs on the same machine do. */
export async function startImap({idle = true, tls = false} = {}): Promise<FakeImap> {
  const server = hoodiecrow({
    plugins: ['ID', 'UNSELECT', ...(idle ? ['IDLE'] : []), ...(tls ? ['STARTTLS'] : [])],
    users: {[MAIL_USER]: {password: MAIL_PASSWORD}},
    storage: {INBOX: {messages: []}},
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const inbox = () => server.getMailbox('INBOX');
  const hangUp = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.server.address() as AddressInfo).port,
    deliver: (raw, arrived = new Date()) => server.appendMessage('INBOX', [], arrived, raw.replaceAll('\n', '\r\n')),
    renumber() {
      const folder = inbox();
      folder.uidvalidity += 1;
      for (const [at, message] of folder.messages.entries()) message.uid = at + 1;
      folder.uidnext = folder.messages.length + 1;
      hangUp();
    },
    flags: () => inbox().messages.flatMap(({flags}) => flags),
    hangUp,
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        hangUp();
      }),
  };
}
