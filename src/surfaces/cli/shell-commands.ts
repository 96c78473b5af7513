import type {Command} from 'commander';
import {exit} from '../../formats/common/errors.ts';
import {about} from './about.ts';
import {choiceArgument} from './option-values.ts';

/** completions, and what its scripts ask. */
export function addShellCommands(program: Command, finish: (code: number) => void): void {
  about(
    program
      .command('completions')
      .addArgument(choiceArgument('<shell>', 'which shell', ['bash', 'zsh', 'fish']))
      .summary('print shell completions')
      .description(
        'Print a script that completes commands, options, files, agents, sessions, tasks and approvals. Load it from the startup file of your shell, as below; it needs no update when commands change.',
      )
      .action(async (shell: string) => {
        process.stdout.write((await import('./completion-scripts.ts')).scriptFor(shell));
        finish(exit.done);
      }),
    {
      examples: [
        ['eval "$(agentdir completions bash)"', 'in ~/.bashrc'],
        ['eval "$(agentdir completions zsh)"', 'in ~/.zshrc, after compinit'],
        ['agentdir completions fish > ~/.config/fish/completions/agentdir.fish', 'once'],
      ],
      json: {none: 'the output is a script'},
    },
  );
  program
    .command('__complete [words...]', {hidden: true})
    .description('what may stand in place of the last word; the scripts of `completions` ask it')
    .action(async (words: string[]) => {
      process.stdout.write((await import('./complete.ts')).completeCommand(program, words, process.cwd(), process.env));
      finish(exit.done);
    });
}
