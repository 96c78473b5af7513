/** What a traced program did beyond reading its input. */
type EventKind = 'runs' | 'writes' | 'network' | 'reads';

export interface TraceEvent {
  kind: EventKind;
  /** Program, path or address. Paths inside the workspace are relative to it. */
  what: string;
}

/** System calls that strace must report for `eventsIn`. */
export const TRACED =
  'execve,execveat,open,openat,openat2,creat,truncate,unlink,unlinkat,rename,renameat,renameat2,link,linkat,symlink,' +
  'symlinkat,mkdir,mkdirat,mknod,mknodat,rmdir,chmod,fchmodat,fchmod,chown,lchown,fchownat,utime,utimes,utimensat,' +
  'futimesat,setxattr,lsetxattr,removexattr,socket,connect,sendto,bind,sethostname,setdomainname,settimeofday,' +
  'clock_settime,mount,umount2';

const changing =
  /^(?:creat|truncate|unlink(?:at)?|rename(?:at2?)?|link(?:at)?|symlink(?:at)?|mkdir(?:at)?|mknod(?:at)?|rmdir|f?chmod(?:at)?|l?chown|fchownat|utimes?|utimensat|futimesat|l?setxattr|removexattr)$/;
const machine = /^(?:sethostname|setdomainname|settimeofday|clock_settime|mount|umount2)$/;

/** Events in the output of `strace -f`. The first program that is executed is the one under test, not an event. */
export function eventsIn(log: string, workspace: string): TraceEvent[] {
  const events: TraceEvent[] = [];
  let started = false;
  for (const line of log.split('\n')) {
    const match = /^(?:\d+ +)?(\w+)\((.*)$/.exec(line);
    if (!match) continue;
    const [, call = '', rest = ''] = match;
    const failed = /= -1 E(?:NOENT|NOTDIR|INVAL)\b/.test(rest);
    const paths = [...rest.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, path = '']) => inside(path, workspace));
    const [path = ''] = paths;
    if (call.startsWith('execve')) {
      if (failed) continue;
      if (started) events.push({kind: 'runs', what: path});
      started = true;
    } else if (call.startsWith('open')) {
      const writes = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC)\b/.test(rest);
      // What is read below an open folder is part of a walk.
      const here = call === 'open' || rest.startsWith('AT_FDCWD');
      if (writes) events.push({kind: 'writes', what: path});
      else if (here && !failed) events.push({kind: 'reads', what: path});
    } else if (changing.test(call)) events.push({kind: 'writes', what: paths.join(' -> ') || call});
    else if (machine.test(call)) events.push({kind: 'writes', what: call});
    else if (call === 'connect' || call === 'sendto' || call === 'bind') {
      const address = /sa_family=(AF_\w+)(?:, (?:sun_path=@?"([^"]*)")?)?/.exec(rest);
      if (address && address[1] !== 'AF_NETLINK')
        events.push({kind: 'network', what: [address[1], address[2]].filter(Boolean).join(' ')});
    } else if (call === 'socket') {
      const family = /^(AF_\w+)/.exec(rest)?.[1] ?? '';
      if (!/^AF_(?:UNIX|NETLINK)$/.test(family)) events.push({kind: 'network', what: family});
    }
  }
  return events;
}

function inside(path: string, workspace: string): string {
  return path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path.replace(/^\.\//, '');
}
