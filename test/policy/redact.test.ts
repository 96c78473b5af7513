import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, it} from 'vitest';
import {ReplyCollector} from '../../src/effects/model/collect.ts';
import {answerToRefusal} from '../../src/effects/model/failure.ts';
import {findCredentials, makeRedactor} from '../../src/policy/redact/redact.ts';
import {secretsOf} from '../../src/policy/redact/secret-names.ts';
import {anyText, runs} from '../arbitrary.ts';
import {thorough} from '../cli/run.ts';
import {asking, textOf, toolHome} from '../effects/tool-home.ts';
import {formsOf, KEY, PEM, tokens} from '../redteam/secret-forms.ts';

const none = makeRedactor([]);
const ours = makeRedactor([{name: 'OPENAI_API_KEY', value: KEY}]);
const odd = 'pä"ss/w+o\\rd %&=? ~1\u{1f511}x';
const both = makeRedactor([
  {name: 'OPENAI_API_KEY', value: KEY},
  {name: 'DB_PASSWORD', value: odd},
]);

describe('a configured value', () => {
  it.each(Object.entries(formsOf(KEY)))('%s', (_, form) => {
    expect(ours.text(`before ${form} after`)).toMatch(/^before .{0,4}\[redacted: OPENAI_API_KEY\].{0,4} after$/s);
  });

  it.each(Object.entries(formsOf(odd)))('one with all kinds of characters, %s', (_, form) => {
    const text = both.text(`<${form}>`);
    expect(text).toContain('[redacted: DB_PASSWORD]');
    expect(text.length).toBeLessThan('<[redacted: DB_PASSWORD]>'.length + 9);
  });

  it('within other base64, at each alignment', () => {
    for (const before of ['', 'a', 'ab', 'abc', 'user:']) {
      for (const after of ['', 'x', 'xy', ':more of it']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = ours.text(Buffer.from(before + KEY + after).toString(encoding));
          expect(text).toContain('[redacted: OPENAI_API_KEY]');
          expect(Buffer.from(text.replace(/\[.*\]/, ''), encoding).toString('latin1')).not.toContain(KEY.slice(3, 9));
        }
      }
    }
  });

  it('of many lines, whole or line by line', () => {
    const redact = makeRedactor([{name: 'DEPLOY_KEY', value: `${PEM}\n`}]);
    for (const text of [
      PEM,
      PEM.replaceAll('\n', '\\n'),
      JSON.stringify(JSON.stringify(PEM)),
      PEM.replaceAll('\n', '\r\n  '),
    ])
      expect(redact.text(`a ${text} b`)).toMatch(/^a .{0,3}\[redacted: DEPLOY_KEY\].{0,3} b$/);
    const lines = PEM.split('\n').slice(1, -2);
    const numbered = lines.map((line, i) => `${i + 1}\t${line}`).join('\n');
    for (const line of lines) expect(redact.text(numbered)).not.toContain(line);
  });

  it.each([
    '',
    'short',
    'true',
    'test',
    'localhost:8080',
    '12345678',
    '/usr/local/bin',
    'not-needed',
    'password',
    'http://127.0.0.1:11434/v1',
  ])('is not looked for if it stands in ordinary texts: %s', value => {
    const text = `the value is ${value}, as usual`;
    expect(makeRedactor([{name: 'SOME_TOKEN', value}]).text(text)).toBe(text);
  });

  it.each(['litellm-master-key', '123456789012345', 'masterkey', '12345678', '/srv/keys/master'])(
    'is looked for if a person named it as a key: %s',
    value => {
      const redact = makeRedactor(secretsOf(['LAB'], {LAB: value, LAB_TOKEN: 'localhost:8080'}));
      for (const form of [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('hex')])
        expect(redact.text(`it is "${form}" at localhost:8080`)).toBe('it is "[redacted: LAB]" at localhost:8080');
    },
  );

  it.each(['short12', 'not-needed', 'no-key-required', 'sk-no-key-required', 'lm-studio', 'dummy-key', 'placeholder'])(
    'is not looked for if it is too short, or stands for none: %s',
    value => {
      const text = `the value is ${value}, as usual`;
      expect(makeRedactor(secretsOf([], {OPENAI_API_KEY: value})).text(text)).toBe(text);
    },
  );

  it('that begins with a backslash, at the end of many', () => {
    const redact = makeRedactor([{name: 'ODD_KEY', value: '\\\\hunter2hunter2a1'}]);
    for (const many of [2, 3, 4, 8, 15, 16, 17, 40, 100_000])
      expect(redact.text(`${'\\'.repeat(many)}hunter2hunter2a1`)).toMatch(/^\\*\[redacted: ODD_KEY\]$/);
    const escaped = JSON.stringify(JSON.stringify('\\\\hunter2hunter2a1')).slice(3, -3);
    expect(redact.text(escaped)).toBe('[redacted: ODD_KEY]');
  });

  it('is told of by its name, once if two have the same; blanks around it do not count', () => {
    const redact = makeRedactor([
      {name: 'A_KEY', value: ' hunter2hunter2\n'},
      {name: 'B_KEY', value: 'hunter2hunter2'},
    ]);
    const found: string[] = [];
    expect(redact.text('x hunter2hunter2 y hunter2hunter2', label => found.push(label))).toBe(
      'x [redacted: A_KEY] y [redacted: A_KEY]',
    );
    expect(found).toEqual(['A_KEY', 'A_KEY']);
  });
});

describe('what looks like a credential', () => {
  it.each(tokens)('$name', ({text, secret, label}) => {
    const redacted = none.text(text);
    expect(redacted).toContain(`[redacted: ${label}]`);
    expect(redacted).not.toContain(secret.slice(6, 18));
    expect(none.text(redacted)).toBe(redacted);
    expect(findCredentials(text)).toHaveLength(1);
    // Where words end in other ways: escapes, colours, addresses.
    for (const before of ['\\n', '\u001b[32m', '%20', '"', '=']) expect(none.text(before + text)).not.toContain(secret);
  });

  it.each([
    ['a commit', 'commit 9fceb02d0ae598e95dc970b74767f19372d61af8'],
    ['a sum', 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  file.tar.gz'],
    ['integrity', '"integrity": "sha512-9sPbJpGTk6lDqgS1hQ2G5x3o0bO5R2Xv8hPZr0cZ3l5q3y0FzYb9mJm0m4bQ=="'],
    ['a uuid', 'id: 550e8400-e29b-41d4-a716-446655440000'],
    ['a uuid of a token', 'token: 550e8400-e29b-41d4-a716-446655440000'],
    ['our ids', 'session planner-001-8x2kq9z4m7ca started call_9f86d081884c7d65 by run 0a1b2c3d4e5f'],
    [
      'an image',
      `data:image/png;base64,${Buffer.from(Array.from({length: 3000}, (_, i) => (i * i * 31 + i * 7) & 255)).toString('base64')}`,
    ],
    ['names', 'api_key_env: ANTHROPIC_API_KEY'],
    ['code', 'const token = tokens.slice(1); if (password === user.password2) return process.env.SECRET_KEY_1;'],
    [
      'code that reads',
      "apiKey: process.env['OPENAI_API_KEY'], secret = os.environ['STRIPE_SECRET_1234'], token=getenv('X1Y2')",
    ],
    [
      'placeholders',
      'password=changeme123456 token: <your-token-here-1234> api_key="xxxxxxxxxxxxxxxx1234" secret=${SECRET_12345678}',
    ],
    ['examples', 'AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
    ['counts', 'input_tokens: 1234567890123456, max_tokens=100000, token_type: bearer'],
    [
      'words',
      'The secret of token-based access: a password, a key-value store, task-oriented risk-averse disk-usage-2024.',
    ],
    [
      'pages',
      'nextPageToken: "a8Kz0Qm4Xr7Tp2Wd9Ls5" pageToken=a8Kz0Qm4Xr7Tp2Wd9Ls5 continuation_token: a8Kz0Qm4Xr7Tp2Wd9Ls5 next_token=a8Kz0Qm4Xr7Tp2Wd9Ls5 "NextToken": "a8Kz0Qm4Xr7Tp2Wd9Ls5" syncToken: a8Kz0Qm4Xr7Tp2Wd9Ls5 cursor: a8Kz0Qm4Xr7Tp2Wd9Ls5 resume-token: a8Kz0Qm4Xr7Tp2Wd9Ls5 NextContinuationToken: a8Kz0Qm4Xr7Tp2Wd9Ls5',
    ],
    [
      'calls',
      'const password = generatePassword16(); token = make_token_v2x9y8z7a6b5(1), secret: await2024getSecretA1B2(x); const apiKey = keysFrom2024Tenants99[0];',
    ],
    [
      'types',
      'token: BigInt64Array1234567890; secret = Sha256WithRsa2048Signature, apiKey: parseOAuth2TokenV3Response',
    ],
    [
      'addresses of tests',
      'postgres://postgres:postgres@localhost/db mysql://root:root123@127.0.0.1:3306/x redis://default:redis@redis:6379 amqp://guest:guest@rabbit.internal postgres://app:app@db.internal/x https://user:hunter@example.com/ mongodb://admin:admin1@mongo/x',
    ],
    ['names of packages', 'sk-learn-contrib-something-a1b2c3d4e5f6g7h8 and sk-models-cache-2024a1b2c3d4e5f6a7b8'],
    ['styles', 'class="sk-folding-cube-animation-container sk-cube2024-grid"'],
    ['a header in prose', 'A key begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.'],
    ['a header in code', "if (text.startsWith('-----BEGIN RSA PRIVATE KEY-----')) throw new Error('no');\nmore();"],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----'],
    [
      'addresses',
      'http://localhost:8080/a@b https://example.org:443/x?y=1 postgres://user:password@db/x redis://:$PASS@h git@github.com:a/b.git',
    ],
    ['a masked key', 'Incorrect API key provided: sk-proj-********************abcd.'],
    ['times', 'token: 2025-10-04T10:00:00.000Z secret: 2025-10-04'],
    ['paths', 'token: /var/run/secrets/kubernetes.io/serviceaccount1/token2 password: ./config/passwords2024.yaml'],
    ['a bearer', 'Bearer authentication is used; the bearer of this letter, Authorization: Basic information follows'],
  ])('is not: %s', (_, text) => {
    expect(findCredentials(text).map(({start, end}) => text.slice(start, end))).toEqual([]);
    expect(none.text(text)).toBe(text);
  });

  it.each([
    ['a token of the next environment', 'NEXT_PUBLIC_TOKEN=a8Kz0Qm4Xr7Tp2Wd9Ls5'],
    ['a password with a bracket', 'password: "a8Kz0Qm4Xr7Tp2Wd9Ls5(x"'],
    ['a password of this machine', 'postgres://app:a8Kz0Qm4Xr7Tp2Wd9@localhost/db'],
    ['a simple one of another', 'postgres://app:tiger@db.prod.internal/x'],
    ['words in a password', 'password=CorrectHorse42Battery'],
    ['a key of a team', 'sk-team-prod-a8Kz0Qm4Xr7Tp2Wd9Ls5Hf3Jv6Bn1Cg'],
  ])('is still: %s', (_, text) => {
    expect(findCredentials(text)).toHaveLength(1);
  });

  it('a key is found cut off, and not beyond its end', () => {
    expect(none.text(`${PEM}\nnext line`)).toBe('[redacted: private key]\nnext line');
    for (let cut = 60; cut < PEM.length; cut += 7) expect(none.text(PEM.slice(0, cut))).toBe('[redacted: private key]');
    expect(none.text(`{"private_key": ${JSON.stringify(`${PEM}\n`)}, "x": 1}`)).toBe(
      '{"private_key": "[redacted: private key]\\n", "x": 1}',
    );
    expect(none.text(`KEY="${PEM.replaceAll('\n', ' ')}" next`)).toBe('KEY="[redacted: private key]" next');
  });
});

describe('a value', () => {
  it('is redacted in every string, and is the same one if there is nothing to do', () => {
    const value = {a: [`x ${KEY}`, 1, null], [KEY]: {b: true}, c: 'plain'};
    expect(ours.value(value)).toEqual({
      a: ['x [redacted: OPENAI_API_KEY]', 1, null],
      '[redacted: OPENAI_API_KEY]': {b: true},
      c: 'plain',
    });
    const plain = {a: ['x', 1, {b: undefined}]};
    expect(ours.value(plain)).toBe(plain);
  });
});

const planted = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...Object.values(formsOf(KEY)),
        ...Object.values(formsOf(odd)),
        ...tokens.map(({text}) => text),
        PEM,
      ),
      fc.constantFrom(
        'sk-',
        'password',
        'token: ',
        '-----',
        '-----BEGIN ',
        'eyJ',
        '\\',
        '\\u00',
        '%',
        '://',
        ' ',
        '\n',
        'Bearer ',
        '"',
        'x',
      ),
      fc.constantFrom(KEY.slice(0, 9), PEM.slice(0, 90), Buffer.from(KEY).toString('base64').slice(0, 12)),
      anyText,
    ),
    {maxLength: 6},
  )
  .map(parts => parts.join(''));

function inPieces(text: string, sizes: readonly number[]): string {
  const stream = both.stream();
  let out = '';
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    out += stream.push(text.slice(at, at + size));
    at += size;
  }
  return out + stream.end();
}

/** Beginnings, ends and bodies of credentials, in any order: what is replaced stands beside what was not. */
const fragments = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...'Bearer |bearer |token|password|secret|api_key|=|: |:|]|[|"|\\|\\n| |-|_|/|@|://|://a:|--|--token |.'.split(
          '|',
        ),
      ),
      fc.constantFrom(
        'sk-',
        'sk-proj-',
        'ghp_',
        'AKIA',
        'AIza',
        'hf_',
        ':AA',
        'eyJ',
        'SK3',
        'dapi',
        'Authorization: token ',
      ),
      fc.constantFrom(
        '[redacted: token]',
        '[redacted: ',
        '[redacted: OPENAI_API_KEY]',
        '-----BEGIN PRIVATE KEY-----\n',
      ),
      fc.constantFrom(
        'aa1b2c3d4e5f6g7h8z',
        'ba1b2c3d4e5f6g7h8',
        'Q3EGRZ7HXW2YPLMN',
        '3f9a0c7e5b1d82643f9a0c7e5b1d8264',
      ),
      fc.constantFrom('a8Kz0Qm4Xr7Tp2Wd9Ls5Hf3Jv6Bn1Cga8Kz0Qm4Xr7Tp2Wd', KEY, odd, 'Tr0ub4dor!3x'),
    ),
    {maxLength: 12},
  )
  .map(parts => parts.join(''));

describe('a stream', () => {
  it('says what the whole text says, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.oneof(planted, fragments),
        fc.array(fc.integer({min: 1, max: 40}), {minLength: 1, maxLength: 5}),
        (text, sizes) => {
          expect(inPieces(text, sizes)).toBe(both.text(text));
        },
      ),
      runs(1500),
    );
  });

  it('what stands in the place of a secret is no name of one', () => {
    const text = 'Bearer aa1b2c3d4e5f6g7h8z:ba1b2c3d4e5f6g7h8';
    expect(none.text(none.text(text))).toBe(none.text(text));
    // Only what we write ourselves is left alone.
    expect(ours.text(`[redacted: ${KEY}] [redacted: token=${KEY}]`)).not.toContain(KEY);
    const found: string[] = [];
    const again = '[redacted: OPENAI_API_KEY] [redacted: GitHub token]';
    expect(ours.text(again, label => found.push(label))).toBe(again);
    expect(found).toEqual([]);
    expect(findCredentials(again)).toEqual([]);
  });

  it('twice is once', () => {
    fc.assert(
      fc.property(fc.oneof(planted, fragments), text => {
        const once = both.text(text);
        expect(both.text(once)).toBe(once);
      }),
      runs(3000),
    );
  });

  it('lets ordinary text go word by word', () => {
    const stream = both.stream();
    const words = 'Redis is up; the task-list has no password in it, and nobody asks for a token any more. '.split(
      /(?<= )/,
    );
    let longest = 0;
    let held = 0;
    for (const word of words) {
      held += word.length - stream.push(word).length;
      longest = Math.max(longest, held);
    }
    expect(longest).toBeLessThan('password '.length + 3);
    expect(stream.end().length).toBe(held);
  });

  it('holds back no more than a key may be long', () => {
    const stream = both.stream();
    let held = 0;
    const line = `${'A1b2'.repeat(16)}\n`;
    stream.push('-----BEGIN PRIVATE KEY-----\n');
    for (let i = 0; i < 3000; i++) held += line.length - stream.push(line).length;
    expect(held).toBeLessThan(2 * 64 * 1024 + 65 * 1024);
  });
});

describe('what is cut', () => {
  const start = KEY.slice(0, 12);
  const end = KEY.slice(-12);
  const none = (result: unknown) => {
    expect(JSON.stringify(result)).not.toContain(start);
    expect(JSON.stringify(result)).not.toContain(end);
  };

  it('by grep, wherever the cut is', async () => {
    const {run, workspace} = toolHome({redact: ours});
    for (let before = 40; before < 520; before += thorough ? 7 : 29) {
      const line = `${'x'.repeat(before)}HERE${'y'.repeat(520 - before)}`;
      for (const at of [300, 400].filter(place => place <= before || place >= before + 4)) {
        writeFileSync(
          join(workspace, 'f'),
          `${line.slice(0, at)} ${KEY} ${line.slice(at)}\n${'-'.repeat(90_000)}HERE\n`,
        );
        const found = await run('grep', {pattern: 'HERE', path: 'f'});
        none(found);
        expect(found).toMatchObject({matches: 2});
      }
    }
    writeFileSync(join(workspace, 'f'), `${'x'.repeat(400)} HERE ${'y'.repeat(100)} ${KEY} ${'z'.repeat(400)}\n`);
    expect(JSON.stringify(await run('grep', {pattern: 'HERE', path: 'f'}))).toMatch(
      /x HERE y{100} \[redacted: OPENAI_API_KEY\] z/,
    );
  });

  it('by read_file, of a small file and a large one', async () => {
    const {run, workspace} = toolHome({redact: ours});
    for (const [half, length] of [
      [16 * 1024, 100_000],
      [32 * 1024, 1_200_000],
    ] as const) {
      const line = `${'x'.repeat(half - 20)}${KEY}`.padEnd(length - half - 20, 'y');
      writeFileSync(join(workspace, 'f'), `${line}${KEY}`.padEnd(length, 'z'));
      const read = await run('read_file', {path: 'f'});
      none(read);
      expect(read).toMatchObject({success: true, left_out: {how: expect.stringContaining('grep')}});
    }
  });

  it('by edit_file, of what is nearest and of what changes', async () => {
    const {run, workspace, context} = toolHome({redact: ours});
    writeFileSync(join(workspace, 'f'), `${'some words '.repeat(26)}${KEY}\n`);
    none(await run('edit_file', {path: 'f', old: 'some words  some', new: 'x'}));
    writeFileSync(join(workspace, 'f'), `${'-'.repeat(16 * 1024 - 40)}${KEY}${'-'.repeat(20_000)}\n`);
    const {ask} = await asking(context, 'write_file', {path: 'f', content: 'x'});
    none(ask);
    expect(textOf(ask)).toContain('[redacted: ');
  });

  it('of what servers say', () => {
    const choice = {apiKey: KEY, id: 'm'} as Parameters<typeof answerToRefusal>[1];
    const message = `${' '.repeat(9_980)}${KEY}`;
    const refusal = {status: 400, message, code: undefined, type: undefined, param: undefined, headers: undefined};
    none(answerToRefusal(refusal, choice, 'm'));
    const found = new ReplyCollector(() => {});
    found.addChunk({model: `${'m'.repeat(180)}${KEY}`, choices: []});
    none(found.reply('asked', undefined, []));
  });
});

describe('hostile texts', () => {
  const MB = thorough ? 1_000_000 : 100_000;
  const repeat = (text: string) => text.repeat(Math.ceil(MB / text.length));
  // Backtracking would take minutes; how fast it is, bench/redact.mjs tells.
  it.each([
    'token=',
    'password: ',
    'eyJ',
    'eyJaaaaaaaaaaaa.',
    'eyJaaaaaaaaaaaa.eyJ-',
    '-',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----\nA1b2A1b2A1b2A1b2\n',
    '\\',
    '\\u00',
    '%73',
    '://a:',
    'github_pat_',
    'sk-',
    'sk-a1',
    'bearer ',
    'authorization: basic ',
    KEY.slice(0, -1),
    'A',
    '73 ',
    '115,',
    `${Buffer.from(KEY).toString('base64').slice(0, -8)}\n`,
    'token="\\"',
    'AKIA',
  ])('%j takes no longer than others', unit => {
    const text = repeat(unit);
    expect(both.text(text).length).toBeGreaterThan(0);
  });

  it('in pieces, too', () => {
    for (const unit of ['-----BEGIN PRIVATE KEY-----\n', 'A1b2A1b2A1b2A1b2\n', 'token=', '\\']) {
      const text = `-----BEGIN PRIVATE KEY-----\n${unit.repeat(Math.ceil((thorough ? 200_000 : 20_000) / unit.length))}`;
      expect(inPieces(text, [7])).toBe(both.text(text));
    }
  });
});

describe('variables', () => {
  it('hold secrets if they are keys of models, or their names or values say so', () => {
    const env = {
      OPENAI_API_KEY: 'a',
      ODD_NAME: 'b',
      GITHUB_TOKEN: 'c',
      DB_PASSWORD: 'd',
      AWS_SECRET_ACCESS_KEY: 'e',
      STRIPE_KEY_PROD: 'f',
      DATABASE_URL: 'postgres://me:g%20g@db/x',
      GOOGLE_CREDENTIALS: 'h',
      npm_config__authToken: 'i',
      HUBOT_PASS: 'j',
      PWD: '1',
      OLDPWD: '2',
      SSH_AUTH_SOCK: '3',
      GPG_AGENT_INFO: '4',
      KEYBOARD_LAYOUT: '5',
      TERM_SESSION_ID: '6',
      MAX_TOKENS: '7',
      AWS_ACCESS_KEY_ID: '8',
      SSH_PUBLIC_KEY: '9',
      HOME: '10',
      REDIS_URL: 'redis://localhost:6379',
      EMPTY_TOKEN: '',
    };
    const found = secretsOf(['ODD_NAME', 'NOT_SET'], env);
    expect(found.map(({value}) => value)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g%20g', 'h', 'i', 'j']);
    expect(found[6]?.name).toBe('DATABASE_URL');
  });
});
