import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';

/** agent, check, and policy with explain, test and what-if. */
export function addLookCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('agent [agent]')
      .summary('list agents, or show one')
      .description('List agents, or show one. Any unique part of the name works.')
      .action(async (name?: string) =>
        finish((await import('./agent.ts')).agentCommand({home: home(), name, json: json()})),
      ),
    {
      examples: [
        ['agentdir agent', 'all agents'],
        ['agentdir agent planner-001', 'its tools, model, limits and problems'],
      ],
      json: 'value',
    },
  );
  about(
    program
      .command('check [files...]')
      .summary('check the home, or some files, for errors')
      .description('Check the home, or some of its files or folders. Each problem comes with its place and a fix.')
      .action(async (files: string[]) =>
        finish(await (await import('./check.ts')).checkCommand({home: home(), files, json: json()})),
      ),
    {
      examples: [
        ['agentdir check', 'the whole home'],
        ['agentdir check tasks allowlist.yaml', 'a folder and a file'],
        ["agentdir check --json | jq '.problems | length'", 'how many problems there are'],
      ],
      exits: {4: 'a file has errors'},
      json: 'value',
    },
  );
  const policy = about(
    program
      .command('policy')
      .summary('explain and test what agents may run')
      .description('Explain and test what agents may run (allowlist.yaml). See docs/policy.md.'),
    {
      examples: [
        ['agentdir policy explain "git push --force"', 'may an agent run this, and why?'],
        ['agentdir policy test', 'the tests in allowlist.yaml'],
      ],
    },
  );
  about(
    policy
      .command('explain [command...]')
      .summary('explain the verdict on a command line, or on a call of a tool')
      .description(
        'Explain the verdict on a command line. Quote the line, or use - to read it from standard input. With --tool, explain a call of that tool, with its path or address.',
      )
      .option('--agent <name>', 'as this agent')
      .option('--tool <name>', 'a call of this tool')
      .allowUnknownOption()
      .action(async (words: string[], {agent, tool}: {agent?: string; tool?: string}) =>
        finish((await import('./policy.ts')).policyExplainCommand({home: home(), words, tool, agent, json: json()})),
      ),
    {
      examples: [
        ['agentdir policy explain "git log | head -5; rm -fr build"', 'each command of the line, with its rule'],
        ['agentdir policy explain "docker ps" --agent executor-001', 'for one agent: rules can be limited to agents'],
        ['agentdir policy explain - < deploy.sh', 'a line from a file'],
        ['agentdir policy explain --tool edit_file src/app.ts --agent coder', 'may this agent edit this file?'],
      ],
      exits: {1: 'allowlist.yaml is missing', 4: 'allowlist.yaml has errors'},
      json: 'value',
    },
  );
  about(
    policy
      .command('test')
      .summary('run the tests in allowlist.yaml')
      .action(async () => finish((await import('./policy.ts')).policyTestCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir policy test', 'after you edit allowlist.yaml'],
        ['agentdir policy test --json', 'each test with its verdict'],
      ],
      exits: {1: 'allowlist.yaml is missing', 4: 'allowlist.yaml has errors, or a test failed'},
      json: 'value',
    },
  );
  about(
    policy
      .command('what-if')
      .summary('compare another allowlist against past calls')
      .description('List the commands and tool calls in the journal that another allowlist would judge differently.')
      .requiredOption('--allowlist <file>', 'the allowlist to try; - reads standard input')
      .option('--agent <name>', 'only calls of this agent')
      .action(async (options: {allowlist: string; agent?: string}) =>
        finish(
          await (await import('./what-if.ts')).policyWhatIfCommand({
            ...{home: home(), allowlist: options.allowlist, agent: options.agent, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir policy what-if --allowlist new.yaml', 'before you install it'],
        ['git show HEAD~5:allowlist.yaml | agentdir policy what-if --allowlist -', 'an earlier version'],
      ],
      exits: {1: 'allowlist.yaml is missing', 4: 'one of the two allowlists has errors'},
      json: 'value',
    },
  );
}
