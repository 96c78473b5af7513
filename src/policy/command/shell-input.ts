import {forEachChild, type Pipeline, type Redirection, type SyntaxNode} from 'unbash';
import {argvOf} from './argv-of.ts';
import {commandKind} from './command-name.ts';

/** Texts that a command reads, as far as the line shows them. For deny rules, in case the command is a shell. */
export type Input = readonly string[];

/** Input of a node: its here-documents and here-strings, otherwise the inherited input. */
export function inputOf(node: SyntaxNode, inherited: Input): Input {
  if (node.type !== 'Command' && node.type !== 'Redirected') return inherited;
  const own = node.redirects.flatMap(heldBy);
  return own.length > 0 ? own : inherited;
}

export function pipedInputs({commands}: Pipeline, inherited: Input): Map<SyntaxNode, Input> {
  const inputs = new Map<SyntaxNode, Input>();
  let piped = inherited;
  for (const command of commands) {
    inputs.set(command, piped);
    const read = inputOf(command, piped);
    piped = passesOn(command) ? read : writtenBy(command);
  }
  return inputs;
}

function passesOn(node: SyntaxNode): boolean {
  return node.type === 'Command' && /^(cat|tee)$/.test(commandKind(node.name?.value ?? ''));
}

/** Words of every echo and printf in the node, and here-documents that another command may pass on. */
function writtenBy(node: SyntaxNode): Input {
  const texts: string[] = [];
  const stack = [node];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (top.type === 'Command') {
      const [name = '', ...words] = argvOf(top);
      const kind = commandKind(name);
      // printf's format decides the order of its words: check each alone, and all together.
      if (kind === 'printf') texts.push([words.join(' '), ...words].join('\n').replaceAll('\\n', '\n'));
      if (kind === 'echo')
        texts.push(
          words
            .join(' ')
            .replace(/^(-[neE]+ )+/, '')
            .replaceAll('\\n', '\n'),
        );
    }
    if (top.type === 'HereDoc' || top.type === 'HereString') texts.push(...heldBy(top));
    forEachChild(top, child => stack.push(child));
  }
  return texts;
}

function heldBy(redirect: Redirection): string[] {
  if (redirect.type === 'HereDoc') return [redirect.body.text];
  return redirect.type === 'HereString' && redirect.target ? [redirect.target.value] : [];
}
