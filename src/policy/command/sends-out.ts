import {commandKind, ownEntry} from './command-name.ts';
import {riskyUses} from './flags.ts';
import {unwrap} from './wrappers.ts';

/** Commands that contact other machines with any arguments. */
export const reachesOut: ReadonlySet<string> = new Set(
  'curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp gh aws gcloud az mail sendmail npx pip pipx apt apt-get brew dnf yum apk pacman snap flatpak mosh lftp aria2c http https xh mutt msmtp mailx swaks nslookup dig host ping traceroute rclone s3cmd restic nats mosquitto_pub twine ansible ansible-playbook vercel netlify fly heroku firebase wrangler'.split(
    ' ',
  ),
);

/** Subcommands that contact other machines; `*` means all. Matched against the first operand, the second, or both. */
const subcommands: Readonly<Record<string, string>> = {
  git: 'push,fetch,pull,clone,ls-remote,send-email,request-pull,svn,p4,remote update,remote show,remote prune,submodule update,submodule add,lfs push,lfs pull,lfs fetch',
  docker: 'push,pull,login,search,build,buildx,run,create,up,swarm,plugin',
  npm: 'publish,unpublish,install,i,ci,add,update,up,upgrade,exec,x,create,init,audit,view,info,search,login,adduser,dist-tag,deprecate,owner,access,token,outdated,ping',
  go: 'get,install,mod download,mod tidy',
  cargo: 'publish,install,fetch,add,update,search,login,yank,owner',
  gem: 'push,install,update,fetch,yank,search',
  bundle: 'install,update,add',
  composer: 'install,update,require,global',
  poetry: 'publish,install,add,update',
  uv: 'publish,pip,add,sync,tool',
  nix: 'copy,build,run,develop,shell',
  deno: 'install,publish,add',
  kubectl: '*',
  helm: '*',
  terraform: '*',
  conda: 'install,update,create,search',
};

const same: Readonly<Record<string, string>> = {pnpm: 'npm', yarn: 'npm', bun: 'npm', 'docker compose': 'docker'};

/** Why a command, possibly wrapped, contacts other machines; undefined: not known to. */
export function sendsOut(argv: readonly string[]): string | undefined {
  let found = reasonFor(argv);
  unwrap(argv, inner => {
    found ??= reasonFor(inner);
  });
  return found;
}

function reasonFor(argv: readonly string[]): string | undefined {
  const [name = '', ...args] = argv;
  const kind = commandKind(name);
  // Between two local paths, rsync stays local.
  if (kind === 'rsync' && !args.some(word => /^[^/]*:/.test(word))) return undefined;
  if (reachesOut.has(kind)) return `${name} reaches other machines`;
  const known = ownEntry(same, kind) ?? kind;
  const listed = ownEntry(subcommands, known)?.split(',') ?? [];
  const [first = '', second = ''] = args.filter(word => !word.startsWith('-'));
  if (listed[0] === '*') return `${name} reaches other machines`;
  const sub = [first, `${first} ${second}`, ...(known === 'git' ? [] : [second])].find(words => listed.includes(words));
  if (sub !== undefined) return `${name} ${sub} reaches other machines`;
  // Plain yarn installs what the manifest names.
  if (kind === 'yarn' && first === '') return 'yarn reaches other machines';
  return riskyUses(argv).find(({reason}) => /another machine/.test(reason))?.reason;
}
