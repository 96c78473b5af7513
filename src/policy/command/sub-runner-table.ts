import type {WrapperSyntax} from './wrapper-table.ts';

const containerSwitches =
  '--rm --interactive --tty --detach --init --privileged --read-only --publish-all --quiet --no-deps --no-TTY --service-ports --build --stdin --attach --sig-proxy';
const npmExec = {
  valued: '-p -w --package --workspace',
  plain: 'yq',
  switches: '--yes --no --workspaces',
  strings: '-c --call',
};
// Operands name what to install; the command begins only after an option.
const nixCommand = {before: '-c --command', operands: Number.POSITIVE_INFINITY};
const perf = {valued: '-e -o -p -t -C -r -F --event --output --pid --tid --cpu --repeat', plain: 'advgi'};

/** Subcommands that run the words after them. */
export const subRunners: Readonly<Record<string, Readonly<Record<string, WrapperSyntax>>>> = {
  docker: {
    exec: {
      valued: '-e -u -w --env --user --workdir --env-file --detach-keys --index',
      plain: 'dit',
      switches: containerSwitches,
      operands: 1,
    },
    run: {
      valued:
        '-a -c -e -h -l -m -p -u -v -w --name --network --net --env --env-file --volume --mount --user --workdir --entrypoint --publish --label --memory --cpus --hostname --platform --pull --restart --add-host --cap-add --cap-drop --device --dns --gpus --ip --log-driver --log-opt --pid --security-opt --shm-size --tmpfs --ulimit --link',
      plain: 'ditPq',
      switches: containerSwitches,
      program: '--entrypoint',
      operands: 1,
    },
  },
  'docker compose': {
    exec: {valued: '-e -u -w --env --user --workdir --index', plain: 'dT', switches: containerSwitches, operands: 1},
    run: {
      valued: '-e -l -p -u -v -w --name --entrypoint --env --user --volume --workdir',
      plain: 'diPT',
      switches: containerSwitches,
      program: '--entrypoint',
      operands: 1,
    },
  },
  kubectl: {
    exec: {
      valued: '-c -f -n --container --filename --namespace',
      plain: 'itq',
      switches: containerSwitches,
      operands: 1,
    },
    run: {valued: '-n --image --namespace', plain: 'itq', switches: containerSwitches, operands: 1},
  },
  npm: {exec: npmExec, x: npmExec},
  perf: {stat: perf, record: perf, trace: perf},
  direnv: {exec: {operands: 1}},
  lxc: {exec: {operands: 1}},
  pnpm: {exec: {strings: '-c', valued: '-r -C'}, dlx: {}},
  yarn: {exec: {}, dlx: {valued: '-p'}},
  bundle: {exec: {}},
  poetry: {run: {}},
  pipenv: {run: {}},
  pdm: {run: {valued: '-p --project', plain: 's', switches: '--site-packages --no-site-packages'}},
  hatch: {run: {}},
  uv: {run: {valued: '-p --with --python'}},
  nix: {develop: nixCommand, shell: nixCommand},
  op: {run: {valued: '--env-file --account --config --session', switches: '--no-masking'}},
  doppler: {run: {valued: '-p -c -t --project --config --token --scope', strings: '--command'}},
  'aws-vault': {
    exec: {
      valued: '-d -t --duration --mfa-token --region',
      plain: 'jns',
      switches: '--no-session --server',
      operands: 1,
    },
  },
  vagrant: {ssh: {strings: '-c --command', plain: 'pt', operands: 1}},
  conda: {run: {valued: '-n -p'}},
  ip: {exec: {operands: 1}},
  tmux: {
    'new-session': {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true},
    new: {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true},
    'new-window': {valued: '-c -e -F -n -t', plain: 'abdkPS', joined: true},
    'split-window': {valued: '-c -e -F -l -t', plain: 'bdfhIvPZ', joined: true},
    'send-keys': {valued: '-N -t', plain: 'FHKlMRX', joined: true},
    'respawn-pane': {valued: '-c -e -t', plain: 'k', joined: true},
    'pipe-pane': {valued: '-t', plain: 'IOo', joined: true},
    'run-shell': {valued: '-c -d -t', plain: 'bC', joined: true},
  },
};
