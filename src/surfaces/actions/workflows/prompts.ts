import {existsSync} from 'node:fs';
import {dirname, resolve} from 'node:path';
import {type Problem, problem} from '../../../formats/common/diagnostic.ts';
import {promptPath, type WorkflowFile} from '../../../formats/workflow.ts';

/** Prompt files that do not exist. */
export function promptProblems({value, placeOf}: WorkflowFile, exists: (path: string) => boolean): Problem[] {
  return Object.entries(value?.agents ?? {}).flatMap(([name, agent]) => {
    const path = promptPath(agent);
    if (path === undefined || exists(path)) return [];
    return [
      problem(
        'MISSING_PROMPT',
        placeOf(['agents', name, 'system_prompt']),
        `expected a prompt file ${path} beside the workflow file or in the home, found none`,
        'create the file, or write the prompt itself',
      ),
    ];
  });
}

/** Where a prompt file is: beside the workflow file, else in the home. */
export function promptFile(home: string | undefined, workflow: string, path: string): string {
  const beside = resolve(dirname(workflow), path);
  return existsSync(beside) || home === undefined ? beside : resolve(home, path);
}
