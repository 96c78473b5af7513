import {withLocalOllama} from '../../effects/model/ollama.ts';
import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {type ModelRow, modelRows} from '../actions/models/model-rows.ts';
import {readSettings} from '../actions/models/read-settings.ts';
import {colors, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';

export async function modelsCommand({home, json}: {home: string; json: boolean}): Promise<number> {
  const {OLLAMA_HOST, OLLAMA_MODEL} = process.env;
  // The daemon looks for an Ollama only if no provider is configured; here it is of interest anyway.
  const found = await withLocalOllama<NodeJS.ProcessEnv>({OLLAMA_HOST, OLLAMA_MODEL});
  const rows = modelRows(readSettings(home), {...process.env, ...(found.OLLAMA_MODEL ? found : {})});
  if (json) {
    printJson(rows);
    return exit.done;
  }
  const render = (text: string, column: number) =>
    column === 1 ? (text === 'yes' ? colors.green : colors.red)(text) : text;
  printWhole(
    fitTable(
      ['Model', 'Usable', 'Price per million tokens', 'Server', 'Why not'],
      rows.map(row => [
        nameOf(row),
        row.usable ? 'yes' : 'no',
        priceOf(row),
        visibleLine(row.server ?? ''),
        reason(row),
      ]),
      screenWidth(),
      {render, spare: [3], whole: [0]},
    ),
  );
  print(
    colors.dim(
      '* used by agents that name no model. Keys are those of this shell; a running daemon has those it was started with.',
    ),
  );
  print(colors.dim('Any model: "model: provider/model" in a template, or default_model in agentdir.yaml.'));
  return exit.done;
}

function nameOf({name, nickname, is_default}: ModelRow): string {
  return visibleLine(`${name}${nickname === null ? '' : ` (${nickname})`}${is_default ? ' *' : ''}`);
}

function priceOf({name, price}: ModelRow): string {
  if (name === 'playbook') return 'free';
  return price === null ? 'unknown' : `$${price.input} in, $${price.output} out`;
}

/** The first part of the reason. The whole is in --json. */
function reason({why, key_variable}: ModelRow): string {
  if (why === null) return '';
  return visibleLine(
    key_variable !== null && why.includes(`variable ${key_variable} is`) ? `${key_variable} is not set` : why,
  );
}
