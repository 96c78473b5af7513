import {type CommandRow, same} from './row.ts';

/** Commands that change or contact something, of which no use is known to be harmless. */
export const actingRows: Readonly<Record<string, CommandRow>> = {
  perf: {
    subcommands: {
      stat: {wraps: {valued: '-e -o -p -t -C -r -F --event --output --pid --tid --cpu --repeat', plain: 'advgi'}},
      record: {wraps: {valued: '-e -o -p -t -C -r -F --event --output --pid --tid --cpu --repeat', plain: 'advgi'}},
      trace: {wraps: {valued: '-e -o -p -t -C -r -F --event --output --pid --tid --cpu --repeat', plain: 'advgi'}},
    },
  },
  lxc: {subcommands: {exec: {wraps: {operands: 1}}}},
  pipenv: {subcommands: {run: {wraps: {}}}},
  hatch: {subcommands: {run: {wraps: {}}}},
  pdm: {
    subcommands: {run: {wraps: {valued: '-p --project', plain: 's', switches: '--site-packages --no-site-packages'}}},
  },
  nix: {
    subcommands: {
      develop: {wraps: {before: '-c --command', operands: Number.POSITIVE_INFINITY}},
      shell: {wraps: {before: '-c --command', operands: Number.POSITIVE_INFINITY}},
    },
    reaches: 'copy,build,run,develop,shell',
  },
  op: {subcommands: {run: {wraps: {valued: '--env-file --account --config --session', switches: '--no-masking'}}}},
  doppler: {subcommands: {run: {wraps: {valued: '-p -c -t --project --config --token --scope', strings: '--command'}}}},
  'aws-vault': {
    subcommands: {
      exec: {
        wraps: {
          valued: '-d -t --duration --mfa-token --region',
          plain: 'jns',
          switches: '--no-session --server',
          operands: 1,
        },
      },
    },
  },
  conda: {subcommands: {run: {wraps: {valued: '-n -p'}}}, reaches: 'install,update,create,search'},
  tmux: {
    subcommands: {
      'new-session': {wraps: {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true}},
      new: {wraps: {valued: '-c -e -F -f -n -s -t -x -y', plain: 'AdDEPX', joined: true}},
      'new-window': {wraps: {valued: '-c -e -F -n -t', plain: 'abdkPS', joined: true}},
      'split-window': {wraps: {valued: '-c -e -F -l -t', plain: 'bdfhIvPZ', joined: true}},
      'send-keys': {wraps: {valued: '-N -t', plain: 'FHKlMRX', joined: true}},
      'respawn-pane': {wraps: {valued: '-c -e -t', plain: 'k', joined: true}},
      'pipe-pane': {wraps: {valued: '-t', plain: 'IOo', joined: true}},
      'run-shell': {wraps: {valued: '-c -d -t', plain: 'bC', joined: true}},
    },
  },
  psql: {loads: '-f --file'},
  mysql: {loads: '--init-command'},
  vim: {loads: '-S -s -u'},
  emacs: {loads: '-l --load --script'},
  wget: {loads: '--config', reaches: true, long: {O: 'output-document', i: 'input-file', e: 'execute', r: 'recursive'}},
  helm: {reaches: true, risk: 'controls'},
  scp: {reaches: true, runs: '-S -o'},
  sftp: {reaches: true, runs: '-S -o'},
  rsync: {reaches: true, runs: '-e --rsh --rsync-path', long: {r: 'recursive', a: 'archive', e: 'rsh'}},
  nc: {reaches: true, runs: '-c -e'},
  ncat: {reaches: true, runs: '-c -e --sh-exec --exec', long: {e: 'exec', c: 'sh-exec', l: 'listen', k: 'keep-open'}},
  ...same(
    'netcat socat telnet ftp gh aws gcloud az mail sendmail apt apt-get brew dnf yum apk pacman snap flatpak lftp aria2c http https xh mutt msmtp mailx swaks nslookup dig host ping traceroute rclone s3cmd restic nats mosquitto_pub twine ansible vercel netlify fly heroku firebase wrangler',
    {reaches: true},
  ),
  split: {runs: '--filter', risk: 'writes'},
  man: {runs: '-P -H --pager --html'},
  zip: {runs: '--unzip-command', risk: 'writes'},
  ...same(
    'mkfs dd shred wipefs fdisk parted shutdown reboot halt poweroff init insmod rmmod modprobe userdel passwd visudo',
    {risk: 'machine'},
  ),
  ...same('unlink truncate kill killall pkill nft ufw at', {risk: 'deletes'}),
  iptables: {risk: 'deletes', long: {F: 'flush', X: 'delete-chain', P: 'policy', D: 'delete'}},
  ...same('service mount umount sysctl', {risk: 'controls'}),
  ...same('ln chmod chown chgrp install patch', {risk: 'writes'}),
};
