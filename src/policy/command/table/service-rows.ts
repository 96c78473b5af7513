import type {CommandRow} from './row.ts';

const list: CommandRow = {
  options: '-a -f= -q -n= -l -s --all --filter= --format= --quiet --no-trunc --last= --latest --size --digests --help',
  operands: 'text*',
};
const logs: CommandRow = {
  options: '-f -t -n= --follow --tail= --since= --until= --timestamps --details --no-color --no-log-prefix --help',
  operands: 'text*',
};
const inspect: CommandRow = {options: '-f= -s --format= --size --type= --help', operands: 'text*'};
const named: CommandRow = {options: '--help', operands: 'text*'};
/** Further operands are options of `ps`. */
const top: CommandRow = {options: '--help', operands: 'text'};
/** Options of commands that run a command in a container, all without a value. */
const switches =
  '--rm --interactive --tty --detach --init --privileged --read-only --publish-all --quiet --no-deps --no-TTY --service-ports --build --stdin --attach --sig-proxy';
const dockerReaches = 'push,pull,login,search,build,buildx,run,create,up,swarm,plugin';
const npmExec: CommandRow = {
  wraps: {
    valued: '-p -w --package --workspace',
    plain: 'yq',
    switches: '--yes --no --workspaces',
    strings: '-c --call',
  },
};
const dockerCompose: CommandRow = {
  loads: '-f --file --env-file',
  enters: '--project-directory',
  reads: 'compose.yaml compose.yml docker-compose.yaml docker-compose.yml',
  reaches: dockerReaches,
  subcommands: {
    ps: {options: '-a -q --all --quiet --services --format= --filter= --status=', operands: 'text*'},
    ls: {options: '-a -q --all --quiet --format= --filter='},
    logs,
    images: {options: '-q --quiet --format=', operands: 'text*'},
    top: named,
    version: {options: '-f= --format= --short'},
    port: {options: '--protocol= --index=', operands: 'text*'},

    exec: {wraps: {valued: '-e -u -w --env --user --workdir --index', plain: 'dT', switches, operands: 1}},
    run: {
      wraps: {
        valued: '-e -l -p -u -v -w --name --entrypoint --env --user --volume --workdir',
        plain: 'diPT',
        switches,
        program: '--entrypoint',
        operands: 1,
      },
    },
  },
};
const docker: CommandRow = {
  loads: '--file --env-file',
  reaches: dockerReaches,
  risk: 'controls',
  long: {f: 'force', v: 'volumes', a: 'all'},
  options: '-D --debug -v --version --help',
  operands: '',
  subcommands: {
    exec: {
      wraps: {
        valued: '-e -u -w --env --user --workdir --env-file --detach-keys --index',
        plain: 'dit',
        switches,
        operands: 1,
      },
    },
    run: {
      wraps: {
        valued:
          '-a -c -e -h -l -m -p -u -v -w --name --network --net --env --env-file --volume --mount --user --workdir --entrypoint --publish --label --memory --cpus --hostname --platform --pull --restart --add-host --cap-add --cap-drop --device --dns --gpus --ip --log-driver --log-opt --pid --security-opt --shm-size --tmpfs --ulimit --link',
        plain: 'ditPq',
        switches,
        program: '--entrypoint',
        operands: 1,
      },
    },
    build: {loads: '-f', reads: 'Dockerfile .dockerignore'},
    buildx: {loads: '-f', reads: 'Dockerfile'},
    builder: {loads: '-f'},
    ps: list,
    images: list,
    version: {options: '-f= --format='},
    info: {options: '-f= --format='},
    inspect,
    logs,
    top,
    port: named,
    diff: named,
    stats: {options: '-a --all --no-stream --no-trunc --format=', operands: 'text*'},
    history: {options: '-H -q --human --no-trunc --quiet --format=', operands: 'text'},
    container: {subcommands: {ls: list, list, ps: list, inspect, logs, top, port: named, diff: named}},
    image: {loads: '-f', subcommands: {ls: list, list, inspect, history: {options: '-q --no-trunc', operands: 'text'}}},
    volume: {subcommands: {ls: list, list, inspect}},
    network: {subcommands: {ls: list, list, inspect}},
    system: {subcommands: {df: {options: '-v --verbose --format='}, info: {options: '-f= --format='}}},
    context: {subcommands: {ls: {options: '-q --quiet --format='}, show: {operands: ''}}},
    compose: dockerCompose,
  },
  service: true,
};
const kube =
  '-n= -A -l= -o=kubeoutput -c= -w --namespace= --all-namespaces --selector= --output=kubeoutput --container= --watch --show-labels --field-selector= --no-headers --sort-by= --previous -p --tail= --since= --timestamps -f --follow --help';

/** Services of the host and package managers: only what shows, not what changes. */
export const serviceRows: Readonly<Record<string, CommandRow>> = {
  docker,
  'docker compose': {...dockerCompose, service: true},
  kubectl: {
    loads: '-f -k --filename --kustomize',
    reaches: true,
    risk: 'controls',
    long: {f: 'filename', A: 'all-namespaces'},
    options: '-n= --namespace=',
    operands: '',
    subcommands: {
      // -f is a file to `kubectl get`, which may be an address.
      ...Object.fromEntries(
        ['get', 'describe', 'top'].map(name => [name, {options: kube.replace(' -f --follow', ''), operands: 'text*'}]),
      ),
      logs: {options: kube, operands: 'text*'},
      explain: {options: '--recursive', operands: 'text*'},
      'api-resources': {options: '-o=kubeoutput --namespaced=? --verbs= --no-headers'},
      exec: {
        wraps: {valued: '-c -f -n --container --filename --namespace', plain: 'itq', switches, operands: 1},
      },
      run: {wraps: {valued: '-n --image --namespace', plain: 'itq', switches, operands: 1}},
      'api-versions': {operands: ''},
      version: {options: '--client -o=kubeoutput --output=kubeoutput'},
      config: {
        subcommands: {
          'get-contexts': {operands: 'text*'},
          'current-context': {operands: ''},
          'get-clusters': {operands: ''},
        },
      },
    },
    service: true,
    network: true,
  },
  'redis-cli': {
    options: '-n= --raw --no-raw --csv --version',
    anyCase: true,
    subcommands: Object.fromEntries(
      'ping info dbsize time role get mget exists ttl type strlen llen scard hlen hget hgetall zcard lastsave'
        .split(' ')
        .map(name => [name, {operands: 'text*'}]),
    ),
    service: true,
  },
  ip: {
    style: 'words',
    options: '-4 -6 -br -brief -c -color -d -details -h -human -j -json -o -oneline -p -pretty -s -stats -V',
    operands: '',
    subcommands: {
      exec: {wraps: {operands: 1}},
      ...Object.fromEntries(
        'addr address a route r link l neigh rule'.split(' ').map(name => [
          name,
          {
            operands: '',
            subcommands: Object.fromEntries(['show', 'list', 'ls'].map(verb => [verb, {operands: 'text*'}])),
          },
        ]),
      ),
    },
    machine: true,
  },
  // Not `npm ls`: settings in the workspace make it write logs, and it asks for updates.
  npm: {
    loads: '--userconfig',
    enters: '-C --prefix',
    reads: 'package.json .npmrc',
    reaches:
      'publish,unpublish,install,i,ci,add,update,up,upgrade,exec,x,create,init,audit,view,info,search,login,adduser,dist-tag,deprecate,owner,access,token,outdated,ping',
    builds: true,
    risk: 'writes',
    long: {g: 'global', f: 'force'},
    machine: true,
    options: '-v --version',
    operands: '',
    subcommands: {
      exec: npmExec,
      x: npmExec,
    },
  },
  pip: {
    reads: 'pyproject.toml setup.py setup.cfg',
    reaches: true,
    builds: true,
    options: '-V --version',
    operands: '',
    subcommands: {
      list: {options: '-l -e --local --editable --user --format= --not-required --exclude='},
      show: {options: '-f --files', operands: 'text*'},
      freeze: {options: '-l --local --all --user'},
      check: {operands: ''},
    },
    machine: true,
  },
  curl: {
    loads: '-K --config',
    reaches: true,
    long: {
      o: 'output',
      O: 'remote-name',
      T: 'upload-file',
      d: 'data',
      F: 'form',
      K: 'config',
      X: 'request',
      k: 'insecure',
    },
    options: `-s -S -f -L -v -i -I -g -4 -6 -0 -N -m= -A= --silent --show-error --fail --fail-with-body --location --verbose
      --include --head --globoff --http1.0 --http1.1 --http2 --ipv4 --ipv6 --compressed --connect-timeout= --max-time=
      --retry= --retry-delay= --retry-max-time= --max-redirs= --user-agent= --no-progress-meter --progress-bar --no-buffer
      --tlsv1.2 --tlsv1.3 --range= -r= --limit-rate= --max-filesize= --help --version -V`,
    operands: 'url*',
    network: true,
  },
};
