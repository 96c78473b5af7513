import {Box, Static, Text, useCursor} from 'ink';
import {useEffect, useReducer, useState} from 'react';
import type {Screen} from '../screen.ts';

/** A piece of the history, in lines for the screen of that moment. */
export interface Printed {
  key: number;
  lines: readonly string[];
}

/** What the components need of the rest of chat. */
export interface Stage {
  /** Registers a function that is called when the screen is to be drawn again. */
  subscribe: (draw: () => void) => () => void;
  printed: () => readonly Printed[];
  screen: () => Screen;
}

/** The history, printed once each, and below it the part that changes. */
export function App({stage}: {stage: Stage}) {
  const [, draw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => stage.subscribe(draw), [stage]);
  const [first] = useState(() => stage.printed().length);
  const {lines, cursor} = stage.screen();
  const {setCursorPosition} = useCursor();
  setCursorPosition(cursor);
  return (
    <>
      <Static items={[...stage.printed()]}>
        {({key, lines: own}) => (
          <Box key={key - first} flexDirection="column">
            <Text>{own.join('\n')}</Text>
          </Box>
        )}
      </Static>
      <Box flexDirection="column">
        {lines.map((line, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
          <Text key={i} wrap="truncate">
            {line === '' ? ' ' : line}
          </Text>
        ))}
      </Box>
    </>
  );
}
