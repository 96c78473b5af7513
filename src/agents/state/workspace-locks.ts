/** A call that waits to enter. */
interface Waiter {
  alone: boolean;
  go: () => void;
}

interface Room {
  inside: number;
  /** The call inside holds the lock exclusively. */
  alone: boolean;
  waiting: Waiter[];
}

/**
 * A shared/exclusive lock per workspace, for calls that change files: many at a time, or one `alone`. First come, first
 * served, so that later calls cannot starve an exclusive one.
 */
export class WorkspaceLocks {
  readonly #rooms = new Map<string, Room>();
  readonly #awaited = new Set<string>();

  /** Whether `enter` would succeed without waiting. */
  isFree(agent: string, alone: boolean): boolean {
    const room = this.#rooms.get(agent);
    return !room || (room.waiting.length === 0 && mayEnter(room, alone));
  }

  /** Resolves to the function that leaves again, or to undefined if `signal` aborts first. */
  async enter(agent: string, alone: boolean, signal: AbortSignal): Promise<(() => void) | undefined> {
    if (signal.aborted) return undefined;
    const free = this.isFree(agent, alone);
    const room = this.#rooms.get(agent) ?? {inside: 0, alone: false, waiting: []};
    this.#rooms.set(agent, room);
    if (free) goIn(room, alone);
    else if (!(await this.#wait(agent, room, alone, signal))) return undefined;
    let inside = true;
    return () => {
      if (inside) this.#leave(agent, room);
      inside = false;
    };
  }

  /** Call `then` once the workspace is free; once for each `key`, however often this is called until then. */
  whenFree(agent: string, key: string, signal: AbortSignal, then: () => void): void {
    const id = `${agent} ${key}`;
    if (this.#awaited.has(id)) return;
    this.#awaited.add(id);
    void this.enter(agent, true, signal).then(leave => {
      this.#awaited.delete(id);
      leave?.();
      if (leave) then();
    });
  }

  #wait(agent: string, room: Room, alone: boolean, signal: AbortSignal): Promise<boolean> {
    return new Promise(resolve => {
      const go = () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      };
      const waiter: Waiter = {alone, go};
      const giveUp = () => {
        room.waiting.splice(room.waiting.indexOf(waiter), 1);
        resolve(false);
        this.#letIn(agent, room);
      };
      room.waiting.push(waiter);
      signal.addEventListener('abort', giveUp, {once: true});
    });
  }

  #leave(agent: string, room: Room): void {
    room.inside--;
    this.#letIn(agent, room);
  }

  #letIn(agent: string, room: Room): void {
    for (let [next] = room.waiting; next && mayEnter(room, next.alone); [next] = room.waiting) {
      room.waiting.shift();
      goIn(room, next.alone);
      next.go();
    }
    if (room.inside === 0 && room.waiting.length === 0) this.#rooms.delete(agent);
  }
}

function mayEnter({inside, alone: isExclusive}: Room, alone: boolean): boolean {
  return inside === 0 || !(alone || isExclusive);
}

function goIn(room: Room, alone: boolean): void {
  room.inside++;
  room.alone = alone;
}
