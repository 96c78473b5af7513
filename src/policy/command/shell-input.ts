import {forEachChild, type Pipeline, type Redirection, type SyntaxNode} from 'unbash';
import {argvOf} from './argv-of.ts';
import {commandKind} from './command-name.ts';

/** Texts that a command reads, as far as the line shows them. Only for deny rules, in case it is a shell. */
export type Input = readonly string[];

/** What a node reads, if not what the node around it does: its here-documents and here-strings. */
export function inputOf(node: SyntaxNode, inherited: Input): Input {
  if (node.type !== 'Command' && node.type !== 'Redirected') return inherited;
  const own = node.redirects.flatMap(heldBy);
  return own.length > 0 ? own : inherited;
}

/** What each command of a pipeline reads. */
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

/** The words of every echo and printf in it, and the here-documents that another command may hand on. */
function writtenBy(node: SyntaxNode): Input {
  const texts: string[] = [];
  const stack = [node];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if (top.type === 'Command') {
      const [name = '', ...words] = argvOf(top);
      const kind = commandKind(name);
      // The order of printf's words depends on its format: each is looked at alone, and all together.
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
