import {Box, Text, useCursor, useStdout} from 'ink';
import type {Screen} from '../screen.ts';

/** Where lines of the history go: above the part that changes. */
export interface Scroll {
  write: (text: string) => void;
}

/** The part of the screen that changes. */
export function App({screen: {lines, cursor}, scroll}: {screen: Screen; scroll: Scroll}) {
  const {setCursorPosition} = useCursor();
  setCursorPosition(cursor);
  const {write} = useStdout();
  scroll.write = write;
  return (
    <Box flexDirection="column">
      {lines.map((line, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={i} wrap="truncate">
          {line === '' ? ' ' : line}
        </Text>
      ))}
    </Box>
  );
}
