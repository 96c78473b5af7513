import {exit} from '../../formats/common/errors.ts';
import {visibleLine} from '../../formats/common/visible.ts';
import {costWords, type Spent} from '../../formats/session/spent.ts';
import {type CostGroup, costGroups, costsOf} from '../actions/sessions/costs.ts';
import {note, plural, print, printJson, printWhole, screenWidth} from '../terminal/output.ts';
import {fitTable} from '../terminal/table.ts';

export function costCommand({home, by, json}: {home: string; by: string; json: boolean}): number {
  const group: CostGroup = costGroups.find(name => name === by) ?? 'agent';
  const {rows, total, unread} = costsOf(home, group);
  if (json) {
    printJson({by: group, rows, total, unread});
    return exit.done;
  }
  if (rows.length === 0) print('no model has been asked yet');
  else {
    const lines = [...rows, {...total, name: 'total'}].map(row => [visibleLine(row.name), ...cells(row)]);
    const head = [group[0]?.toUpperCase() + group.slice(1), 'Turns', 'Tokens in', 'Tokens out', 'Cost'];
    printWhole(fitTable(head, lines, screenWidth(), {render: String, spare: [1], whole: [0]}));
  }
  if (unread.length > 0) note(`${plural(unread.length, 'session file')} with errors not counted: agentdir check`);
  return exit.done;
}

function cells(spent: Spent): string[] {
  const number = (count: number) => count.toLocaleString('en-US');
  const cost = costWords(spent) || 'none';
  return [number(spent.turns), number(spent.input_tokens), number(spent.output_tokens), cost];
}
