import type {IncomingMessage, Server, ServerResponse} from 'node:http';
import type {Socket} from 'node:net';

/** So many connections stay open. */
export const MOST_CONNECTIONS = 256;
/** So many more may be there for a moment, if they came at once. */
const MOST_AT_ONCE = 512;
/** Time for a new connection to send its request before another one may take its place. */
const GRACE_MS = 250;
const REPORT_MS = 1_000;

/** A connection that may be closed: it is idle, or has not sent its request yet. */
interface Waiting {
  peer: string;
  since: number;
}

/**
 * Limits the number of connections without refusing anybody: a new connection takes the place of an idle one, or of the one that has been
 * sending its request for longest. So connections that send nothing, or slowly, keep no valid request out. The peer with most connections
 * loses one first. A connection whose request has arrived is not closed.
 */
export function limitConnections(server: Server, onClosed: (count: number) => void): void {
  const open = new Set<Socket>();
  const idle = new WaitingConnections();
  const sending = new WaitingConnections();
  let closed = 0;
  let isPlanned = false;

  const close = (socket: Socket) => {
    open.delete(socket);
    socket.destroy();
    // One line a second at most, however many there are.
    if (closed++ === 0)
      setTimeout(() => {
        onClosed(closed);
        closed = 0;
      }, REPORT_MS).unref();
  };
  const trim = () => {
    isPlanned = false;
    while (open.size > MOST_CONNECTIONS) {
      const slowest = idle.oldest() ?? sending.oldest();
      if (!slowest) return;
      if (performance.now() - slowest.since < GRACE_MS && open.size <= MOST_CONNECTIONS + MOST_AT_ONCE) {
        isPlanned = true;
        setTimeout(trim, GRACE_MS).unref();
        return;
      }
      idle.delete(slowest.socket);
      sending.delete(slowest.socket);
      close(slowest.socket);
    }
  };

  server.on('connection', (socket: Socket) => {
    const peer = socket.remoteAddress ?? '';
    open.add(socket);
    sending.add(socket, peer);
    socket.once('close', () => {
      open.delete(socket);
      idle.delete(socket);
      sending.delete(socket);
    });
    if (!isPlanned || open.size > MOST_CONNECTIONS + MOST_AT_ONCE) trim();
  });
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const {socket} = incoming;
    const peer = socket.remoteAddress ?? '';
    // A request on a connection that was idle begins now.
    if (idle.delete(socket)) sending.add(socket, peer);
    incoming.once('end', () => sending.delete(socket));
    outgoing.once('finish', () => {
      sending.delete(socket);
      if (open.has(socket)) idle.add(socket, peer);
    });
  });
}

class WaitingConnections {
  readonly #all = new Map<Socket, Waiting>();
  /** By peer, oldest first. */
  readonly #byPeer = new Map<string, Set<Socket>>();

  add(socket: Socket, peer: string): void {
    this.#all.set(socket, {peer, since: performance.now()});
    const own = this.#byPeer.get(peer);
    if (own) own.add(socket);
    else this.#byPeer.set(peer, new Set([socket]));
  }

  delete(socket: Socket): boolean {
    const waiting = this.#all.get(socket);
    if (!waiting) return false;
    this.#all.delete(socket);
    const own = this.#byPeer.get(waiting.peer);
    own?.delete(socket);
    if (own?.size === 0) this.#byPeer.delete(waiting.peer);
    return true;
  }

  /** The oldest connection of the peer that has most. */
  oldest(): {socket: Socket; since: number} | undefined {
    let most: Set<Socket> | undefined;
    for (const own of this.#byPeer.values()) if (!most || own.size > most.size) most = own;
    const [socket] = most ?? [];
    const since = socket && this.#all.get(socket)?.since;
    return socket && since !== undefined ? {socket, since} : undefined;
  }
}
