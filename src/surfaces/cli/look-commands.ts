import type {Command} from 'commander';
import {about} from './about.ts';
import type {CommandContext} from './command-context.ts';

/** agent, check, and policy with explain, test and what-if. */
export function addLookCommands(program: Command, {home, json, finish}: CommandContext): void {
  about(
    program
      .command('agent [agent]')
      .summary('the agents, or everything about one')
      .description('The agents, or everything about one; part of a name will do.')
      .action(async (name?: string) =>
        finish((await import('./agent.ts')).agentCommand({home: home(), name, json: json()})),
      ),
    {
      examples: [
        ['agentdir agent', 'a table of all'],
        ['agentdir agent planner-001', 'its tools, model, limits, and what is wrong with its file'],
      ],
      json: 'value',
    },
  );
  about(
    program
      .command('check [files...]')
      .summary('all problems of the home, or of some of its files')
      .description('All problems of a home, or of some of its files or folders: place, expectation, remedy.')
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
      .summary('what agents may run, and why')
      .description('What agents may run, and why: allowlist.yaml. See docs/policy.md.'),
    {
      examples: [
        ['agentdir policy explain "git push --force"', 'may an agent run it, and why'],
        ['agentdir policy test', 'the tests in allowlist.yaml'],
      ],
    },
  );
  about(
    policy
      .command('explain <command...>')
      .summary('the verdict on a command line, with its reasons')
      .description(
        'The verdict on a command line, with its reasons. Quote the line, or write - to read it from standard input.',
      )
      .option('--agent <name>', 'as this agent')
      .allowUnknownOption()
      .action(async (words: string[], options: {agent?: string}) =>
        finish(
          (await import('./policy.ts')).policyExplainCommand({home: home(), words, agent: options.agent, json: json()}),
        ),
      ),
    {
      examples: [
        ['agentdir policy explain "git log | head -5; rm -fr build"', 'each command of the line, and its rule'],
        ['agentdir policy explain "docker ps" --agent executor-001', 'rules may hold for some agents only'],
        ['agentdir policy explain - < deploy.sh', 'a line from a file'],
      ],
      exits: {1: 'there is no allowlist.yaml', 4: 'it has errors'},
      json: 'value',
    },
  );
  about(
    policy
      .command('test')
      .summary("run allowlist.yaml's own tests")
      .description("Run allowlist.yaml's own tests.")
      .action(async () => finish((await import('./policy.ts')).policyTestCommand({home: home(), json: json()}))),
    {
      examples: [
        ['agentdir policy test', 'after an edit of allowlist.yaml'],
        ['agentdir policy test --json', 'each test with its verdict'],
      ],
      exits: {1: 'there is no allowlist.yaml', 4: 'it has errors, or a test failed'},
      json: 'value',
    },
  );
  about(
    policy
      .command('what-if')
      .summary('which past calls another allowlist would judge otherwise')
      .description('Which commands and tools of the whole journal another allowlist would judge otherwise.')
      .requiredOption('--allowlist <file>', 'the allowlist to try; - reads standard input')
      .option('--agent <name>', 'only what this agent called')
      .action(async (options: {allowlist: string; agent?: string}) =>
        finish(
          await (await import('./what-if.ts')).policyWhatIfCommand({
            ...{home: home(), allowlist: options.allowlist, agent: options.agent, json: json()},
          }),
        ),
      ),
    {
      examples: [
        ['agentdir policy what-if --allowlist new.yaml', 'before you put it in place'],
        ['git show HEAD~5:allowlist.yaml | agentdir policy what-if --allowlist -', 'an earlier one'],
      ],
      exits: {1: 'there is no allowlist.yaml', 4: 'it, or the other, has errors'},
      json: 'value',
    },
  );
}
