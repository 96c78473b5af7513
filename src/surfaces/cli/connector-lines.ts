import {visibleLine} from '../../formats/common/visible.ts';
import type {Settings} from '../../formats/settings.ts';
import {type ConnectorName, type ConnectorState, connectorNames, connectorOf} from '../../home/connector-state.ts';
import {colors} from '../terminal/output.ts';

/** A connector that is running or configured. */
export type Connector = ({running: true} & ConnectorState) | {running: false; name: ConnectorName};

export function connectorsOf(home: string, {webhooks, mail}: Pick<Settings, 'webhooks' | 'mail'>): Connector[] {
  const wanted = {webhook: (webhooks?.length ?? 0) > 0, mail: mail?.imap !== undefined};
  return connectorNames.flatMap((name): Connector[] => {
    const state = connectorOf(home, name);
    if (state) return [{running: true, ...state}];
    return wanted[name] ? [{running: false, name}] : [];
  });
}

const verbs = {webhook: 'listens on', mail: 'watches'} as const;

/** One line each, for people. */
export function connectorLine(connector: Connector, localTime: (iso: string) => string): string {
  const {name, running} = connector;
  if (!running) return `  ${colors.yellow(`${name} is not running`)}: agentdir ${name}`;
  const {pid, since, at, trouble} = connector;
  const where = at === undefined ? 'is starting' : `${verbs[name]} ${visibleLine(at)}`;
  const waits = trouble === undefined ? '' : `; ${colors.yellow('waiting')} ${visibleLine(trouble)}`;
  return `  ${name} ${where}: process ${pid}${since === undefined ? '' : ` since ${localTime(since)}`}${waits}`;
}
